//! Indexes an unregistered repository through the query service, and checks that the output equals that of
//! local mode.

use std::path::Path;
use std::process::Output;

use anyhow::{Context, Result, ensure};
use cairn_cluster::{Environment, LocalMode, Servers};
use cairn_domain::{Scope, Tenant};
use cairn_gateway::auth::KeyRequest;
use cairn_ports::Catalogue;
use cairn_testkit::work_tree::{commit, git, repository, write};
use serde_json::Value;
use toml::Table;

use crate::questions::Service;

/// The name of a repository that does not exist.
const NOWHERE: &str = "nowhere";

#[tokio::test(flavor = "multi_thread")]
async fn registered_address_is_indexed_as_in_local_mode() -> Result<()> {
    let Some(servers) = Servers::given() else { return Ok(()) };
    let mut environment = Environment::prepare(&servers, &Table::new()).await?;
    environment.cluster.start_all().await?;
    let (root, source) = (environment.directory.path().to_owned(), repository());
    for n in 0..5 {
        write(source.path(), &format!("src/m{n}.py"), format!("def f{n}(x):\n    return x + {n}\n"));
    }
    commit(source.path(), "start");
    let url = format!("file://{}", source.path().display());
    let name = source.path().file_name().and_then(|name| name.to_str()).context("a name")?.to_owned();
    let local = LocalMode::new(&root.join("local"), &root.join("operator.toml"));
    let service = service(&environment, &name, true).await?;

    // The repository is new at first, then unchanged, then changed.
    for changed in [None, None, Some("def g(x):\n    return x\n")] {
        if let Some(text) = changed {
            write(source.path(), "src/g.py", text);
            commit(source.path(), "change");
        }
        let theirs = service.ask(&words(&["index", &url, "--json"]))?;
        let mine = local.command(&["index", &url, "--json"])?.output()?;
        ensure!(theirs.status.success(), "{}", String::from_utf8_lossy(&theirs.stderr));
        ensure!(
            reported(&theirs)? == reported(&mine)?,
            "cluster {:#}\nlocal {:#}",
            reported(&theirs)?,
            reported(&mine)?
        );
    }
    let line = |output: Output| String::from_utf8_lossy(&output.stdout).into_owned();
    let theirs = line(service.ask(&words(&["index", &url]))?);
    let mine = line(local.command(&["index", &url])?.output()?);
    ensure!(theirs == mine && theirs.contains("unchanged"), "cluster {theirs}\nlocal {mine}");

    failures(&service, &root)?;
    forbidden(&environment, &name, &url).await
}

#[tokio::test(flavor = "multi_thread")]
async fn branch_in_the_settings_is_indexed_as_in_local_mode() -> Result<()> {
    let Some(servers) = Servers::given() else { return Ok(()) };
    let mut environment = Environment::prepare(&servers, &Table::new()).await?;
    environment.cluster.start_all().await?;
    let (root, source) = (environment.directory.path().to_owned(), repository());
    let path = source.path();
    write(path, "main.py", "def only_on_main(x):\n    return x\n");
    commit(path, "start");
    git(path, &["checkout", "-q", "-b", "next"]);
    write(path, "next.py", "def only_on_next(x):\n    return x\n");
    commit(path, "next");
    git(path, &["checkout", "-q", "main"]);
    write(path, ".cairn.yaml", "branch: next\n");
    commit(path, "settings");
    let url = format!("file://{}", path.display());
    let name = path.file_name().and_then(|name| name.to_str()).context("a name")?.to_owned();
    let local = LocalMode::new(&root.join("local"), &root.join("operator.toml"));
    let service = service(&environment, &name, true).await?;

    // The repository is new at first, then unchanged, then the selected branch changes.
    for round in 0..3 {
        if round == 2 {
            git(path, &["checkout", "-q", "next"]);
            write(path, "more.py", "def more(x):\n    return x\n");
            commit(path, "more");
            git(path, &["checkout", "-q", "main"]);
        }
        let theirs = service.ask(&words(&["index", &url, "--json"]))?;
        let mine = local.command(&["index", &url, "--json"])?.output()?;
        ensure!(theirs.status.success(), "round {round}: {}", String::from_utf8_lossy(&theirs.stderr));
        let (theirs, mine) = (reported(&theirs)?, reported(&mine)?);
        ensure!(theirs == mine, "round {round}: cluster {theirs:#}\nlocal {mine:#}");
        let next = git(path, &["rev-parse", "next"]);
        ensure!(theirs["result"]["commit"] == next.as_str(), "round {round}: {theirs:#}");
        ensure!(theirs["run_id"] == (round != 1), "round {round}: {theirs:#}");
    }
    write(path, ".cairn.yaml", "branch: nowhere\n");
    commit(path, "wrong");
    let theirs = service.ask(&words(&["index", &url]))?;
    let mine = local.command(&["index", &url])?.output()?;
    for output in [&theirs, &mine] {
        let message = String::from_utf8_lossy(&output.stderr);
        let is_explained = message.contains("`branch` in `.cairn.yaml`") && message.contains("nowhere");
        ensure!(!output.status.success() && is_explained, "{message}");
    }
    Ok(())
}

/// Checks that a failed fetch is reported as a failure, and that a URL with a password is refused and its
/// password is not shown.
fn failures(service: &Service, root: &Path) -> Result<()> {
    let nowhere = format!("file://{}", root.join(format!("{NOWHERE}.git")).display());
    let output = service.ask(&words(&["index", &nowhere]))?;
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.code() == Some(5) && errors.contains("not_found"), "{output:?}");
    let output = service.ask(&words(&["index", "https://bob:hunter2@example.org/a.git"]))?;
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.code() == Some(2) && !errors.contains("hunter2"), "{errors}");
    Ok(())
}

/// Checks that a key gets the same answer for a repository that it may not see and for a repository that does
/// not exist.
async fn forbidden(environment: &Environment, name: &str, url: &str) -> Result<()> {
    let others = service(environment, "others-only", true).await?;
    let of_known = others.ask(&words(&["index", url, "--json"]))?;
    let unknown = url.replace(name, "nobody");
    let of_unknown = others.ask(&words(&["index", &unknown, "--json"]))?;
    let text = |output: &Output| String::from_utf8_lossy(&output.stdout).replace(name, "nobody");
    ensure!(of_known.status.code() == Some(3), "{of_known:?}");
    ensure!(text(&of_known) == text(&of_unknown), "{}\n{}", text(&of_known), text(&of_unknown));
    let asks_only = service(environment, name, false).await?;
    ensure!(
        asks_only.ask(&words(&["index", url]))?.status.code() == Some(1),
        "a key without the `index` permission can index"
    );
    let registered = environment.inside.cluster.runs.repositories(&Scope::all(Tenant::local())).await?;
    ensure!(
        registered.iter().map(|record| record.name.as_str()).collect::<Vec<_>>() == [name, NOWHERE],
        "{registered:?}"
    );
    Ok(())
}

async fn service(environment: &Environment, name: &str, may_index: bool) -> Result<Service> {
    let request = KeyRequest {
        tenant: Tenant::local(),
        repositories: Some(vec![name.to_owned(), NOWHERE.to_owned()]),
        may_index,
        label: "index".to_owned(),
        expires_at_ms: None,
    };
    Ok(Service { url: environment.cluster.questions("query")?, key: environment.inside.issue_key(request).await? })
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

/// The output without the ids and times, which differ between the two sides.
fn reported(output: &Output) -> Result<Value> {
    let text = String::from_utf8_lossy(&output.stdout);
    let mut reported: Value = serde_json::from_str(text.lines().last().unwrap_or_default())
        .with_context(|| format!("{text}{}", String::from_utf8_lossy(&output.stderr)))?;
    reported["run_id"] = Value::from(reported["run_id"].is_string());
    reported["indexed_at"] = Value::from(reported["indexed_at"].is_string());
    for own in ["duration_ms", "durations", "indexed_at_ms"] {
        reported["result"][own] = Value::Null;
    }
    Ok(reported)
}
