//! Tests waits that the provider requests, and the number of concurrent calls.

use std::time::Duration;

use cairn_domain::InputType;
use cairn_fake_provider::{Fault, Settings, Shape};
use cairn_ports::{Embedder, ErrorKind};

use crate::virtual_time::{VirtualProvider, config};

/// Pseudo-random numbers that are the same in every run.
fn scattered(seed: u64) -> impl Iterator<Item = u64> {
    (seed..).map(|number| {
        let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 33
    })
}

#[tokio::test(start_paused = true)]
async fn no_call_is_made_before_the_requested_time() {
    let provider = VirtualProvider::new(Settings::new(Shape::Voyage));
    for wait in scattered(1).take(200) {
        let retry_after = Some((wait % 90).to_string());
        provider.provider().script([Fault::Throttle { retry_after }, Fault::None]);
    }
    let embedder = provider.embedder(config(Shape::Voyage));
    let (mut num_replies, mut num_returned) = (0, 0);
    while num_replies < 200 {
        match embedder.embed(InputType::Passage, &["text"]).await {
            Ok(_) => num_replies += 1,
            Err(error) => {
                let ErrorKind::Throttled { retry_after: Some(wait) } = error.kind else { panic!("{error}") };
                assert!(wait > Duration::from_secs(5), "the client should sleep through a short wait: {wait:?}");
                num_returned += 1;
                tokio::time::advance(wait).await;
            }
        }
    }
    let report = provider.provider().report();
    assert_eq!((report.num_early, report.statuses[&429], report.num_calls), (0, 200, 400));
    assert!(num_returned > 150, "{num_returned}");
    let limit = Duration::from_secs(200 * 90 * 11 / 10);
    assert!(provider.now() < limit, "the client waits at most a little longer than requested");
}

#[tokio::test(start_paused = true)]
async fn endless_wait_is_clamped() {
    let provider = VirtualProvider::new(Settings::new(Shape::Voyage));
    provider.provider().script([Fault::Throttle { retry_after: Some("999999999".to_owned()) }]);
    let embedder = provider.embedder(config(Shape::Voyage));
    let error = embedder.embed(InputType::Passage, &["text"]).await.expect_err("throttled");
    let ErrorKind::Throttled { retry_after: Some(wait) } = error.kind else { panic!("{error}") };
    assert!((600..=605).contains(&wait.as_secs()), "{wait:?}");
}

/// The provider processes eight calls at the same time. The adaptive limit settles around eight, although two
/// hundred calls wait at the client.
#[tokio::test(start_paused = true)]
async fn adaptive_concurrency_finds_the_capacity() {
    let settings = Settings { latency: Duration::from_millis(50), max_texts: 1, ..Settings::new(Shape::Tei) };
    let provider = VirtualProvider::with_slots(settings, 8);
    let mut settings = config(Shape::Tei);
    settings.max_texts = Some(1);
    let embedder = provider.embedder(settings);
    let texts: Vec<String> = (0..200).map(|number| format!("text {number}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let mut limits = Vec::new();
    for round in 0..30 {
        embedder.embed(InputType::Passage, &texts).await.expect("no fault");
        if round >= 10 {
            limits.push(embedder.counters().concurrency_limit);
        }
    }
    let mean = limits.iter().sum::<u64>() as f64 / limits.len() as f64;
    println!("mean limit {mean}");
    assert!((5.0..=12.0).contains(&mean), "{mean}: {limits:?}");
}

/// A third of all calls fails, which is too small a share to open the breaker. The number of retries is at
/// most a tenth of the calls, plus the retries that the budget adds over time.
#[tokio::test(start_paused = true)]
async fn retries_stay_few_when_many_calls_fail() {
    let provider =
        VirtualProvider::new(Settings { latency: Duration::from_millis(60), ..Settings::new(Shape::Voyage) });
    for _ in 0..200 {
        provider.provider().script([Fault::Status(500), Fault::None, Fault::None]);
    }
    let embedder = provider.embedder(config(Shape::Voyage));
    while !provider.provider().is_script_used_up() {
        if let Err(error) = embedder.embed(InputType::Passage, &["text"]).await {
            assert_eq!(error.kind, ErrorKind::ConnectionLost, "{error}");
        }
    }
    let counters = embedder.counters();
    assert_eq!((counters.num_calls, counters.num_failed, counters.num_breaker_opened), (600, 200, 0));
    let for_time = provider.now().as_secs() / 10;
    assert!((40..=60 + 3 + for_time).contains(&counters.num_retries), "{counters:?}");
}

#[tokio::test(start_paused = true)]
async fn cancelled_call_frees_its_slot() {
    let provider = VirtualProvider::new(Settings { latency: Duration::from_secs(10), ..Settings::new(Shape::Voyage) });
    let mut settings = config(Shape::Voyage);
    settings.concurrency = Some(1);
    let embedder = provider.embedder(settings);
    for _ in 0..3 {
        let cancelled =
            tokio::time::timeout(Duration::from_secs(1), embedder.embed(InputType::Passage, &["text"])).await;
        assert!(cancelled.is_err());
    }
    assert_eq!(embedder.counters().num_in_progress, 0);
    embedder.embed(InputType::Passage, &["text"]).await.expect("the slot is free");
    assert_eq!((embedder.counters().num_calls, provider.provider().calls().len()), (4, 4));
}
