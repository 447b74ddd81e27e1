//! What a provider can do wrong, in virtual time: nothing wrong is returned, waits are kept, and what can heal heals.

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

/// The vectors of an undisturbed provider, and what the same call gives after the faults.
async fn after(shape: Shape, faults: &[Fault]) -> (Vec<DenseVector>, Result<Vec<DenseVector>, EmbedderError>) {
    let undisturbed = embed(&provider(shape).embedder(config(shape)), 5).await.expect("no fault");
    let disturbed = provider(shape);
    disturbed.provider().script(faults.to_vec());
    let found = embed(&disturbed.embedder(config(shape)), 5).await;
    assert!(disturbed.provider().is_script_used_up(), "{faults:?}");
    (undisturbed, found)
}

#[tokio::test(start_paused = true)]
async fn a_single_fault_heals() {
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
            assert_eq!(found.expect("it heals"), undisturbed, "{shape:?} {fault:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn indexes_say_the_order_where_there_are_any() {
    for shape in [Shape::Voyage, Shape::Openai] {
        for (fault, num_calls) in [(Fault::SwappedOrder, 1), (Fault::RepeatedIndex, 2)] {
            let (undisturbed, disturbed) = (provider(shape), provider(shape));
            disturbed.provider().script([fault]);
            let expect = embed(&undisturbed.embedder(config(shape)), 5).await.expect("no fault");
            assert_eq!(embed(&disturbed.embedder(config(shape)), 5).await.expect("it heals"), expect);
            assert_eq!(disturbed.provider().calls().len(), num_calls, "{shape:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_does_not_heal_is_an_error_with_its_kind_and_nothing_is_returned() {
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
        // Calls before earn the retries.
        for _ in 0..20 {
            embed(&embedder, 1).await.expect("no fault");
        }
        disturbed.provider().script(three_times(&fault));
        let error = embed(&embedder, 5).await.expect_err("three faults");
        assert_eq!(error.kind, expect, "{fault:?}");
        assert!(disturbed.provider().is_script_used_up(), "{fault:?}");
        assert_eq!((embedder.counters().num_retries, embedder.counters().num_failed), (2, 3), "{fault:?}");
        assert_eq!(embed(&embedder, 5).await.expect("healed").len(), 5);
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_not_retried_is_called_once() {
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

/// A long wait is not slept: it is returned, and until it is over no call is made.
#[tokio::test(start_paused = true)]
async fn a_long_wait_is_returned_as_throttled() {
    let disturbed = provider(Shape::Voyage);
    disturbed.provider().script([Fault::Throttle { retry_after: Some("7".to_owned()) }]);
    let embedder = disturbed.embedder(config(Shape::Voyage));
    // A tenth longer than was said at most.
    let throttled_for = async |said_ms: u64| {
        let error = embed(&embedder, 5).await.expect_err("seven seconds are long");
        let ErrorKind::Throttled { retry_after: Some(wait) } = error.kind else { panic!("{error}") };
        let said = Duration::from_millis(said_ms);
        assert!(wait >= said && wait <= said + said / 10, "{wait:?} for {said:?}");
        wait
    };
    throttled_for(7_000).await;
    tokio::time::advance(Duration::from_millis(1_500)).await;
    let wait = throttled_for(5_500).await;
    assert_eq!(embedder.counters().num_calls, 1);
    tokio::time::advance(wait).await;
    embed(&embedder, 5).await.expect("the wait is over");
    assert_eq!(disturbed.provider().report().num_early, 0);
    // A question's asker is waiting: two seconds are long.
    disturbed.provider().script([Fault::Throttle { retry_after: Some("3".to_owned()) }]);
    let error = embedder.embed(InputType::Query, &["q"]).await.expect_err("three seconds are long");
    assert!(matches!(error.kind, ErrorKind::Throttled { retry_after: Some(_) }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_refused_key_opens_the_breaker_at_once_and_probes_are_seldom() {
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

/// 429 says that the provider works: however many come, they never open the breaker.
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

/// The whole list of the fault case, one after the other, at a consumer that pauses when it is told to: every part is
/// embedded as an undisturbed provider would, no call is early, and no failure counts as an attempt that should not.
#[tokio::test(start_paused = true)]
async fn all_faults_one_after_the_other_cost_no_part() {
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

/// What a consumer does with an error; whether it was to be paused for.
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
        _ => panic!("a part would be lost: {error}"),
    }
}
