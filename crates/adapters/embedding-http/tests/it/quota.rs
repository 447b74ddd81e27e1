//! Tests the quota of a key when its owner changes. For five minutes, three processes send passages and
//! questions, and the process that owns the key is killed twice.

use std::sync::Arc;
use std::time::Duration;

use cairn_domain::InputType;
use cairn_embedding_http::{HttpEmbedder, QuotaConfig, Share};
use cairn_fake_provider::{FakeServer, Provider, Settings, Shape};
use cairn_ports::{Embedder, ErrorKind};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::virtual_time::{VirtualProvider, as_strs, config, quota, texts};

const TOKENS: u64 = 120_000;
const REQUESTS: u64 = 300;

/// Embeds passages continuously, with several consumers.
fn passages(tasks: &mut JoinSet<()>, embedder: &Arc<HttpEmbedder>) {
    for consumer in 0..3 {
        let embedder = Arc::clone(embedder);
        tasks.spawn(async move {
            for part in 0.. {
                let texts = texts(consumer * 1_000_000 + part * 60, 60);
                while let Err(error) = embedder.embed(InputType::Passage, &as_strs(&texts)).await {
                    let ErrorKind::Throttled { retry_after: Some(wait) } = error.kind else { panic!("{error}") };
                    sleep(wait).await;
                }
            }
        });
    }
}

/// Embeds about as many questions as the questions' share allows.
fn questions(tasks: &mut JoinSet<()>, embedder: &Arc<HttpEmbedder>) {
    let embedder = Arc::clone(embedder);
    tasks.spawn(async move {
        let question = "how is the sum of left and right computed? ".repeat(18);
        loop {
            // A question may fail because it waited too long. A real caller would send it again.
            let _ = embedder.embed(InputType::Query, &[&question]).await;
            sleep(Duration::from_millis(450)).await;
        }
    });
}

fn start_work(embedder: &Arc<HttpEmbedder>) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    passages(&mut tasks, embedder);
    questions(&mut tasks, embedder);
    tasks
}

fn settings(takeover_wait_ms: u64) -> QuotaConfig {
    QuotaConfig { takeover_wait_ms: Some(takeover_wait_ms), ..quota(REQUESTS, TOKENS) }
}

/// Simulates five minutes in which the owner is killed twice. Returns the share of the tokens that was used,
/// and the simulated provider.
async fn five_minutes(takeover_wait_ms: u64) -> (f64, VirtualProvider) {
    let limits = Settings { requests: Some(REQUESTS), tokens: Some(TOKENS), ..Settings::new(Shape::Voyage) };
    let provider = VirtualProvider::new(Settings { latency: Duration::from_millis(300), ..limits });
    for owner in 0..3 {
        let mut settings_of_owner = config(Shape::Voyage);
        settings_of_owner.quota = settings(takeover_wait_ms);
        let embedder = Arc::new(provider.embedder(settings_of_owner));
        if owner > 0 {
            embedder.take_over(|| true);
        }
        let tasks = start_work(&embedder);
        sleep(Duration::from_secs(100)).await;
        // The owner is killed. The provider counts the calls that the owner had in progress, but no other
        // process counts them.
        drop(tasks);
    }
    let used: u64 = provider.provider().calls().iter().map(|call| call.tokens).sum();
    (used as f64 / (5 * TOKENS) as f64, provider)
}

#[tokio::test(start_paused = true)]
async fn quota_is_kept_when_the_owner_is_killed_twice() {
    let (share, provider) = five_minutes(0).await;
    let report = provider.provider().report();
    assert!(report.most_tokens <= TOKENS && report.most_requests <= REQUESTS, "{report:?}");
    println!("{share:.3} of the tokens used; {report:?}");
    let num_throttled = report.statuses.get(&429).copied().unwrap_or_default();
    assert!(num_throttled * 100 <= report.num_calls, "{report:?}");
    assert!(share >= 0.9, "{share}: {report:?}");
    let num_questions = provider.provider().calls().iter().filter(|call| call.is_question).count();
    assert!(num_questions >= 200, "{num_questions}");
}

#[tokio::test(start_paused = true)]
async fn quota_is_kept_when_the_standby_waits_a_window() {
    let (share, provider) = five_minutes(60_000).await;
    let report = provider.provider().report();
    println!("{share:.3} of the tokens used; {report:?}");
    assert!(report.most_tokens <= TOKENS && !report.statuses.contains_key(&429), "{report:?}");
    assert!((0.5..0.65).contains(&share), "{share}");
}

/// The owner of the key sends passages, and another process sends questions. The two processes do not
/// communicate, but together they stay below the limit.
#[tokio::test(start_paused = true)]
async fn processes_with_separate_shares_stay_below_the_quota() {
    // With a lower limit on requests, the questions could not use their whole share of the tokens.
    let requests = 3 * REQUESTS;
    let limits = Settings { requests: Some(requests), tokens: Some(TOKENS), ..Settings::new(Shape::Voyage) };
    let provider = VirtualProvider::new(Settings { latency: Duration::from_millis(300), ..limits });
    let mut settings = config(Shape::Voyage);
    settings.quota = QuotaConfig { takeover_wait_ms: Some(1_000), ..quota(requests, TOKENS) };
    settings.max_text_tokens = Some(1_000);
    let mut asking = JoinSet::new();
    let query = provider.embedder_of(Share::Questions { processes: 1 }, settings.clone());
    questions(&mut asking, &Arc::new(query));
    for _ in 0..3 {
        let owner = Arc::new(provider.embedder_of(Share::Passages, settings.clone()));
        owner.take_over(|| true);
        let mut working = JoinSet::new();
        passages(&mut working, &owner);
        sleep(Duration::from_secs(100)).await;
    }
    let report = provider.provider().report();
    let share = report.tokens as f64 / (5 * TOKENS) as f64;
    println!("{share:.3} of the tokens used; {report:?}");
    assert!(report.most_tokens <= TOKENS && !report.statuses.contains_key(&429), "{report:?}");
    assert!(share >= 0.9, "{share}");
}

/// Runs the limiter over real sockets in real time, with a window of three seconds. The limits must hold in
/// every window, even on a busy machine.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limits_hold_in_every_window_over_sockets() -> anyhow::Result<()> {
    let window = Duration::from_secs(3);
    let limits = Settings { window, requests: Some(30), tokens: Some(6_000), ..Settings::new(Shape::Openai) };
    let server = FakeServer::start("127.0.0.1:0".parse()?, Provider::new(limits)).await?;
    let mut settings = config(Shape::Openai);
    settings.url = Some(format!("{}/v1/embeddings", server.url()));
    settings.max_text_tokens = Some(400);
    settings.quota = QuotaConfig { window_ms: 3_000, guard_ms: 100, ..quota(30, 6_000) };
    for owner in 0..2 {
        let embedder = Arc::new(HttpEmbedder::new(settings.clone(), Share::Whole)?);
        if owner > 0 {
            embedder.take_over(|| true);
        }
        let tasks = start_work(&embedder);
        sleep(window * 2).await;
        drop(tasks);
    }
    let report = server.provider().report();
    assert!(report.most_tokens <= 6_000 && report.most_requests <= 30, "{report:?}");
    assert!(report.num_calls > 20, "{report:?}");
    Ok(())
}
