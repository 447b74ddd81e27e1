//! Tests a provider of embeddings with many kinds of faults. These tests run only in the long form.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use cairn_cluster::Servers;
use cairn_domain::{InputType, RepositoryScope, Scope, Tenant, VectorKey};
use cairn_embedding_http::Share;
use cairn_fake_provider::{Call, FakeServer, Fault, Provider, Settings, Shape};
use cairn_ports::{Catalogue, VectorStore};
use cairn_syntax::chunker::without_blank_edges;
use tokio::time::{Instant, sleep};
use toml::{Table, Value, toml};

use crate::bench::{Bench, PATIENCE, POLL, hasty};

/// The name of the provider's API key in the settings.
const KEY: &str = "provider";
/// Faults that cause an unusable or late answer.
const BAD_DAYS: [Fault; 6] = [
    Fault::Status(500),
    Fault::Slow { ms: 20_000 },
    Fault::WrongDimension,
    Fault::NotANumber,
    Fault::TruncatedJson,
    Fault::HangUp,
];
const RETRY_AFTER: Duration = Duration::from_secs(7);
/// A call within this time after a request to wait is not an error, because it may have been in progress
/// already.
const ON_ITS_WAY: Duration = Duration::from_millis(250);
const OUTAGE: Duration = Duration::from_secs(60);
/// The time limit from the end of the outage until all work is done.
const FULL_RATE_WITHIN: Duration = Duration::from_secs(30);
/// The maximum number of texts in one call.
const MAX_TEXTS: u32 = 128;

/// The settings of a cluster that uses the provider, with at most `max_texts` texts in one call. `quota` is
/// the quota section for the provider's key.
pub(crate) fn embeds_with(provider: &FakeServer, quota: Table, max_texts: u32) -> Table {
    let mut settings = hasty();
    let url = format!("{}/v1/embeddings", provider.url());
    let mut of_provider = toml! {
        provider = "voyage"
        model = "fake-embedding-1"
        dimensions = 64
        allow_http = true
        max_tokens = 4000
        max_text_tokens = 1000
    };
    of_provider.insert("url".to_owned(), Value::String(url));
    of_provider.insert("max_texts".to_owned(), max_texts.into());
    of_provider.insert("quota".to_owned(), Value::Table(quota));
    let embedding = [("kind", "http".into()), ("key_name", KEY.into()), ("provider", Value::Table(of_provider))];
    let embedding = embedding.map(|(name, value)| (name.to_owned(), value));
    settings.insert("embedding".to_owned(), Value::Table(embedding.into_iter().collect()));
    let topology = settings.get_mut("rabbitmq").and_then(|section| section.get_mut("topology"));
    if let Some(topology) = topology.and_then(Value::as_table_mut) {
        topology.insert("owned_keys".to_owned(), Value::Array(vec![KEY.into()]));
    }
    settings.insert("query".to_owned(), Value::Table(toml! { processes = 1 }));
    // A job that waits for the provider is not lost, so the reconciler must not dispatch it again.
    if let Some(pipeline) = settings.get_mut("pipeline").and_then(Value::as_table_mut) {
        pipeline.insert("deadline_seconds".to_owned(), 300.into());
        pipeline.insert("stalled_after_ms".to_owned(), 600_000.into());
    }
    settings
}

/// Case 20: a provider throttles, fails, is slow, returns wrong answers, and is unreachable for a minute.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes; `make faults` runs it"]
async fn cluster_survives_provider_faults() -> Result<()> {
    let Some(servers) = Servers::given() else { return Ok(()) };
    let latency = Duration::from_millis(20);
    let provider = Provider::new(Settings { latency, ..Settings::new(Shape::Voyage) });
    let provider = FakeServer::start("127.0.0.1:0".parse()?, provider).await?;
    let quota = toml! {
        requests_per_minute = 6000
        tokens_per_minute = 10000000
        takeover_wait_ms = 1000
    };
    let mut bench = Bench::prepare(servers, &embeds_with(&provider, quota, MAX_TEXTS), 3).await?;
    bench.begin_unread().await?;
    let before = counted(&bench).await?;
    for _ in 0..3 {
        let retry_after = Some(RETRY_AFTER.as_secs().to_string());
        happens(&mut bench, &provider, Fault::Throttle { retry_after }).await?;
    }
    let after = counted(&bench).await?;
    ensure!(
        after == before,
        "throttling caused failed attempts or lost deliveries: the counts were {before:?} and are {after:?} now"
    );
    for fault in BAD_DAYS {
        happens(&mut bench, &provider, fault).await?;
    }
    let back_after = outage(&mut bench, &provider).await?;
    let report = provider.provider().report();
    println!("{report:?}; all texts were embedded {back_after:?} after the outage");
    ensure!(back_after <= FULL_RATE_WITHIN, "all texts were embedded only {back_after:?} after the outage");
    // Texts are paid for twice only if their answer came too late.
    let num_repeated = report.num_repeated;
    ensure!(num_repeated <= MAX_TEXTS as usize, "{num_repeated} texts were paid for again");
    let num_early = num_early(provider.provider().calls());
    ensure!(num_early == 0, "{num_early} calls were sent before the end of the requested wait");
    // The vectors must be compared before the checker sweeps. The sweep removes vectors that no file uses,
    // including those of patterns.
    println!("{} vectors are those of the provider", sound_vectors(&bench).await?);
    bench.check("a provider with many kinds of faults", 0).await?;
    Ok(())
}

/// The number of failed attempts and the number of lost deliveries of the embedder's jobs.
async fn counted(bench: &Bench) -> Result<[u64; 2]> {
    let count = async |answer: &str| {
        bench.environment.cluster.metric("embedder", &format!("cairn_jobs_total{{answer=\"{answer}\"")).await
    };
    Ok([count("retry").await?, count("lost").await?])
}

fn num_early(calls: &[Call]) -> usize {
    let reported = calls.iter().filter(|call| call.status == Some(429));
    let forbidden = reported.map(|call| call.at + ON_ITS_WAY..call.at + RETRY_AFTER);
    forbidden.map(|time| calls.iter().filter(|call| time.contains(&call.at)).count()).sum()
}

/// Creates work until the provider has injected the fault.
async fn happens(bench: &mut Bench, provider: &FakeServer, fault: Fault) -> Result<()> {
    provider.provider().script([fault.clone()]);
    let deadline = Instant::now() + PATIENCE;
    while !provider.provider().is_script_used_up() {
        ensure!(Instant::now() < deadline, "the fault {fault:?} affected no call");
        bench.change().await?;
        bench.settle().await.with_context(|| format!("after {fault:?}"))?;
    }
    Ok(())
}

/// Makes the provider unreachable for a minute under load. Returns the time from the end of the outage until
/// all work is done.
async fn outage(bench: &mut Bench, provider: &FakeServer) -> Result<Duration> {
    provider.provider().script([Fault::Outage { ms: OUTAGE.as_millis() as u64 }]);
    let deadline = Instant::now() + PATIENCE;
    while !provider.provider().is_script_used_up() {
        ensure!(Instant::now() < deadline, "the outage affected no call");
        bench.change().await?;
        sleep(POLL).await;
    }
    let began = Instant::now();
    bench.change().await?;
    sleep(OUTAGE.saturating_sub(began.elapsed())).await;
    let is_over = Instant::now();
    bench.settle().await.context("the requests were not answered after the outage")?;
    Ok(is_over.elapsed())
}

/// Checks that the stored vectors equal the answers of the provider without faults. Returns the number of
/// vectors.
async fn sound_vectors(bench: &Bench) -> Result<usize> {
    let (inside, mut num_vectors) = (&bench.environment.inside, 0);
    let embedder = cairn_wiring::embedder(&inside.cluster.config.embedding, Share::Whole)?;
    let scope = Scope { tenant: Tenant::local(), repositories: RepositoryScope::All };
    let view = inside.cluster.runs.view().await?;
    let mut repositories: Vec<_> = bench.asked.iter().map(|(repository, _)| *repository).collect();
    repositories.sort_unstable();
    repositories.dedup();
    for repository in repositories {
        let mut from = Some(0);
        while let Some(at) = from {
            let page = inside.stores.vectors.scroll(&view, &scope, repository, at).await?;
            let chunks: Vec<_> = page.chunks.into_iter().map(|(chunk, _)| chunk).collect();
            let key = |content| VectorKey { model: embedder.model().clone(), content };
            let keys: Vec<VectorKey> = chunks.iter().map(|chunk| key(chunk.content_hash)).collect();
            let texts: Vec<&str> = chunks.iter().map(|chunk| without_blank_edges(&chunk.text)).collect();
            let kept = inside.stores.cache.get(&Tenant::local(), &keys).await?;
            let sound = embedder.embed(InputType::Passage, &texts).await?;
            for ((chunk, kept), sound) in chunks.iter().zip(&kept).zip(&sound) {
                ensure!(
                    kept.as_ref() == Some(sound),
                    "the vector of {} differs from the vector of the provider",
                    chunk.path
                );
            }
            num_vectors += chunks.len();
            from = page.next;
        }
    }
    Ok(num_vectors)
}
