//! Tests an outage of five minutes: no part fails, few calls are made, and work continues soon after the
//! outage.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use cairn_domain::InputType;
use cairn_embedding_http::HttpEmbedder;
use cairn_fake_provider::{Fault, Settings, Shape};
use cairn_ports::{Embedder, ErrorKind};

use crate::virtual_time::{VirtualProvider, as_strs, config, quota, texts};

const OUTAGE: Duration = Duration::from_secs(300);
const CALLS_A_MINUTE: u64 = 120;

struct Work {
    provider: VirtualProvider,
    took: Duration,
    /// Number of failures that are counted as attempts of their part.
    num_attempts: u32,
}

/// Runs consumers that embed `num_parts` parts with `part_texts` texts each. All consumers use one provider
/// with a quota.
async fn work(faults: Vec<Fault>, num_parts: usize, part_texts: usize) -> Work {
    let settings = Settings {
        requests: Some(CALLS_A_MINUTE),
        latency: Duration::from_millis(200),
        ..Settings::new(Shape::Voyage)
    };
    let provider = VirtualProvider::new(settings);
    provider.provider().script(faults);
    let mut settings = config(Shape::Voyage);
    settings.max_texts = Some(10);
    settings.quota = quota(CALLS_A_MINUTE, 10_000_000);
    let embedder = Arc::new(provider.embedder(settings));
    let consumers = (0..4).map(|consumer| {
        let embedder = Arc::clone(&embedder);
        tokio::spawn(async move {
            let mut num_attempts = 0;
            for part in (consumer..num_parts).step_by(4) {
                num_attempts += embed_part(&embedder, part, part_texts).await;
            }
            num_attempts
        })
    });
    let ends = futures::future::join_all(consumers).await;
    let num_attempts = ends.into_iter().map(|end| end.expect("no consumer panics")).sum();
    Work { took: provider.now(), provider, num_attempts }
}

/// Embeds a part as a consumer does. Returns the number of failures that are counted as attempts.
async fn embed_part(embedder: &HttpEmbedder, part: usize, part_texts: usize) -> u32 {
    let texts = texts(part * 10, part_texts);
    let mut num_attempts = 0;
    loop {
        let pause = match embedder.embed(InputType::Passage, &as_strs(&texts)).await {
            Ok(_) => return num_attempts,
            Err(error) => match error.kind {
                ErrorKind::Unavailable => Duration::from_secs(5),
                ErrorKind::Throttled { retry_after } => retry_after.unwrap_or(Duration::from_secs(5)),
                ErrorKind::ConnectionLost => {
                    num_attempts += 1;
                    Duration::from_secs(10)
                }
                _ => panic!("a consumer would lose the part: {error}"),
            },
        };
        tokio::time::sleep(pause).await;
    }
}

#[tokio::test(start_paused = true)]
async fn outage_loses_no_part_and_costs_few_calls() {
    // Large parts fill their calls. Three small parts share one call.
    for (num_parts, part_texts, num_calls) in [(1_200, 10, 1_200..=1_200), (3_600, 3, 1_200..=1_250)] {
        disturbed(num_parts, part_texts, num_calls).await;
    }
}

async fn disturbed(num_parts: usize, part_texts: usize, num_calls: RangeInclusive<usize>) {
    let undisturbed = work(Vec::new(), num_parts, part_texts).await;
    let mut faults = vec![Fault::None; 300];
    faults.push(Fault::Outage { ms: OUTAGE.as_millis() as u64 });
    let disturbed = work(faults, num_parts, part_texts).await;
    let (before, after) = (undisturbed.provider.provider().report(), disturbed.provider.provider().report());
    assert!(num_calls.contains(&before.num_calls), "{before:?}");
    let extra = after.num_calls - before.num_calls;
    println!("{extra} extra calls, {} attempts; {after:?}", disturbed.num_attempts);
    assert!(extra * 10 <= before.num_calls, "{extra} extra calls: {after:?}");
    assert!(
        disturbed.num_attempts <= 8,
        "{}: no failure is counted as an attempt while the breaker is open",
        disturbed.num_attempts
    );
    assert!(!after.statuses.contains_key(&429), "{after:?}");
    let lost = disturbed.took - undisturbed.took;
    println!("{lost:?} lost");
    assert!(lost <= OUTAGE + Duration::from_secs(30), "{lost:?}");
}

/// The batches of one part run together. A batch that is not allowed to make a call must not cancel the probe
/// of another batch.
#[tokio::test(start_paused = true)]
async fn large_part_recovers_after_an_outage() {
    let provider =
        VirtualProvider::new(Settings { latency: Duration::from_millis(200), ..Settings::new(Shape::Voyage) });
    provider.provider().script([
        Fault::None,
        Fault::None,
        Fault::None,
        Fault::Outage { ms: OUTAGE.as_millis() as u64 },
    ]);
    let mut settings = config(Shape::Voyage);
    settings.max_texts = Some(1);
    settings.concurrency = Some(2);
    let embedder = provider.embedder(settings);
    tokio::time::timeout(OUTAGE * 2, embed_part(&embedder, 0, 10)).await.expect("the part is embedded");
    let took = provider.now();
    println!("embedded after {took:?}");
    // Vectors that arrived before the outage are not requested again, so they are paid for only once.
    let statuses = provider.provider().report().statuses;
    assert_eq!(statuses[&200], 10, "{statuses:?}");
    assert!(took < OUTAGE + Duration::from_secs(30), "{took:?}");
}

/// The outage costs only the calls that opened the breaker, their retries, and one probe per ten seconds.
/// After the outage the full rate returns.
#[tokio::test(start_paused = true)]
async fn outage_costs_few_calls_and_full_rate_returns() {
    let mut faults = vec![Fault::None; 300];
    faults.push(Fault::Outage { ms: OUTAGE.as_millis() as u64 });
    let disturbed = work(faults, 1_200, 10).await;
    let provider = disturbed.provider.provider();
    let calls = provider.calls();
    let first = calls.iter().find(|call| call.status.is_none()).expect("an outage").at;
    let within = |from: Duration, to: Duration| calls.iter().filter(|call| call.at >= from && call.at < to).count();
    let in_outage = within(first, first + OUTAGE);
    assert!((25..=45).contains(&in_outage), "{in_outage}");
    let over = first + OUTAGE;
    let soon = Duration::from_secs(30);
    let after = within(over + soon, over + soon + Duration::from_secs(60));
    println!("{in_outage} calls in the outage, {after} in a minute after");
    assert!(after as u64 * 10 >= CALLS_A_MINUTE * 8, "{after} calls in a minute");
}
