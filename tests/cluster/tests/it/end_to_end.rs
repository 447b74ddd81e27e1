//! Indexes one repository through all services, and deletes another repository.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use cairn_cluster::{Environment, STANDARD, Servers};
use cairn_domain::{Lane, RunState, Source, StageName, Tenant};
use cairn_neo4j::Neo4jRuns;
use cairn_ports::{Broker, DeadLetters, FailureCode, RepositoryQuery, RunDocuments, Settlement};
use cairn_testkit::work_tree::{commit, repository, write};
use cairn_wire::{Job, SyncJob};
use tokio::time::{Instant, sleep};
use toml::Table;

/// The time limit for conditions, long enough for a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);

#[tokio::test(flavor = "multi_thread")]
async fn repository_passes_through_every_service() -> Result<()> {
    let Some(servers) = Servers::given() else { return Ok(()) };
    let mut environment = Environment::prepare(&servers, &Table::new()).await?;
    let path = repository();
    for n in 0..20 {
        let text = format!("def f{n}(x):\n    return f{}(x) + {n}\n", (n + 1) % 20);
        write(path.path(), &format!("src/m{n}.py"), text);
    }
    commit(path.path(), "start");
    environment.cluster.start_all().await?;
    let source = Source::Url { url: format!("file://{}", path.path().display()) };
    let asked = environment.inside.enqueue("r", source, Lane::Bulk).await?;
    environment.inside.settled(&[asked], PATIENCE).await?;
    ensure!(environment.inside.last_state(asked.0).await? == Some(RunState::Published));
    let fingerprints = environment.inside.fingerprints().await?;
    let fingerprint = fingerprints.first().context("no generation is published")?;
    let count = |kind| fingerprint.kinds.iter().find(|digest| digest.kind == kind).map_or(0, |digest| digest.count);
    ensure!((count("files"), count("chunks"), count("edges")) == (20, 20, 40), "{fingerprint:?}");
    Ok(())
}

/// The test also checks the cloner's disk and the dead letters. The test does not check artifacts, which are
/// removed according to the age of their references: see `crates/stages/src/sweep/artifacts.rs`.
#[tokio::test(flavor = "multi_thread")]
async fn deleted_repository_leaves_no_data() -> Result<()> {
    let Some(servers) = Servers::given() else { return Ok(()) };
    let mut environment =
        Environment::prepare(&servers, &toml::from_str("[pipeline]\nsweep_every_ms = 200\n")?).await?;
    let mut asked = Vec::new();
    let sources = [("kept", repository()), ("gone", repository())];
    for (name, folder) in &sources {
        write(folder.path(), "a.py", format!("def {name}(x):\n    return x\n"));
        commit(folder.path(), "start");
        let source = Source::Url { url: format!("file://{}", folder.path().display()) };
        asked.push(environment.inside.enqueue(name, source, Lane::Bulk).await?);
    }
    let worker = environment.inside.cluster.broker()?;
    for (repository, _) in &asked {
        // Leaves a dead letter of an abandoned sync request for each repository.
        let job = Job::Sync(SyncJob { tenant: Tenant::local(), repository: *repository, request: 0 });
        worker.publish(Lane::Bulk, vec![job]).await?;
        let delivery = worker.receive(StageName::Sync).await?.context("the broker was closed")?;
        worker.dead_letter(delivery.tag, FailureCode::Timeout, "").await?;
        worker.settle(delivery.tag, Settlement::Ack).await?;
    }
    worker.close().await;
    drop(worker);
    let broker = environment.inside.cluster.broker()?;
    let grace = vec![("CAIRN_SWEEP_GRACE_MS", "500".to_owned())];
    let wanted = STANDARD.map(|service| (service.to_owned(), grace.clone()));
    environment.cluster.start_together(wanted.into()).await?.into_iter().try_for_each(|(_, started)| started)?;
    environment.inside.settled(&asked, PATIENCE).await?;
    let clones = environment.cluster.cache("cloner").join("clones");
    let num_files = || fs::read_dir(&clones).map_or(0, Iterator::count);
    ensure!(num_files() == 6 && broker.dead_letters(9).await?.len() == 2, "{} files", num_files());
    environment.cluster.cairn(&["remove", "gone"])?;
    let documents = Neo4jRuns::new(environment.inside.cluster.neo4j.clone());
    let deadline = Instant::now() + PATIENCE;
    loop {
        let known = documents.repositories(RepositoryQuery::OfTenant(None)).await?;
        let known: Vec<_> = known.into_iter().map(|document| document.id).collect();
        if known == [asked[0].0] && num_files() == 3 {
            break;
        }
        ensure!(
            Instant::now() < deadline,
            "not everything was removed: the repositories {known:?} and {} files exist",
            num_files()
        );
        sleep(Duration::from_millis(500)).await;
    }
    // The dead letters must not be read earlier, because reading them hides them from the sweep for some
    // time.
    let letters = broker.dead_letters(9).await?;
    let letters: Vec<_> = letters.iter().filter_map(|letter| Some(letter.job.as_ref()?.repository())).collect();
    ensure!(letters == [asked[0].0], "the repositories with dead letters are {letters:?}");
    ensure!(environment.inside.fingerprints().await?.len() == 1);
    environment.cluster.cairn(&["enqueue", "kept"]).map(drop)
}
