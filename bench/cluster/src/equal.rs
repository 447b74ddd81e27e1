//! Indexes real repositories in a cluster and in local mode, compares both indexes, and measures the times.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use cairn_cluster::{Environment, LocalMode};
use cairn_testkit::work_tree::{commit, git};
use serde_json::Value;

use crate::field::{Field, PATIENCE, ask, url};
use crate::sizes::lines;

pub(crate) async fn run(repositories: &[PathBuf]) -> Result<()> {
    let field = Field::start().await?;
    let mut environment = field.cluster().await?;
    let root = environment.directory.path().to_owned();
    let local = LocalMode::new(&root.join("local"), &root.join("operator.toml"));
    println!(
        "| repository | lines | files | chunks | edges | cluster | local mode | ratio |\n|---|---|---|---|---|---|---|---|"
    );
    for path in repositories {
        let path = path.canonicalize().with_context(|| format!("no folder {}", path.display()))?;
        let name = name(&path)?;
        let copy = root.join(name);
        git(&root, &["clone", "-q", &path.to_string_lossy(), name]);
        compare(&environment, &local, name, &copy).await?;
        change(&copy)?;
        compare(&environment, &local, name, &copy).await?;
    }
    println!("all fingerprints are equal, even after 1 % of the files were deleted, 1 % renamed and 1 % edited");
    environment.done();
    Ok(())
}

/// Indexes the repository in the cluster and in local mode, and prints the times. The indexes must be equal.
async fn compare(environment: &Environment, local: &LocalMode, name: &str, path: &Path) -> Result<()> {
    let started = Instant::now();
    let asked = ask(environment, name, path).await?;
    environment.inside.settled(&[asked], PATIENCE).await?;
    let of_cluster = started.elapsed().as_secs_f64();
    let started = Instant::now();
    local.index([(name.to_owned(), url(path))])?;
    let of_local = started.elapsed().as_secs_f64();
    let found: Vec<Value> = environment.inside.fingerprint_reports().await?;
    let expected = local.fingerprints()?;
    ensure!(found == expected, "the indexes differ: the cluster has {found:#?}\nlocal mode has {expected:#?}");
    let this = expected
        .iter()
        .find(|repository| repository["repository"] == name)
        .context("the repository has no fingerprint")?;
    let count = |kind: &str| this["kinds"][kind]["count"].as_u64().unwrap_or_default();
    println!(
        "| {name} | {} | {} | {} | {} | {of_cluster:.1} s | {of_local:.1} s | {:.1} |",
        lines(path),
        count("files"),
        count("chunks"),
        count("edges"),
        of_cluster / of_local
    );
    Ok(())
}

/// In every hundred files, deletes one, renames one and edits one. Then commits the changes.
fn change(root: &Path) -> Result<()> {
    let files = git(root, &["ls-files", "-z"]);
    let files = files.split('\0').filter(|path| !path.is_empty()).map(|path| root.join(path));
    for (number, file) in files.filter(|file| file.symlink_metadata().is_ok_and(|file| file.is_file())).enumerate() {
        match number % 100 {
            0 => fs::remove_file(&file)?,
            1 => fs::rename(&file, file.with_file_name(format!("moved-{number}-{}", name(&file)?)))?,
            2 => writeln!(OpenOptions::new().append(true).open(&file)?, "edited")?,
            _ => {}
        }
    }
    commit(root, "change");
    Ok(())
}

fn name(path: &Path) -> Result<&str> {
    path.file_name().and_then(|name| name.to_str()).with_context(|| format!("{} has no file name", path.display()))
}
