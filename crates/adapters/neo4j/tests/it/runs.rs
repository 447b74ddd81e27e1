//! Tests commands when the result of their commit is unknown, and the effects of the ledger on the graph.

use anyhow::{Context, Result, bail, ensure};
use cairn_domain::{
    ArtifactRef, Lane, PartEnd, PartId, RepositoryId, RepositoryName, RunId, RunState, Source, StageName, SyncProgress,
};
use cairn_neo4j::{Neo4j, Neo4jConfig, Neo4jGraph, Neo4jRuns};
use cairn_ports::{ErrorKind, GraphStoreError, RepositoryQuery, RunDocuments, RunQuery};
use cairn_runs::{Beginning, Command, CommandReply, RepositoryDetails, RunDetails};

use crate::bolt_proxy::{BoltProxy, Cut};
use crate::fixture::{chain, repository, stage, tenant};
use crate::server::Namespace;

const PARSE: PartId = PartId { stage: StageName::Parse, number: 0 };
const PUBLISH: PartId = PartId { stage: StageName::Publish, number: 0 };

fn register(repository: RepositoryId) -> Command {
    let details = RepositoryDetails {
        tenant: tenant(),
        name: RepositoryName::new("r"),
        source: Source::Url { url: "https://example.org/r".to_owned() },
        branch: None,
        settings: "{}".to_owned(),
        aliases: Vec::new(),
        hosted: None,
    };
    Command::Register { repository, details: Box::new(details), keeps_settings: false }
}

fn begin(repository: RepositoryId, epoch: u64) -> Command {
    let artifact = ArtifactRef { key: "plans/r".to_owned(), size_bytes: 1, hash: [1; 32] };
    let details = RunDetails {
        tenant: tenant(),
        manifest: artifact.clone(),
        plan: artifact,
        revision: "abc".to_owned(),
        branch: None,
        model: String::new(),
        result: "{}".to_owned(),
        started_at_ms: 1,
        message: None,
    };
    let parts = vec![PARSE, PUBLISH];
    let beginning = Beginning { epoch, previous: None, parts, lane: Lane::Bulk, window: 9, now_ms: 1 };
    Command::Begin { repository, beginning: Box::new(beginning), details: Box::new(details) }
}

fn end(run: RunId, part: PartId) -> Command {
    Command::EndPart { run, part, end: PartEnd::Done, report: String::new(), now_ms: 2 }
}

/// Registers the repository, begins a run of this repository, and returns the id of the run.
async fn begun(runs: &Neo4jRuns, repository: RepositoryId) -> Result<RunId> {
    runs.change(register(repository)).await?;
    let lease = Command::Lease { repository, now_ms: 10, ttl_ms: 1000 };
    let CommandReply::Epoch(epoch) = runs.change(lease).await? else { bail!("no epoch") };
    match runs.change(begin(repository, epoch)).await? {
        CommandReply::Begun(run) => Ok(run),
        other => bail!("expected a run, but the store returned {other:?}"),
    }
}

/// Executes all commands in the life of a run. Each command loses its first commit, or the reply to this
/// commit. The command must reply as if nothing had been lost, and it must be applied exactly once.
#[tokio::test(flavor = "multi_thread")]
async fn command_with_lost_commit_reply_is_applied_once() -> Result<()> {
    let Some(namespace) = Namespace::open().await? else { return Ok(()) };
    let proxy = BoltProxy::start(&namespace.config.url).await?;
    let config = Neo4jConfig { url: proxy.url.clone(), ..namespace.config.clone() };
    let runs = Neo4jRuns::new(Neo4j::new(&config)?);
    for (number, cut) in [Cut::AfterCommit, Cut::BeforeCommit].into_iter().enumerate() {
        let repository = repository(&format!("r{number}"));
        let change = async |command: Command| -> Result<CommandReply> {
            proxy.cut(&[cut]);
            let name = command.name();
            let answer = runs
                .change(command)
                .await
                .with_context(|| format!("the command {name} failed after the cut {cut:?}"))?;
            ensure!(proxy.cuts_left() == 0, "no connection was cut");
            Ok(answer)
        };
        ensure!(change(register(repository)).await? == CommandReply::Done);
        let ask = Command::Ask { repository, lane: Lane::Bulk, rebuild: false, now_ms: 5 };
        ensure!(change(ask).await? == CommandReply::Asked(5));
        let dispatched = change(Command::Dispatch { repository, now_ms: 6, again_after_ms: 100 }).await?;
        ensure!(matches!(dispatched, CommandReply::Dispatched(Some(wanted)) if wanted.number == 5), "{dispatched:?}");
        let lease = change(Command::Lease { repository, now_ms: 10, ttl_ms: 1000 }).await?;
        let CommandReply::Epoch(epoch) = lease else { bail!("{lease:?}") };
        let CommandReply::Begun(run) = change(begin(repository, epoch)).await? else { bail!("no run") };
        ensure!(
            change(Command::Renew { repository, epoch, now_ms: 11, ttl_ms: 0, progress: SyncProgress::default() })
                .await?
                == CommandReply::Done
        );
        ensure!(change(end(run, PARSE)).await? == CommandReply::Released(vec![PUBLISH]));
        let (state, message) = (RunState::Cancelled, String::new());
        ensure!(change(Command::Abort { run, state, message, now_ms: 20 }).await? == CommandReply::Done);
        ensure!(change(Command::ForgetAborted { run, until_ms: 20 }).await? == CommandReply::Forgotten(true));
        let CommandReply::Deleted(generation) = change(Command::Delete { repository, now_ms: 30 }).await? else {
            bail!("not deleted")
        };
        ensure!(generation.0 == run.generation.0 + 1, "the deletion after {run} got the generation {generation}");
        ensure!(runs.runs(RunQuery::One(run)).await?.len() == 1);
        ensure!(runs.parts(run).await?.len() == 1);
    }
    ensure!(runs.registry().await?.last_generation == 4);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn graph_refuses_records_of_an_aborted_run() -> Result<()> {
    let Some(namespace) = Namespace::open().await? else { return Ok(()) };
    let (runs, graph) = (Neo4jRuns::new(namespace.neo4j.clone()), Neo4jGraph::new(namespace.neo4j.clone()));
    let run = begun(&runs, repository("r")).await?;
    stage(&graph, run, chain(run.repository, 3)).await?;
    let (state, message) = (RunState::Failed, "no reason".to_owned());
    runs.change(Command::Abort { run, state, message, now_ms: 9 }).await?;
    let error = stage(&graph, run, chain(run.repository, 3)).await.expect_err("the run has ended");
    ensure!(error.downcast::<GraphStoreError>()?.kind == ErrorKind::Conflict);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn forgotten_repository_leaves_no_record() -> Result<()> {
    let Some(namespace) = Namespace::open().await? else { return Ok(()) };
    let runs = Neo4jRuns::new(namespace.neo4j.clone());
    let run = begun(&runs, repository("r")).await?;
    runs.change(end(run, PARSE)).await?;
    let repository = run.repository;
    let CommandReply::Deleted(generation) = runs.change(Command::Delete { repository, now_ms: 50 }).await? else {
        bail!("not deleted")
    };
    let forget = |until_ms| runs.change(Command::ForgetDeletion { repository, generation, until_ms });
    ensure!(forget(49).await? == CommandReply::Forgotten(false));
    ensure!(namespace.count("MATCH (part:Part~) RETURN count(part) AS count").await? == 1);
    ensure!(forget(50).await? == CommandReply::Forgotten(true));
    ensure!(runs.repositories(RepositoryQuery::OfTenant(None)).await?.is_empty());
    for label in ["Run", "Part", "Repository"] {
        ensure!(namespace.count(&format!("MATCH (n:{label}~) RETURN count(n) AS count")).await? == 0, "{label}");
    }
    Ok(())
}
