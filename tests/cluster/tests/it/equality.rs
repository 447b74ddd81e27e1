//! Checks that the cluster's index equals the index of local mode, record by record, and that both give the
//! same answers to questions. The indexes and the answers are compared after the first indexing, after
//! changes and renames, and after deletions.

use std::time::Duration;

use anyhow::{Result, ensure};
use cairn_cluster::{Environment, LocalMode, Servers, is_long};
use cairn_domain::{Lane, RepositoryId, RepositoryName, Source, Tenant};
use cairn_gateway::auth::KeyRequest;
use cairn_ports::Catalogue;
use serde_json::Value;
use tokio::time::{Instant, sleep};
use toml::toml;

use crate::fixtures::{Fixture, NUM_STEPS, fixtures};
use crate::questions::{Compared, Kinds, Round, Service, Sides};

const LEAST_REPOSITORIES: usize = 30;
const LEAST_CHUNKS: u64 = 3_000;
const LEAST_KINDS: usize = 40;
/// The number of questions that are drawn for each kind in a round of the long form.
const DRAWS: usize = 3;
/// The minimum number of compared questions for each draw.
const LEAST_QUESTIONS: usize = 60;
/// For each draw, the minimum number of compared questions that have results with equal scores because of
/// forks.
const LEAST_TIED: usize = 16;
/// The number of repositories that are deleted at the end.
const NUM_DELETED: usize = 3;
/// The maximum number of pages that are compared for each search in the first round. Later rounds compare
/// only the first page.
const MAX_PAGES: usize = 3;
const PATIENCE: Duration = Duration::from_secs(300);
const POLL: Duration = Duration::from_millis(50);

#[tokio::test(flavor = "multi_thread")]
async fn cluster_equals_local_mode() -> Result<()> {
    let Some(servers) = Servers::given() else { return Ok(()) };
    // A long timeout, because all services run on one machine and the time of questions is not part of this
    // test.
    let settings = toml! { [query.gateway]
    request_timeout_ms = 60000 };
    let mut environment = Environment::prepare(&servers, &settings).await?;
    let root = environment.directory.path().to_owned();
    let local = LocalMode::new(&root.join("local"), &root.join("operator.toml"));
    let mut fixtures = fixtures(&root)?;
    environment.cluster.start_all().await?;
    let sides = sides(&environment, local.clone(), &fixtures).await?;

    both(&environment, &local, &fixtures).await?;
    let num_chunks = compare(&environment, &local, fixtures.len()).await?;
    ensure!(
        fixtures.len() >= LEAST_REPOSITORIES && num_chunks >= LEAST_CHUNKS,
        "only {} repositories with {num_chunks} chunks were compared",
        fixtures.len()
    );
    println!("{} repositories, {num_chunks} chunks: equal", fixtures.len());
    ask_both(&sides, &Round { max_pages: MAX_PAGES, ..round(&fixtures, 0) }).await?;

    fixtures.iter_mut().try_for_each(Fixture::change)?;
    both(&environment, &local, &fixtures).await?;
    compare(&environment, &local, fixtures.len()).await?;
    println!("after {NUM_STEPS} random changes of each: equal");
    ask_both(&sides, &round(&fixtures, 1)).await?;

    let deleted: Vec<Fixture> = fixtures.drain(..NUM_DELETED).collect();
    for fixture in &deleted {
        local.ok(&["remove", &fixture.name])?;
        let id = RepositoryId::derive(&Tenant::local(), &RepositoryName::new(&fixture.name));
        environment.inside.cluster.runs.delete(id, environment.inside.cluster.clock.now_ms()).await?;
    }
    compare(&environment, &local, fixtures.len()).await?;
    println!("after {NUM_DELETED} were deleted: equal");
    ask_both(&sides, &Round { gone: &deleted[0].name, ..round(&fixtures, 2) }).await
}

async fn sides(environment: &Environment, local: LocalMode, fixtures: &[Fixture]) -> Result<Sides> {
    let request = KeyRequest {
        tenant: Tenant::local(),
        repositories: None,
        may_index: false,
        label: "questions".to_owned(),
        expires_at_ms: None,
    };
    let service =
        Service { url: environment.cluster.questions("query")?, key: environment.inside.issue_key(request).await? };
    let forks = fixtures.iter().filter_map(|fixture| Some((fixture.name.clone(), fixture.fork_of.clone()?)));
    Ok(Sides { local, service, forks: forks.collect() })
}

/// Questions are drawn from forks, so that results tie, and from repositories written by hand. Answers come
/// from all repositories. The short form draws one question of each kind, in one of the rounds.
fn round(fixtures: &[Fixture], number: usize) -> Round<'_> {
    let is_asked_about = |fixture: &&Fixture| fixture.fork_of.is_some() || !fixture.is_generated();
    let repositories = fixtures.iter().filter(is_asked_about);
    let repositories = repositories.map(|fixture| (fixture.name.clone(), fixture.path.as_path()));
    Round {
        repositories: repositories.collect(),
        gone: "nobody",
        seed: number as u64 + 1,
        max_pages: 1,
        draws: if is_long() { DRAWS } else { 1 },
        kinds: if is_long() { Kinds::All } else { Kinds::EveryThird { first: number } },
    }
}

/// Waits until the query service shows the last publication. Then sends the questions to both sides and
/// compares the answers.
async fn ask_both(sides: &Sides, round: &Round<'_>) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    while !tokio::task::block_in_place(|| sides.agree(&["fingerprint"]))? {
        ensure!(Instant::now() < deadline, "the query service does not show the last publication");
        sleep(POLL).await;
    }
    println!("{:?} by tools: equal", sides.compare_tools(round).await?);
    let started = Instant::now();
    let compared = tokio::task::block_in_place(|| sides.compare(round))?;
    println!("{compared:?} in {:.0} s: equal", started.elapsed().as_secs_f64());
    let Compared { num_questions, num_kinds, num_tied, .. } = compared;
    let is_enough = num_questions >= round.draws * LEAST_QUESTIONS
        && num_kinds >= LEAST_KINDS
        && num_tied >= round.draws * LEAST_TIED;
    ensure!(is_enough, "too few questions were compared: {compared:?}");
    Ok(())
}

/// Indexes the present state of every repository on both sides.
async fn both(environment: &Environment, local: &LocalMode, fixtures: &[Fixture]) -> Result<()> {
    let mut asked = Vec::new();
    for fixture in fixtures {
        asked.push(environment.inside.enqueue(&fixture.name, Source::Url { url: fixture.url() }, Lane::Bulk).await?);
    }
    local.index(fixtures.iter().map(|fixture| (fixture.name.clone(), fixture.url())))?;
    environment.inside.settled(&asked, PATIENCE).await
}

/// Compares all fingerprints. Returns the number of chunks.
async fn compare(environment: &Environment, local: &LocalMode, expected: usize) -> Result<u64> {
    let cluster: Vec<Value> = environment.inside.fingerprint_reports().await?;
    let local = local.fingerprints()?;
    ensure!(
        cluster.len() == expected && local.len() == expected,
        "the cluster has {} repositories, local mode has {}",
        cluster.len(),
        local.len()
    );
    for (cluster, local) in cluster.iter().zip(&local) {
        ensure!(cluster == local, "the cluster has {cluster:#}\nlocal mode has {local:#}");
    }
    Ok(cluster.iter().filter_map(|fingerprint| fingerprint["kinds"]["chunks"]["count"].as_u64()).sum())
}
