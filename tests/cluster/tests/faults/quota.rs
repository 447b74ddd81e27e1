//! Tests the quota of a provider's key under full load: three embedders, both lanes, questions, killed
//! owners, and a five-minute outage of the provider. The results are judged by the calls that the provider
//! received. The tests run only in the long form.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use cairn_cluster::Servers;
use cairn_domain::{Lane, RunState, Source, Tenant};
use cairn_fake_provider::{Call, FakeServer, Fault, Provider, Report, Settings, Shape};
use cairn_gateway::auth::KeyRequest;
use cairn_testkit::work_tree::{commit, repository, write};
use serde_json::json;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, sleep};
use toml::toml;

use crate::bench::{Bench, POLL};
use crate::provider::embeds_with;

const EMBEDDERS: [&str; 3] = ["embedder-1", "embedder-2", "embedder-3"];
const OTHERS: [&str; 6] = ["scheduler", "cloner", "parser", "graph-writer", "pattern-aggregator", "query"];
const WINDOW: Duration = Duration::from_secs(60);
const TOKENS: u64 = 60_000;
const REQUESTS: u64 = 600;
const MEASURED: Duration = Duration::from_secs(300);
const OUTAGE: Duration = Duration::from_secs(300);
const NUM_FILES: usize = 10;
/// The number of texts in one repository, and so the maximum number of texts in one job.
const TEXTS_OF_A_JOB: usize = 200;
const NUM_KILLS: u32 = 2;
/// The time limit for completing the whole backlog.
const BACKLOG: Duration = Duration::from_secs(900);

const BETWEEN_QUESTIONS: Duration = Duration::from_secs(1);

/// The services use at least 90 % of the token quota, and exceed neither the token quota nor the request
/// quota, although the owner of the key is killed twice.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes; `make faults` runs it"]
async fn quota_is_used_up_and_never_exceeded() -> Result<()> {
    let Some(servers) = Servers::given() else { return Ok(()) };
    let settings = Settings { requests: Some(REQUESTS), tokens: Some(TOKENS), ..strict() };
    let provider = FakeServer::start("127.0.0.1:0".parse()?, Provider::new(settings)).await?;
    let quota = toml! {
        requests_per_minute = 600
        tokens_per_minute = 60000
        questions_percent = 6
        headroom_percent = 1
        takeover_wait_ms = 1000
    };
    let mut bench = Bench::prepare(servers, &embeds_with(&provider, quota, 128), 0).await?;
    // The corpus contains more texts than the quota permits in the measured time.
    let corpus = Corpus::new(24);
    start(&mut bench).await?;
    corpus.ask(&mut bench).await?;
    let began = first_call(&provider).await?;
    let asking = ask_questions(&bench).await?;
    for kill in 1..=NUM_KILLS {
        sleep_until(&provider, began + MEASURED * kill / (NUM_KILLS + 1)).await;
        let owner = owner(&bench).await?;
        bench.environment.cluster.process(owner)?.kill().await?;
        println!("{owner} is killed");
    }
    sleep_until(&provider, began + MEASURED).await;
    asking.abort();
    let calls = provider.provider().calls().to_vec();
    let measured: Vec<Call> = calls.into_iter().filter(|call| call.at < began + MEASURED).collect();
    let report = Report::of(&measured, WINDOW);
    let used: u64 = measured.iter().filter(|call| call.status == Some(200)).map(|call| call.tokens).sum();
    let share = used as f64 / (TOKENS as f64 * MEASURED.as_secs_f64() / WINDOW.as_secs_f64());
    let num_questions = measured.iter().filter(|call| call.is_question).count();
    let num_throttled = report.statuses.get(&429).copied().unwrap_or_default();
    println!("{:.1} % of the tokens used, {num_questions} questions; {report:?}", share * 100.0);
    ensure!(
        num_throttled * 100 <= report.num_calls,
        "{num_throttled} of {} calls were answered with 429",
        report.num_calls
    );
    ensure!(report.most_tokens <= TOKENS && report.most_requests <= REQUESTS, "the limit of a window was exceeded");
    ensure!(share >= 0.9, "only a share of {share} of the tokens was used");
    bench.environment.inside.settled(&bench.asked, BACKLOG).await?;
    let num_repeated = provider.provider().report().num_repeated;
    let prefetch = bench.environment.inside.prefetch()?;
    println!("{num_repeated} texts were paid for again");
    let in_hand = NUM_KILLS as usize * usize::from(prefetch) * TEXTS_OF_A_JOB;
    ensure!(
        num_repeated <= in_hand,
        "{num_repeated} texts were paid for again, but at most {in_hand} were in progress"
    );
    all_is_well(&bench).await
}

/// During a five-minute outage of the provider, no part fails, and only few calls are sent.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes; `make faults` runs it"]
async fn outage_costs_no_part_and_few_calls() -> Result<()> {
    let Some(servers) = Servers::given() else { return Ok(()) };
    let settings = Settings { requests: Some(240), ..strict() };
    let provider = FakeServer::start("127.0.0.1:0".parse()?, Provider::new(settings)).await?;
    let quota = toml! {
        requests_per_minute = 240
        tokens_per_minute = 10000000
        takeover_wait_ms = 1000
    };
    let mut bench = Bench::prepare(servers, &embeds_with(&provider, quota, 2), 0).await?;
    let corpus = Corpus::new(40);
    for replica in OTHERS.into_iter().chain(["embedder"]) {
        bench.start(replica, &[]).await?;
    }
    corpus.ask(&mut bench).await?;
    first_call(&provider).await?;
    let faults = std::iter::repeat_n(Fault::None, 100).chain([Fault::Outage { ms: OUTAGE.as_millis() as u64 }]);
    provider.provider().script(faults);
    bench.environment.inside.settled(&bench.asked, OUTAGE + BACKLOG).await?;
    all_is_well(&bench).await?;
    let report = provider.provider().report();
    let num_lost = report.num_calls - report.statuses.get(&200).copied().unwrap_or_default();
    let collection = bench.environment.inside.stores.vectors.collection_name();
    let num_texts = bench.raw()?.points(collection).await? as usize;
    println!("{num_lost} calls failed, {num_texts} texts; {report:?}");
    ensure!(num_lost * 10 <= report.num_calls, "{num_lost} of {} calls failed", report.num_calls);
    ensure!(
        report.num_texts * 10 <= num_texts * 11,
        "{} texts were sent to the provider, but only {num_texts} were stored",
        report.num_texts
    );
    Ok(())
}

fn strict() -> Settings {
    Settings { window: WINDOW, latency: Duration::from_millis(100), ..Settings::new(Shape::Voyage) }
}

async fn start(bench: &mut Bench) -> Result<()> {
    for replica in OTHERS.into_iter().chain(EMBEDDERS) {
        bench.start(replica, &[]).await?;
    }
    Ok(())
}

/// Repositories in which all texts are different.
struct Corpus(Vec<TempDir>);

impl Corpus {
    fn new(num_repositories: usize) -> Self {
        Self((0..num_repositories).map(repository_of_functions).collect())
    }

    /// Requests a sync of all repositories, half of them in each lane.
    async fn ask(&self, bench: &mut Bench) -> Result<()> {
        for (number, directory) in self.0.iter().enumerate() {
            let lane = if number % 2 == 0 { Lane::Bulk } else { Lane::Interactive };
            let source = Source::Url { url: format!("file://{}", directory.path().display()) };
            bench.asked.push(bench.environment.inside.enqueue(&format!("corpus-{number:02}"), source, lane).await?);
        }
        Ok(())
    }
}

fn repository_of_functions(number: usize) -> TempDir {
    let directory = repository();
    for file in 0..NUM_FILES {
        let function = |function: usize| {
            let name = format!("r{number}_f{file}_{function}");
            format!(
                "def load_{name}(path_{name}, limit_{name}):\n    \"\"\"Reads what {name} says, up to a limit.\"\"\"\n    \
                 with open(path_{name}) as lines_{name}:\n        found = [line.strip() for line in lines_{name}]\n    \
                 return sorted(found)[:limit_{name}]\n\n\n"
            )
        };
        write(
            directory.path(),
            &format!("app/file_{file}.py"),
            (0..TEXTS_OF_A_JOB / NUM_FILES).map(function).collect::<String>(),
        );
    }
    commit(directory.path(), "functions");
    directory
}

/// The time of the first call, on the provider's clock.
async fn first_call(provider: &FakeServer) -> Result<Duration> {
    let deadline = Instant::now() + BACKLOG;
    loop {
        if let Some(first) = provider.provider().calls().first() {
            return Ok(first.at);
        }
        ensure!(Instant::now() < deadline, "no call reached the provider");
        sleep(POLL).await;
    }
}

/// Sleeps until a time on the provider's clock.
async fn sleep_until(provider: &FakeServer, at: Duration) {
    sleep(at.saturating_sub(provider.now())).await;
}

/// The embedder that owns the key.
async fn owner(bench: &Bench) -> Result<&'static str> {
    let deadline = Instant::now() + BACKLOG;
    loop {
        for embedder in EMBEDDERS {
            // An embedder may be dead; its metric is not readable then.
            if bench.environment.cluster.metric(embedder, "cairn_owned_keys").await.is_ok_and(|keys| keys > 0) {
                return Ok(embedder);
            }
        }
        ensure!(Instant::now() < deadline, "no embedder owns the key");
        sleep(POLL).await;
    }
}

/// Asks questions through the query service, which uses the provider key of the embedders. The questions need
/// more than the share of the quota that is reserved for questions, so that this whole share is used.
async fn ask_questions(bench: &Bench) -> Result<JoinHandle<()>> {
    let url = bench.environment.cluster.questions("query")?;
    let (tenant, label) = (Tenant::local(), String::new());
    let request = KeyRequest { tenant, repositories: None, may_index: false, label, expires_at_ms: None };
    let key = bench.environment.inside.issue_key(request).await?;
    Ok(tokio::spawn(async move {
        let mut asked = JoinSet::new();
        for number in 0.. {
            let question = format!("where is the limit {number} read? ").repeat(10);
            let (url, key) = (url.clone(), key.clone());
            // The service may refuse a question; the test does not wait for the answer.
            asked.spawn(async move { ask(&url, &key, &question).await.is_ok() });
            while asked.try_join_next().is_some() {}
            sleep(BETWEEN_QUESTIONS).await;
        }
    }))
}

async fn ask(url: &str, key: &str, question: &str) -> Result<()> {
    let host = url.strip_prefix("http://").context("a plain address")?;
    let body = json!({ "query": question, "limit": 1 }).to_string();
    let head = format!("POST /v1/search HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {key}\r\n");
    let head =
        format!("{head}Content-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", body.len());
    let mut connection = TcpStream::connect(host).await?;
    connection.write_all(format!("{head}{body}").as_bytes()).await?;
    let mut answer = String::new();
    connection.read_to_string(&mut answer).await?;
    ensure!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    Ok(())
}

/// Checks that every run is published completely and that no dead letter exists.
async fn all_is_well(bench: &Bench) -> Result<()> {
    let repositories: BTreeSet<_> = bench.asked.iter().map(|(repository, _)| *repository).collect();
    for repository in repositories {
        let state = bench.environment.inside.last_state(repository).await?;
        ensure!(state == Some(RunState::Published), "a run ended as {state:?}");
    }
    let (_, dead) = bench.raw()?.messages().await?;
    ensure!(dead == 0, "{dead} dead letters exist");
    Ok(())
}
