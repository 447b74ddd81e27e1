//! Tests how the client handles the faults of a provider, in virtual time. No wrong vector is returned,
//! requested waits are respected, and the client recovers if possible.

use std::time::Duration;

use cairn_domain::{DenseVector, InputType};
use cairn_embedding_http::HttpEmbedder;
use cairn_fake_provider::{Fault, Settings, Shape};
use cairn_ports::{Embedder, EmbedderError, ErrorKind};

use crate::virtual_time::{VirtualProvider, as_strs, config, quota, texts};

const SHAPES: [Shape; 3] = [Shape::Voyage, Shape::Openai, Shape::Tei];

fn provider(shape: Shape) -> VirtualProvider {
    VirtualProvider::new(Settings { latency: Duration::from_millis(100), ..Settings::new(shape) })
}

async fn embed(embedder: &HttpEmbedder, num_texts: usize) -> Result<Vec<DenseVector>, EmbedderError> {
    embedder.embed(InputType::Passage, &as_strs(&texts(0, num_texts))).await
}

/// Returns the vectors of a provider without faults, and the result of the same call to a provider with these
/// faults.
async fn after(shape: Shape, faults: &[Fault]) -> (Vec<DenseVector>, Result<Vec<DenseVector>, EmbedderError>) {
    let undisturbed = embed(&provider(shape).embedder(config(shape)), 5).await.expect("no fault");
    let disturbed = provider(shape);
    disturbed.provider().script(faults.to_vec());
    let found = embed(&disturbed.embedder(config(shape)), 5).await;
    assert!(disturbed.provider().is_script_used_up(), "{faults:?}");
    (undisturbed, found)
}

#[tokio::test(start_paused = true)]
async fn client_recovers_from_a_single_fault() {
    let faults = [
        Fault::Status(500),
        Fault::Status(503),
        Fault::Status(408),
        Fault::Status(409),
        Fault::Status(425),
        Fault::Slow { ms: 20_000 },
        Fault::Slow { ms: 70_000 },
        Fault::WrongDimension,
        Fault::NotANumber,
        Fault::WrongCount,
        Fault::ZeroVector,
        Fault::TruncatedJson,
        Fault::WrongContentType,
        Fault::HangUp,
        Fault::TooLarge,
        Fault::Throttle { retry_after: Some("3".to_owned()) },
        Fault::Throttle { retry_after: None },
    ];
    for shape in SHAPES {
        for fault in &faults {
            let (undisturbed, found) = after(shape, std::slice::from_ref(fault)).await;
            assert_eq!(found.expect("the client recovers"), undisturbed, "{shape:?} {fault:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn indexes_decide_the_order_if_present() {
    for shape in [Shape::Voyage, Shape::Openai] {
        for (fault, num_calls) in [(Fault::SwappedOrder, 1), (Fault::RepeatedIndex, 2)] {
            let (undisturbed, disturbed) = (provider(shape), provider(shape));
            disturbed.provider().script([fault]);
            let expect = embed(&undisturbed.embedder(config(shape)), 5).await.expect("no fault");
            assert_eq!(embed(&disturbed.embedder(config(shape)), 5).await.expect("the client recovers"), expect);
            assert_eq!(disturbed.provider().calls().len(), num_calls, "{shape:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn lasting_faults_are_errors_of_their_kind() {
    let three_times = |fault: &Fault| vec![fault.clone(); 3];
    for (fault, expect) in [
        (Fault::Status(500), ErrorKind::ConnectionLost),
        (Fault::Status(503), ErrorKind::Unavailable),
        (Fault::HangUp, ErrorKind::ConnectionLost),
        (Fault::Slow { ms: 70_000 }, ErrorKind::Timeout),
        (Fault::WrongDimension, ErrorKind::Invalid),
        (Fault::NotANumber, ErrorKind::Invalid),
        (Fault::WrongCount, ErrorKind::Invalid),
        (Fault::ZeroVector, ErrorKind::Invalid),
        (Fault::WrongContentType, ErrorKind::Invalid),
    ] {
        let disturbed = provider(Shape::Voyage);
        let embedder = disturbed.embedder(config(Shape::Voyage));
        // These calls increase the retry budget, so that the next call may be retried.
        for _ in 0..20 {
            embed(&embedder, 1).await.expect("no fault");
        }
        disturbed.provider().script(three_times(&fault));
        let error = embed(&embedder, 5).await.expect_err("three faults");
        assert_eq!(error.kind, expect, "{fault:?}");
        assert!(disturbed.provider().is_script_used_up(), "{fault:?}");
        assert_eq!((embedder.counters().num_retries, embedder.counters().num_failed), (2, 3), "{fault:?}");
        assert_eq!(embed(&embedder, 5).await.expect("recovered").len(), 5);
    }
}

#[tokio::test(start_paused = true)]
async fn errors_without_retry_are_called_once() {
    for (status, expect) in [
        (400, ErrorKind::Invalid),
        (422, ErrorKind::Invalid),
        (401, ErrorKind::Unavailable),
        (404, ErrorKind::Unavailable),
    ] {
        let disturbed = provider(Shape::Voyage);
        disturbed.provider().script([Fault::Status(status)]);
        let embedder = disturbed.embedder(config(Shape::Voyage));
        let error = embed(&embedder, 5).await.expect_err("refused");
        assert_eq!((error.kind, embedder.counters().num_calls), (expect, 1), "{status}");
    }
}

/// The client does not sleep through a long wait. The client returns the wait, and makes no call until the
/// wait ends.
#[tokio::test(start_paused = true)]
async fn long_wait_is_returned_as_throttled() {
    let disturbed = provider(Shape::Voyage);
    disturbed.provider().script([Fault::Throttle { retry_after: Some("7".to_owned()) }]);
    let embedder = disturbed.embedder(config(Shape::Voyage));
    // The returned wait is at most a tenth longer than the requested wait.
    let throttled_for = async |requested_ms: u64| {
        let error = embed(&embedder, 5).await.expect_err("a wait of seven seconds is too long");
        let ErrorKind::Throttled { retry_after: Some(wait) } = error.kind else { panic!("{error}") };
        let requested = Duration::from_millis(requested_ms);
        assert!(wait >= requested && wait <= requested + requested / 10, "{wait:?} for {requested:?}");
        wait
    };
    throttled_for(7_000).await;
    tokio::time::advance(Duration::from_millis(1_500)).await;
    let wait = throttled_for(5_500).await;
    assert_eq!(embedder.counters().num_calls, 1);
    tokio::time::advance(wait).await;
    embed(&embedder, 5).await.expect("the wait has ended");
    assert_eq!(disturbed.provider().report().num_early, 0);
    // A caller waits for the result of a question, so a wait of three seconds is already too long.
    disturbed.provider().script([Fault::Throttle { retry_after: Some("3".to_owned()) }]);
    let error = embedder.embed(InputType::Query, &["q"]).await.expect_err("a wait of three seconds is too long");
    assert!(matches!(error.kind, ErrorKind::Throttled { retry_after: Some(_) }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn refused_key_opens_the_breaker_at_once() {
    let disturbed = provider(Shape::Voyage);
    disturbed.provider().script(vec![Fault::Status(401); 4]);
    let embedder = disturbed.embedder(config(Shape::Voyage));
    let started = disturbed.now();
    while let Err(error) = embed(&embedder, 5).await {
        assert_eq!(error.kind, ErrorKind::Unavailable);
        tokio::time::advance(Duration::from_millis(250)).await;
    }
    let report = disturbed.provider().report();
    let counters = embedder.counters();
    assert_eq!((report.num_calls, counters.num_refused, counters.num_breaker_opened), (5, 4, 1));
    let took = (disturbed.now() - started).as_secs();
    assert!((40..=43).contains(&took), "{took}");
}

/// A reply with status 429 shows that the provider works, so such replies never open the breaker.
#[tokio::test(start_paused = true)]
async fn throttling_never_opens_the_breaker() {
    let disturbed = provider(Shape::Voyage);
    disturbed.provider().script(vec![Fault::Throttle { retry_after: Some("1".to_owned()) }; 60]);
    let embedder = disturbed.embedder(config(Shape::Voyage));
    while let Err(error) = embed(&embedder, 1).await {
        let ErrorKind::Throttled { retry_after: Some(wait) } = error.kind else { panic!("{error}") };
        tokio::time::advance(wait).await;
    }
    let counters = embedder.counters();
    assert_eq!((counters.num_throttled, counters.num_breaker_opened, counters.num_retries), (60, 0, 0));
}

/// The provider shows every fault that it can simulate, one after the other. The consumer pauses when the
/// client requests a pause. Every part gets the same vectors as from a provider without faults, no call is
/// too early, and only real failures are counted as attempts.
#[tokio::test(start_paused = true)]
async fn successive_faults_lose_no_part() {
    for shape in SHAPES {
        let disturbed = provider(shape);
        let retry_after = Some("7".to_owned());
        disturbed.provider().script([Fault::None, Fault::Throttle { retry_after }]);
        disturbed.provider().script([
            Fault::Status(500),
            Fault::None,
            Fault::Slow { ms: 20_000 },
            Fault::WrongDimension,
        ]);
        disturbed.provider().script([Fault::None, Fault::NotANumber, Fault::None, Fault::TruncatedJson, Fault::None]);
        disturbed.provider().script([Fault::Outage { ms: 60_000 }]);
        let mut settings = config(shape);
        settings.quota = quota(600, 1_000_000);
        let embedder = disturbed.embedder(settings);
        let undisturbed = provider(shape);
        let undisturbed = undisturbed.embedder(config(shape));
        let mut attempts = 0;
        for part in 0..200 {
            let texts = texts(part * 7, 7);
            let expect = undisturbed.embed(InputType::Passage, &as_strs(&texts)).await.expect("no fault");
            loop {
                match embedder.embed(InputType::Passage, &as_strs(&texts)).await {
                    Ok(found) => {
                        assert_eq!(found, expect, "{shape:?} part {part}");
                        break;
                    }
                    Err(error) => attempts += u32::from(!pause(error).await),
                }
            }
        }
        let report = disturbed.provider().report();
        assert_eq!((report.num_early, report.num_texts >= 1_400), (0, true), "{shape:?} {report:?}");
        assert!(attempts <= 5, "{shape:?}: {attempts} attempts");
    }
}

/// Handles an error as a consumer does. Returns whether the error requested a pause.
async fn pause(error: EmbedderError) -> bool {
    match error.kind {
        ErrorKind::Throttled { retry_after } => {
            tokio::time::advance(retry_after.expect("a time")).await;
            true
        }
        ErrorKind::Unavailable => {
            tokio::time::advance(Duration::from_secs(10)).await;
            true
        }
        ErrorKind::ConnectionLost | ErrorKind::Timeout => false,
        _ => panic!("a consumer would lose the part: {error}"),
    }
}
