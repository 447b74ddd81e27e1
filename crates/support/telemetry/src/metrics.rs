//! Metrics of a process, in Prometheus' text form.

use std::sync::LazyLock;

pub use prometheus::IntCounter;
use prometheus::{HistogramVec, IntCounterVec, IntGauge, IntGaugeVec, TextEncoder};
use prometheus::{register_histogram_vec, register_int_counter_vec, register_int_gauge, register_int_gauge_vec};

/// Jobs by stage and by the answer that the broker got.
pub static JOBS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    let counter = register_int_counter_vec!("cairn_jobs_total", "Jobs worked on.", &["stage", "answer"]);
    counter.expect("registered once")
});

/// How long a job was worked on, by stage.
pub static JOB_SECONDS: LazyLock<HistogramVec> = LazyLock::new(|| {
    let buckets = vec![0.005, 0.02, 0.1, 0.5, 2.0, 10.0, 60.0, 300.0];
    register_histogram_vec!("cairn_job_seconds", "Time from delivery to answer.", &["stage"], buckets)
        .expect("registered once")
});

/// Jobs in hand, by stage.
pub static JOBS_IN_HAND: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    register_int_gauge_vec!("cairn_jobs_in_hand", "Jobs being worked on.", &["stage"]).expect("registered once")
});

/// Keys of providers that this process owns.
pub static OWNED_KEYS: LazyLock<IntGauge> = LazyLock::new(|| {
    register_int_gauge!("cairn_owned_keys", "Keys of providers that this process owns.").expect("registered once")
});

/// What the coordinator did, by kind: relayed jobs, dispatched syncs, stalled and reaped runs, swept generations.
pub static COORDINATED: LazyLock<IntCounterVec> = LazyLock::new(|| {
    register_int_counter_vec!("cairn_coordinated_total", "What the coordinator did.", &["what"])
        .expect("registered once")
});

/// What happened between this process and the broker, by kind: messages published, returned (no queue takes them: an alert belongs
/// on it), refused (the queue is full), unconfirmed (published again), delivered; connections and consumers that were attached.
pub static BROKER: LazyLock<IntCounterVec> = LazyLock::new(|| {
    register_int_counter_vec!("cairn_broker_total", "What happened between this process and the broker.", &["what"])
        .expect("registered once")
});

/// Everything that was registered, as text.
pub fn text() -> String {
    // Metrics of ours are sound; an unreadable one would be left out.
    TextEncoder::new().encode_to_string(&prometheus::gather()).unwrap_or_default()
}
