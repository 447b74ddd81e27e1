//! Tests that callers with few texts share calls, and that each of them gets only its own vectors and errors.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cairn_domain::{DenseVector, InputType};
use cairn_embedding_http::{EmbeddingHttpConfig, HttpEmbedder, HttpReply, Share, Transport, TransportError};
use cairn_fake_provider::{Fault, Settings, Shape};
use cairn_ports::{Embedder, EmbedderError, ErrorKind};
use futures::future::join_all;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tokio::time::{sleep, timeout};

use crate::virtual_time::{VirtualProvider, as_strs, config, quota, texts};

const SHAPES: [Shape; 3] = [Shape::Voyage, Shape::Openai, Shape::Tei];

fn provider(shape: Shape) -> VirtualProvider {
    VirtualProvider::new(Settings { latency: Duration::from_millis(200), ..Settings::new(shape) })
}

/// Settings that allow one call per second.
fn scarce(shape: Shape) -> EmbeddingHttpConfig {
    EmbeddingHttpConfig { quota: quota(60, 10_000_000), ..config(shape) }
}

/// Embeds the three texts of caller `number`. Each caller has different texts.
async fn embed(embedder: &HttpEmbedder, number: usize) -> Result<Vec<DenseVector>, EmbedderError> {
    embedder.embed(InputType::Passage, &as_strs(&texts(number * 3, 3))).await
}

async fn undisturbed(shape: Shape, num_callers: usize) -> Vec<Vec<DenseVector>> {
    let embedder = provider(shape).embedder(config(shape));
    let calls = (0..num_callers).map(|number| embed(&embedder, number));
    join_all(calls).await.into_iter().map(|vectors| vectors.expect("no fault")).collect()
}

fn vectors(found: Vec<Result<Vec<DenseVector>, EmbedderError>>) -> Vec<Vec<DenseVector>> {
    found.into_iter().map(|vectors| vectors.expect("no caller fails")).collect()
}

#[tokio::test(start_paused = true)]
async fn waiting_callers_fill_scarce_calls() {
    for shape in SHAPES {
        let provider = provider(shape);
        let embedder = provider.embedder(scarce(shape));
        let found = join_all((0..100).map(|number| embed(&embedder, number))).await;
        assert_eq!(vectors(found), undisturbed(shape, 100).await, "{shape:?}");
        let sizes: Vec<usize> = provider.provider().calls().iter().map(|call| call.num_texts).collect();
        // The first remainder does not wait for other remainders. After the first call, ten remainders fit
        // into one call.
        let expect: Vec<usize> = [3].into_iter().chain([30; 9]).chain([27]).collect();
        assert_eq!(sizes, expect, "{shape:?}");
        assert_eq!(embedder.counters().num_texts, 300);
    }
}

/// Every text is sent only once, even if a call takes longer than the wait for the next call. A remainder
/// that is in a shared call does not request a call of its own.
#[tokio::test(start_paused = true)]
async fn every_text_is_sent_once() {
    let slow = Settings { latency: Duration::from_secs(3), ..Settings::new(Shape::Voyage) };
    let two_at_once = EmbeddingHttpConfig { concurrency: Some(2), ..config(Shape::Voyage) };
    for (settings, expect) in [(scarce(Shape::Voyage), [3, 30].as_slice()), (two_at_once, &[3, 3, 27])] {
        let provider = VirtualProvider::new(slow.clone());
        let embedder = provider.embedder(settings);
        let found = join_all((0..11).map(|number| embed(&embedder, number))).await;
        assert_eq!(vectors(found), undisturbed(Shape::Voyage, 11).await);
        let sizes: Vec<usize> = provider.provider().calls().iter().map(|call| call.num_texts).collect();
        assert_eq!(sizes, expect);
    }
}

/// The failure does not depend on the texts, so the remainders stay together and retry as one call.
#[tokio::test(start_paused = true)]
async fn shared_call_is_retried_together_in_an_outage() {
    let provider = provider(Shape::Voyage);
    provider.provider().script([Fault::None, Fault::Status(503), Fault::Status(502), Fault::None]);
    let embedder = provider.embedder(scarce(Shape::Voyage));
    let found = join_all((0..11).map(|number| embed(&embedder, number))).await;
    assert_eq!(vectors(found), undisturbed(Shape::Voyage, 11).await);
    let sizes: Vec<usize> = provider.provider().calls().iter().map(|call| call.num_texts).collect();
    assert_eq!((sizes[0], sizes[1], sizes.len()), (3, 30, 4), "{sizes:?}");
}

/// The full calls of a large part are not shared, but its remainder shares a call.
#[tokio::test(start_paused = true)]
async fn remainder_of_a_large_part_shares_a_call() {
    let provider = provider(Shape::Voyage);
    let embedder = provider.embedder(scarce(Shape::Voyage));
    let (large, small) = (texts(0, 70), texts(1_000, 5));
    let (large, small) = (as_strs(&large), as_strs(&small));
    let (first, second) =
        tokio::join!(embedder.embed(InputType::Passage, &large), embedder.embed(InputType::Passage, &small));
    assert_eq!((first.expect("vectors").len(), second.expect("vectors").len()), (70, 5));
    let sizes: Vec<usize> = provider.provider().calls().iter().map(|call| call.num_texts).collect();
    assert_eq!(sizes, [32, 32, 11]);
}

/// If calls are not scarce, no remainder waits, and no call is shared.
#[tokio::test(start_paused = true)]
async fn remainder_never_waits_in_order_to_share() {
    let provider = provider(Shape::Voyage);
    let embedder = provider.embedder(config(Shape::Voyage));
    join_all((0..8).map(|number| embed(&embedder, number))).await;
    assert_eq!(provider.provider().calls().len(), 8);
    assert!(provider.now() < Duration::from_millis(300), "{:?}", provider.now());
}

/// Replies like the simulated provider, except to calls with a text that contains a certain word.
struct Picky {
    provider: VirtualProvider,
    word: &'static str,
    /// The status of the reply to a call with a text that contains the word. With `None`, the connection is
    /// closed instead.
    status: Option<u16>,
}

#[async_trait]
impl Transport for Picky {
    async fn post(&self, body: Vec<u8>, max_bytes: usize) -> Result<HttpReply, TransportError> {
        let is_bad = String::from_utf8_lossy(&body).contains(self.word);
        let answer = self.provider.post(body, max_bytes).await?;
        match (is_bad, self.status) {
            (false, _) => Ok(answer),
            (true, Some(status)) => Ok(HttpReply { status, headers: Vec::new(), body: Vec::new() }),
            (true, None) => Err(TransportError::Lost(None)),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn bad_text_fails_only_its_own_caller() {
    for (status, kind) in
        [(Some(400), ErrorKind::Invalid), (Some(500), ErrorKind::ConnectionLost), (None, ErrorKind::ConnectionLost)]
    {
        let picky = Picky { provider: provider(Shape::Voyage), word: "compute_37(", status };
        let embedder =
            HttpEmbedder::over(scarce(Shape::Voyage), Share::Whole, Arc::new(picky)).expect("valid settings");
        let found = join_all((0..30).map(|number| embed(&embedder, number))).await;
        for (number, (found, expect)) in found.into_iter().zip(undisturbed(Shape::Voyage, 30).await).enumerate() {
            match found {
                Ok(vectors) => assert!(number != 12 && vectors == expect, "{status:?}: {number}"),
                Err(error) => assert_eq!((number, error.kind), (12, kind), "{status:?}"),
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn requested_wait_applies_to_all_members() {
    let provider = provider(Shape::Voyage);
    let wait = |seconds: &str| Fault::Throttle { retry_after: Some(seconds.to_owned()) };
    provider.provider().script([Fault::None, wait("4"), wait("3"), Fault::None]);
    let embedder = provider.embedder(scarce(Shape::Voyage));
    let found = join_all((0..11).map(|number| embed(&embedder, number))).await;
    assert_eq!(vectors(found), undisturbed(Shape::Voyage, 11).await);
    let report = provider.provider().report();
    assert_eq!((report.num_calls, report.num_early), (4, 0), "{report:?}");
    sleep(Duration::from_secs(2)).await;
    // If the provider requests a wait that is too long for the client, all callers of the shared call get an
    // error.
    provider.provider().script([Fault::None, wait("60")]);
    let found = join_all((11..22).map(|number| embed(&embedder, number))).await;
    let num_throttled = found.iter().filter(|found| found.is_err()).count();
    assert!(num_throttled == 10 && provider.provider().report().num_calls == 6, "{found:?}");
    for error in found.into_iter().filter_map(Result::err) {
        assert!(matches!(error.kind, ErrorKind::Throttled { retry_after: Some(_) }), "{error}");
    }
}

/// Callers with any number of texts start and cancel at any time, and the provider has random faults. Every
/// caller that is not cancelled gets its own vectors, and no call exceeds the limits.
#[tokio::test(start_paused = true)]
async fn every_waiting_caller_gets_its_own_vectors() {
    for seed in 0..60 {
        let random = &mut StdRng::seed_from_u64(seed);
        let shape = SHAPES[random.random_range(0..3)];
        // In half of the cases, the provider refuses calls of more than ten texts, but the settings of the
        // client do not contain this limit.
        let max_tokens = if seed % 2 == 0 { 500 } else { 16_000 };
        let latency = Duration::from_millis(200);
        let provider = VirtualProvider::new(Settings { latency, max_tokens, ..Settings::new(shape) });
        let limits = config(shape);
        let faults = (0..40).map(|_| match random.random_range(0..12) {
            0 => Fault::Status(500),
            1 => Fault::HangUp,
            2 => Fault::WrongCount,
            3 => Fault::Throttle { retry_after: Some("1".to_owned()) },
            4 => Fault::Slow { ms: 3_000 },
            _ => Fault::None,
        });
        provider.provider().script(faults.collect::<Vec<_>>());
        let embedder = provider.embedder(scarce(shape));
        let callers = (0..40).map(|number| {
            let num_texts = random.random_range(1..if number % 10 == 0 { 80 } else { 9 });
            let comes = Duration::from_millis(random.random_range(0..20_000));
            let stays = if random.random_bool(0.3) { random.random_range(0..5_000) } else { 600_000 };
            let embedder = &embedder;
            async move {
                let texts = texts(number * 100, num_texts);
                sleep(comes).await;
                let until_it_is_there = async {
                    loop {
                        match embedder.embed(InputType::Passage, &as_strs(&texts)).await {
                            Ok(vectors) => return vectors,
                            Err(error) if error.kind == ErrorKind::TooLarge => panic!("{error}"),
                            Err(_) => sleep(Duration::from_secs(11)).await,
                        }
                    }
                };
                match timeout(Duration::from_millis(stays), until_it_is_there).await {
                    Ok(vectors) => Some((texts, vectors)),
                    Err(_) => (stays == 600_000).then(|| panic!("seed {seed}: caller {number} has no vectors")),
                }
            }
        });
        let callers: Vec<_> = callers.collect();
        let found: Vec<_> = join_all(callers).await.into_iter().flatten().collect();
        assert!(found.len() >= 15, "seed {seed}");
        let undisturbed = VirtualProvider::new(Settings::new(shape)).embedder(config(shape));
        for (texts, vectors) in found {
            let expect = undisturbed.embed(InputType::Passage, &as_strs(&texts)).await.expect("no fault");
            assert_eq!(vectors, expect, "seed {seed}");
        }
        let largest = provider.provider().calls().iter().map(|call| call.num_texts).max();
        assert!(largest <= limits.max_texts, "seed {seed}: {largest:?}");
        assert_eq!(embedder.counters().num_in_progress, 0, "seed {seed}");
    }
}
