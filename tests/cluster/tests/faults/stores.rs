//! Tests of stores that answer late, refuse requests, lose answers, or return bytes that differ from the
//! written bytes. These tests run only in the long form.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use cairn_cluster::{Raw, Servers, Traces};
use cairn_domain::{PartEnd, RunState, StageName};
use cairn_ports::{LedgerRead, Outbox, Put, RunRecord};
use cairn_servers::{Direction, FaultProxy, HttpProxy, HttpRequest, Refusal, Rules, Treatment};
use rand::RngExt;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::bench::{Bench, PATIENCE, POLL, hasty};

/// The pause between two repeated dispatches. Repeated dispatch gives the same job to several workers at
/// once.
const BETWEEN_RACES: Duration = Duration::from_millis(200);

/// Case 16: for half a minute, Qdrant writes points but does not answer. The writers try again, and write the
/// same points.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes; `make faults` runs it"]
async fn cluster_survives_a_hanging_vector_store() -> Result<()> {
    const HANG: Duration = Duration::from_secs(30);
    const EMBEDDER: &str = "embedder-1";
    let Some(given) = Servers::given() else { return Ok(()) };
    let proxy = FaultProxy::start(&given.qdrant).await?;
    let servers = Servers { qdrant: proxy.url(&given.qdrant)?, ..given.clone() };
    let mut settings = hasty();
    // The timeout is shorter than the time without answers, but long enough for creating collections with
    // their indexes.
    let qdrant = [("timeout_ms".to_owned(), toml::Value::Integer(10_000))];
    settings.insert("qdrant".to_owned(), toml::Value::Table(qdrant.into_iter().collect()));
    let mut bench = Bench::prepare(servers, &settings, 5).await?;
    bench.begin().await?;
    // These clients do not use the proxy.
    let raw = Raw::open(&given, &bench.environment.space)?;
    let collection = bench.environment.inside.stores.vectors.collection_name().to_owned();
    // The worker sleeps before it writes, so that it writes while the proxy lets no answer through.
    bench.environment.cluster.stop("embedder").await?;
    bench.start(EMBEDDER, &[("CAIRN_FAIL_AT", "qdrant::before_insert:0:sleep=6000".to_owned())]).await?;
    bench.change().await?;
    bench.passes(EMBEDDER, "qdrant::before_insert").await?;
    proxy.set(Rules { responses: Direction::HANG, ..Rules::PASS });
    let since = Instant::now();
    let before = raw.points(&collection).await?;
    while raw.points(&collection).await? == before {
        ensure!(since.elapsed() < HANG, "no point was written while the answers were blocked");
        sleep(POLL).await;
    }
    let unanswered = raw.points(&collection).await? - before;
    sleep(HANG.saturating_sub(since.elapsed())).await;
    proxy.set(Rules::PASS);
    println!("{unanswered} points and more were written without an answer");
    bench.check("answers of the vector store hang", 0).await?;
    Ok(())
}

/// Case 17: S3 returns an error for a fifth of all requests, although it has carried out half of the requests
/// with an error. Every artifact has several concurrent writers.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes; `make faults` runs it"]
async fn cluster_survives_refused_and_racing_artifact_writes() -> Result<()> {
    let Some(given) = Servers::given() else { return Ok(()) };
    let proxy = HttpProxy::start(&given.s3).await?;
    let servers = Servers { s3: proxy.url(&given.s3)?, ..given };
    let mut bench = Bench::prepare(servers, &hasty(), 5).await?;
    bench.begin().await?;
    for replica in ["cloner-2", "parser-2", "embedder-2", "graph-writer-2", "pattern-aggregator-2"] {
        bench.start(replica, &[]).await?;
    }
    proxy.set(troubled);
    for _ in 0..5 {
        bench.change().await?;
        let deadline = Instant::now() + PATIENCE;
        while !bench.environment.inside.is_settled(&bench.asked).await? && Instant::now() < deadline {
            // Sending jobs again gives the same job to several workers.
            let cluster = &bench.environment.inside.cluster;
            cluster.runs.send_again(&BTreeSet::new(), cluster.clock.now_ms(), 0).await?;
            sleep(BETWEEN_RACES).await;
        }
    }
    proxy.set(|_| Treatment::Pass);
    bench.check("artifact writes are refused, and several writers compete", 0).await?;
    one_winner_each(&proxy)
}

/// Treats requests as S3 does under load and with other concurrent writers.
fn troubled(request: &HttpRequest) -> Treatment {
    let refusal = |status, code: &str| Refusal { status, body: format!("<Error><Code>{code}</Code></Error>") };
    let is_create = request.method == "PUT" && request.header("if-none-match").is_some();
    match rand::rng().random_range(0..100) {
        0..10 => Treatment::Refuse(refusal(503, "SlowDown")),
        10..20 => Treatment::Lose(refusal(503, "ServiceUnavailable")),
        20..30 if is_create => Treatment::Refuse(refusal(409, "ConditionalRequestConflict")),
        30..40 if is_create => Treatment::Second,
        _ => Treatment::Pass,
    }
}

/// Checks that no key was created again before it was deleted: the number of creations exceeds the number of
/// deletions by at most one.
fn one_winner_each(proxy: &HttpProxy) -> Result<()> {
    let mut of_key: BTreeMap<String, (usize, usize, usize)> = BTreeMap::new();
    for exchange in proxy.exchanges() {
        let path = exchange.request.path.split('?').next().unwrap_or_default().to_owned();
        let (created, lost, deleted) = of_key.entry(path).or_default();
        match (exchange.request.method.as_str(), exchange.status) {
            ("PUT", 200) if exchange.request.header("if-none-match").is_some() => *created += 1,
            ("PUT", 412) => *lost += 1,
            ("DELETE", 204) => *deleted += 1,
            _ => {}
        }
    }
    of_key.retain(|_, (created, lost, _)| *created + *lost > 0);
    let (won, lost) = of_key.values().fold((0, 0), |sum, counts| (sum.0 + counts.0, sum.1 + counts.1));
    println!("{} keys were created {won} times, and {lost} writes came after another writer's", of_key.len());
    ensure!(lost > 0, "no write was refused because another writer had created the key");
    for (path, (created, lost, deleted)) in of_key {
        ensure!(
            created <= 1 + deleted,
            "{path} was created {created} times and deleted {deleted} times; {lost} writes were refused"
        );
    }
    Ok(())
}

/// Case 17: a pack is truncated before it is read, and truncated facts exist under a key to which a parser
/// will write facts. The run with the truncated pack fails, and the next sync writes the pack again. The
/// truncated facts are written again at once. No truncated artifact is used.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes; `make faults` runs it"]
async fn cluster_recovers_from_truncated_artifacts() -> Result<()> {
    let Some(servers) = Servers::given() else { return Ok(()) };
    let mut bench = Bench::prepare(servers, &hasty(), 5).await?;
    bench.begin().await?;
    bench.environment.cluster.stop("parser").await?;
    bench.change().await?;
    let [first, second] = unparsed(&bench).await?;
    let pack = truncate_pack(&bench, &first).await?;
    let facts = leave_half_of_the_facts(&bench, &second).await?;
    bench.start("parser", &[]).await?;
    bench.settle().await?;
    let runs = &bench.environment.inside.cluster.runs;
    let states = (runs.run(first.id).await?.state, runs.run(second.id).await?.state);
    let codes: Vec<String> = runs.parts(first.id).await?.into_iter().filter_map(|part| code(&part.end?)).collect();
    println!("{pack} and {facts} were cut; the runs are {states:?}, parts failed with {codes:?}");
    ensure!(
        states == (RunState::Failed, RunState::Published),
        "the truncated artifact was used: the runs ended as {states:?}"
    );
    ensure!(!codes.is_empty() && codes.iter().all(|code| code == "corrupt"), "{codes:?}");
    bench.ask().await?;
    // Before the run ended, another part that needed the pack may also have left a dead letter.
    let reported: Value =
        serde_json::from_str(&bench.environment.cluster.cairn(&["dead-letters", "list", "--json"])?)?;
    let letters = reported["dead_letters"].as_array().context("dead letters")?;
    let is_injected = |letter: &Value| letter["code"] == "corrupt" && letter["generation"] == first.id.generation.0;
    ensure!(letters.iter().all(is_injected), "{reported}");
    let num_dead_letters = letters.len();
    let traces = Traces { num_dead_letters, num_failed_runs: 1, ..Traces::default() };
    bench.check_traces("artifacts are truncated", traces).await?;
    Ok(())
}

/// Finds two runs with packs that the parser has not parsed yet. Skips the run of the marked repository,
/// because its files must not be missing.
async fn unparsed(bench: &Bench) -> Result<[RunRecord; 2]> {
    let (marked, _) = *bench.asked.last().context("no sync was requested")?;
    let runs = &bench.environment.inside.cluster.runs;
    let deadline = Instant::now() + PATIENCE;
    loop {
        let mut found = Vec::new();
        for run in runs.unfinished().await? {
            let parts = runs.parts(run.id).await?;
            let waits = parts.iter().any(|part| part.id.stage == StageName::Parse && part.end.is_none());
            found.extend((waits && run.id.repository != marked).then_some(run));
        }
        if let Ok(two) = <[RunRecord; 2]>::try_from(found.into_iter().take(2).collect::<Vec<_>>()) {
            return Ok(two);
        }
        ensure!(Instant::now() < deadline, "fewer than two runs have packs to parse");
        sleep(POLL).await;
    }
}

/// Truncates the first pack of a run to half its length. Returns the key of the pack.
async fn truncate_pack(bench: &Bench, run: &RunRecord) -> Result<String> {
    let cluster = &bench.environment.inside.cluster;
    let key = first_pack(bench, run).await?;
    let whole = cluster.blobs.get(&key).await?;
    cluster.blobs.delete(&key).await?;
    cluster.blobs.put(&key, whole.slice(..whole.len() / 2)).await?;
    Ok(key)
}

/// Writes truncated facts under the key for the facts of a run's first pack. Returns the key.
async fn leave_half_of_the_facts(bench: &Bench, run: &RunRecord) -> Result<String> {
    let key = first_pack(bench, run).await?.replacen("packs/", "facts/", 1);
    // The first half of another pack's facts artifact is used as the truncated facts.
    let blobs = &bench.environment.inside.cluster.blobs;
    let others =
        blobs.list("facts/").await?.into_iter().next().context("the store contains no facts of other packs")?;
    let whole = blobs.get(&others.key).await?;
    ensure!(blobs.put(&key, whole.slice(..whole.len() / 2)).await? == Put::Created, "the object {key} already existed");
    Ok(key)
}

async fn first_pack(bench: &Bench, run: &RunRecord) -> Result<String> {
    let plan = bench.environment.inside.cluster.artifacts.plan(&run.plan).await?;
    Ok(plan.packs.first().context("a pack")?.key.clone())
}

fn code(end: &PartEnd) -> Option<String> {
    match end {
        PartEnd::Failed { code, .. } => Some(code.to_string()),
        PartEnd::Done => None,
    }
}
