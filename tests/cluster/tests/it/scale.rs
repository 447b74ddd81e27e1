//! Asks questions over many small repositories. The time of a question must not grow with the number of
//! repositories.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use cairn_cluster::{Environment, Servers};
use cairn_domain::{Lane, PartId, RepositoryName, Source, StageName, Tenant};
use cairn_gateway::auth::KeyRequest;
use cairn_ports::{Catalogue, Ledger, NewRun, PublishedGeneration, RepositoryRecord};
use cairn_testkit::work_tree::{commit, repository, write};
use serde_json::Value;
use tempfile::TempDir;
use toml::Table;

use crate::questions::Service;

/// The number of repositories with content.
const INDEXED: usize = 12;
/// The number of all published repositories. The repositories after the first `INDEXED` exist only in the
/// ledger and have no records in the stores.
const ALL: usize = 300;
/// The number of times that each question is asked.
const ROUNDS: usize = 21;
const PATIENCE: Duration = Duration::from_secs(600);

#[tokio::test(flavor = "multi_thread")]
async fn each_of_many_repositories_is_visible() -> Result<()> {
    let Some(servers) = Servers::given() else { return Ok(()) };
    let mut environment = Environment::prepare(&servers, &Table::new()).await?;
    environment.cluster.start_all().await?;
    let repositories: Vec<TempDir> = (0..INDEXED).map(small).collect();
    let mut asked = Vec::new();
    for (number, root) in repositories.iter().enumerate() {
        let source = Source::Url { url: format!("file://{}", root.path().display()) };
        asked.push(environment.inside.enqueue(&name(number), source, Lane::Bulk).await?);
    }
    environment.inside.settled(&asked, PATIENCE).await?;
    let runs = &environment.inside.cluster.runs;
    let published =
        runs.published(&runs.view().await?, asked[0].0).await?.context("the repository has no published generation")?;
    for number in INDEXED..ALL {
        publish(&environment, &name(number), published.clone()).await?;
    }
    let service = service(&environment).await?;
    let (listed, _) = timed(&service, "/v1/repositories", &serde_json::json!({})).await?;
    let published = listed["repositories"].as_array().map_or(0, |all| {
        all.iter().filter(|repository| repository["published"]["result"]["files_indexed"] == 2).count()
    });
    ensure!(published == ALL, "only {published} of {ALL} repositories are published");
    for (path, question) in [
        ("/v1/search", serde_json::json!({ "query": "price of an order", "limit": 10 })),
        ("/v1/search", serde_json::json!({ "query": "total_007" })),
        ("/v1/graph", serde_json::json!({ "name": "total_007", "relation": "callers" })),
        ("/v1/repositories", serde_json::json!({})),
        ("/v1/status", serde_json::json!({})),
    ] {
        let mut times = Vec::new();
        for _ in 0..ROUNDS {
            let (answer, time) = timed(&service, path, &question).await?;
            ensure!(answer["code"].is_null(), "{path} {question}: {answer}");
            times.push(time);
        }
        times.sort_unstable();
        println!(
            "{ALL} repositories, {path} {question}: median {:?}, slowest {:?}",
            times[ROUNDS / 2],
            times[ROUNDS - 1]
        );
    }
    Ok(())
}

fn name(number: usize) -> String {
    format!("small-{number:03}")
}

/// Registers a repository and publishes a run of it. The run refers to the content of another repository.
async fn publish(environment: &Environment, name: &str, published: PublishedGeneration) -> Result<()> {
    let (runs, now_ms) = (&environment.inside.cluster.runs, environment.inside.cluster.clock.now_ms());
    let source = Source::Url { url: format!("file:///nowhere/{name}") };
    let record = RepositoryRecord::new(Tenant::local(), RepositoryName::new(name), source);
    runs.register(record.clone()).await?;
    let lease = runs.lease(record.id, now_ms, 60_000).await?;
    let new = NewRun {
        repository: record.id,
        previous: None,
        manifest: published.manifest.clone(),
        plan: published.manifest.clone(),
        parts: vec![PartId { stage: StageName::Publish, number: 0 }],
        lane: Lane::Bulk,
        window: 1,
        revision: published.revision.clone(),
        branch: None,
        result: published.result.clone(),
        started_at_ms: now_ms,
    };
    let run = runs.begin(lease, new).await?;
    runs.publish(PublishedGeneration { run, indexed_at_ms: now_ms, ..published }).await?;
    Ok(())
}

fn small(number: usize) -> TempDir {
    let root = repository();
    let text = format!(
        "def price_{number:03}(order):\n    return order.price\n\n\ndef total_{number:03}(orders):\n    return sum(price_{number:03}(order) for order in orders)\n"
    );
    write(root.path(), "shop.py", text);
    write(root.path(), "README.md", format!("# Shop {number}\n\nThe price of an order.\n"));
    commit(root.path(), "start");
    root
}

async fn service(environment: &Environment) -> Result<Service> {
    let (tenant, label) = (Tenant::local(), "scale".to_owned());
    let request = KeyRequest { tenant, repositories: None, may_index: false, label, expires_at_ms: None };
    Ok(Service { url: environment.cluster.questions("query")?, key: environment.inside.issue_key(request).await? })
}

async fn timed(service: &Service, path: &str, question: &Value) -> Result<(Value, Duration)> {
    let started = Instant::now();
    let reported = crate::isolation::ask(&service.url, &service.key, path, question).await?;
    let elapsed = started.elapsed();
    let body = reported.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    Ok((serde_json::from_str(body).unwrap_or_default(), elapsed))
}
