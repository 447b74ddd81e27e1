//! The cluster's index equals local mode's, record by record: at first, after changes, deletions and renames.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, ensure};
use cairn_cluster::{Ground, LocalMode, Servers};
use cairn_domain::{Lane, RepositoryId, RepositoryName, Source, Tenant};
use cairn_gateway::auth::KeyRequest;
use cairn_gateway::json;
use cairn_ports::Catalogue;
use cairn_testkit::Mutation;
use serde_json::Value;
use toml::Table;

use crate::questions::{self, Compared, Service};

const NUM_REPOSITORIES: usize = 24;
/// Copies of others with one change of their own, so that contents are shared and results tie.
const NUM_FORKS: usize = 6;
const NUM_FILES: usize = 40;
const LEAST_CHUNKS: u64 = 3_000;
const NUM_QUESTIONS: usize = 300;
/// Of them, with results that tie exactly.
const LEAST_TIED: usize = 50;
const NUM_STEPS: usize = 6;
const PATIENCE: Duration = Duration::from_secs(300);

struct Fixture {
    name: String,
    path: PathBuf,
    /// None of a fork.
    mutation: Option<Mutation>,
}

impl Fixture {
    fn url(&self) -> String {
        format!("file://{}", self.path.display())
    }
}

fn fixtures(forks: &Path) -> Result<Vec<Fixture>> {
    let mut fixtures: Vec<Fixture> = (0..NUM_REPOSITORIES)
        .map(|number| {
            let mutation = Mutation::new(number as u64, NUM_FILES);
            Fixture { name: format!("fixture-{number:02}"), path: mutation.root().to_owned(), mutation: Some(mutation) }
        })
        .collect();
    for number in 0..NUM_FORKS {
        let path = forks.join(format!("fork-{number}"));
        let mut clone = Command::new("git");
        clone.args(["clone", "-q", "--bare"]).arg(&fixtures[number].path).arg(&path);
        ensure!(clone.status()?.success(), "git clone failed");
        fixtures.push(Fixture { name: format!("fork-{number}"), path, mutation: None });
    }
    Ok(fixtures)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cluster_holds_what_local_mode_holds() -> Result<()> {
    let Some(servers) = Servers::given() else { return Ok(()) };
    let mut ground = Ground::prepare(&servers, &Table::new()).await?;
    let root = ground.directory.path().to_owned();
    let local = LocalMode::new(&root.join("local"), &root.join("operator.toml"));
    let mut fixtures = fixtures(&root)?;
    ground.cluster.start_all().await?;

    both(&ground, &local, &fixtures).await?;
    let num_chunks = compare(&ground, &local, NUM_REPOSITORIES + NUM_FORKS).await?;
    ensure!(num_chunks >= LEAST_CHUNKS, "only {num_chunks} chunks");
    println!("{} repositories, {num_chunks} chunks: equal", fixtures.len());
    let compared = ask_both(&ground, local.clone(), &fixtures).await?;
    println!("{compared:?}: equal");
    ensure!(compared.num_questions == NUM_QUESTIONS && compared.num_tied >= LEAST_TIED, "{compared:?}");

    for mutation in fixtures.iter_mut().filter_map(|fixture| fixture.mutation.as_mut()) {
        (0..NUM_STEPS).for_each(|_| mutation.step());
    }
    both(&ground, &local, &fixtures).await?;
    compare(&ground, &local, fixtures.len()).await?;
    println!("after {NUM_STEPS} random changes of each: equal");

    for fixture in fixtures.drain(..3) {
        local.ok(&["remove", &fixture.name])?;
        let id = RepositoryId::derive(&Tenant::local(), &RepositoryName::new(&fixture.name));
        ground.inside.cluster.runs.delete(id, ground.inside.cluster.clock.now_ms()).await?;
    }
    compare(&ground, &local, fixtures.len()).await?;
    println!("after 3 were deleted: equal");
    Ok(())
}

async fn ask_both(ground: &Ground, local: LocalMode, fixtures: &[Fixture]) -> Result<Compared> {
    let request = KeyRequest {
        tenant: Tenant::local(),
        repositories: None,
        may_index: false,
        label: "questions".to_owned(),
        expires_at_ms: None,
    };
    let service = Service { url: ground.cluster.questions("query")?, key: ground.inside.issue_key(request).await? };
    // What is asked about stands in forks as well, so that results tie; the answers come from all repositories.
    let about = fixtures.iter().rev().take(NUM_FORKS + 2);
    let about: Vec<(String, &Path)> = about.map(|fixture| (fixture.name.clone(), fixture.path.as_path())).collect();
    let questions = questions::questions(&about, NUM_QUESTIONS)?;
    tokio::task::spawn_blocking(move || questions::compare(&questions, &local, &service)).await?
}

/// Brings every repository up to date in both.
async fn both(ground: &Ground, local: &LocalMode, fixtures: &[Fixture]) -> Result<()> {
    let mut asked = Vec::new();
    for fixture in fixtures {
        asked.push(ground.inside.enqueue(&fixture.name, Source::Url { url: fixture.url() }, Lane::Bulk).await?);
    }
    for fixture in fixtures {
        local.index(&fixture.name, &fixture.url())?;
    }
    ground.inside.settled(&asked, PATIENCE).await
}

/// Compares all fingerprints; gives the number of chunks.
async fn compare(ground: &Ground, local: &LocalMode, expected: usize) -> Result<u64> {
    let cluster: Vec<Value> = ground.inside.fingerprints().await?.iter().map(json::fingerprint).collect();
    let local = local.fingerprints()?;
    ensure!(cluster.len() == expected && local.len() == expected, "{} and {} are there", cluster.len(), local.len());
    for (cluster, local) in cluster.iter().zip(&local) {
        ensure!(cluster == local, "the cluster has {cluster:#}\nlocal mode has {local:#}");
    }
    Ok(cluster.iter().filter_map(|fingerprint| fingerprint["kinds"]["chunks"]["count"].as_u64()).sum())
}
