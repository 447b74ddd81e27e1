//! The metrics of a process, in Prometheus' text format.
//!
//! A service creates its time series at start with the value zero, because rates and alerts need a series
//! that exists before the first event. Each module that counts events creates the series for all labels that
//! it uses.

use std::sync::LazyLock;

use prometheus::core::{Collector, Desc};
use prometheus::proto::MetricFamily;
use prometheus::{HistogramVec, IntCounterVec, IntGaugeVec, TextEncoder};
pub use prometheus::{IntCounter, IntGauge};
use prometheus::{register_histogram_vec, register_int_counter_vec, register_int_gauge, register_int_gauge_vec};

/// The number of processed jobs, by stage and by the answer to the broker.
pub static JOBS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    let counter = register_int_counter_vec!("cairn_jobs_total", "Jobs processed.", &["stage", "answer"]);
    counter.expect("registered once")
});

/// The processing time of a job, by stage.
pub static JOB_SECONDS: LazyLock<HistogramVec> = LazyLock::new(|| {
    let buckets = vec![0.005, 0.02, 0.1, 0.5, 2.0, 10.0, 60.0, 300.0];
    register_histogram_vec!("cairn_job_seconds", "Time from the delivery of a job to its answer.", &["stage"], buckets)
        .expect("registered once")
});

/// The number of jobs in progress, by stage.
pub static JOBS_IN_HAND: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    register_int_gauge_vec!("cairn_jobs_in_hand", "Jobs in progress.", &["stage"]).expect("registered once")
});

/// The number of keys that this process owns: keys of providers, or the coordinator's key.
pub static OWNED_KEYS: LazyLock<IntGauge> = LazyLock::new(|| {
    register_int_gauge!("cairn_owned_keys", "Keys of providers that this process owns.").expect("registered once")
});

/// The number of actions of the coordinator, by kind: relayed jobs, dispatched syncs, stalled and reaped
/// runs, swept generations.
pub static COORDINATED: LazyLock<IntCounterVec> = LazyLock::new(|| {
    register_int_counter_vec!("cairn_coordinated_total", "Actions of the coordinator.", &["what"])
        .expect("registered once")
});

/// The number of answered requests, by route and status.
pub static REQUESTS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    register_int_counter_vec!("cairn_requests_total", "Answered requests.", &["route", "status"])
        .expect("registered once")
});

/// The time until a request is answered, by route.
pub static REQUEST_SECONDS: LazyLock<HistogramVec> = LazyLock::new(|| {
    let buckets = vec![0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0];
    register_histogram_vec!(
        "cairn_request_seconds",
        "Time from the head of a request to its answer.",
        &["route"],
        buckets
    )
    .expect("registered once")
});

/// The number of requests that are not answered yet.
pub static REQUESTS_IN_HAND: LazyLock<IntGauge> =
    LazyLock::new(|| register_int_gauge!("cairn_requests_in_hand", "Requests in progress.").expect("registered once"));

/// The number of open connections of callers. The setting `max_connections` of the query service limits this
/// number.
pub static CONNECTIONS: LazyLock<IntGauge> = LazyLock::new(|| {
    register_int_gauge!("cairn_connections", "Open connections of callers.").expect("registered once")
});

/// Events between this process and the broker, by kind. The kinds for messages are `published`, `returned`
/// (no queue accepts the message; set an alert for this kind), `refused` (the queue is full), `unconfirmed`
/// (the message is published again) and `delivered`. The kind `attached` counts new connections and
/// consumers.
pub static BROKER: LazyLock<IntCounterVec> = LazyLock::new(|| {
    register_int_counter_vec!("cairn_broker_total", "Events between this process and the broker.", &["what"])
        .expect("registered once")
});

/// The state of the connection to the broker: whether both connections exist, whether an alarm of the broker
/// stops publishing (set an alert for this gauge), how many consumers are attached, and how many should be
/// attached.
pub const BROKER_GAUGES: [Reading; 4] = [
    ("cairn_broker_connected", "1 while both connections to the broker are up.", Kind::Gauge),
    ("cairn_broker_blocked", "1 while an alarm of the broker stops publishing.", Kind::Gauge),
    ("cairn_broker_consumers_attached", "Consumers that are attached.", Kind::Gauge),
    ("cairn_broker_consumers_wanted", "Consumers that should be attached.", Kind::Gauge),
];

/// The kind of a value that another component maintains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The number only increases.
    Counter,
    /// The number is a current value.
    Gauge,
}

/// A value that another component maintains: the metric name, the help text and the kind of the value.
pub type Reading = (&'static str, &'static str, Kind);

/// Exports values that another component maintains. `read` is called at each scrape, and returns one value
/// for each of the `readings`, in the same order. If a name is exported twice in a process, the first export
/// stays in effect.
pub fn export(readings: &[Reading], read: impl Fn() -> Vec<u64> + Send + Sync + 'static) {
    let metrics = readings.iter().filter_map(|(name, help, kind)| match kind {
        Kind::Counter => IntCounter::new(*name, *help).ok().map(Exported::Counter),
        Kind::Gauge => IntGauge::new(*name, *help).ok().map(Exported::Gauge),
    });
    let _ = prometheus::register(Box::new(Readings { metrics: metrics.collect(), read: Box::new(read) }));
}

enum Exported {
    Counter(IntCounter),
    Gauge(IntGauge),
}

struct Readings {
    metrics: Vec<Exported>,
    read: Box<dyn Fn() -> Vec<u64> + Send + Sync>,
}

impl Collector for Readings {
    fn desc(&self) -> Vec<&Desc> {
        let mut descriptions = Vec::new();
        for metric in &self.metrics {
            descriptions.extend(match metric {
                Exported::Counter(counter) => counter.desc(),
                Exported::Gauge(gauge) => gauge.desc(),
            });
        }
        descriptions
    }

    fn collect(&self) -> Vec<MetricFamily> {
        let mut families = Vec::new();
        for (metric, value) in self.metrics.iter().zip((self.read)()) {
            match metric {
                Exported::Counter(counter) => {
                    counter.inc_by(value.saturating_sub(counter.get()));
                    families.extend(counter.collect());
                }
                Exported::Gauge(gauge) => {
                    gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
                    families.extend(gauge.collect());
                }
            }
        }
        families
    }
}

/// All registered metrics, as text.
pub fn text() -> String {
    // Cairn's metrics can always be encoded. If a metric could not be encoded, the text would be empty.
    TextEncoder::new().encode_to_string(&prometheus::gather()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn exported_numbers_are_read_on_each_scrape() {
        let calls = Arc::new(AtomicU64::new(3));
        let readings =
            [("test_calls_total", "Calls.", Kind::Counter), ("test_under_way", "Calls under way.", Kind::Gauge)];
        let counted = Arc::clone(&calls);
        export(&readings, move || vec![counted.load(Ordering::Relaxed), 7 - counted.load(Ordering::Relaxed)]);
        let shown = |line: &str| text().lines().any(|shown| shown == line);
        assert!(shown("test_calls_total 3") && shown("test_under_way 4"), "{}", text());
        calls.store(5, Ordering::Relaxed);
        assert!(shown("test_calls_total 5") && shown("test_under_way 2"), "{}", text());
    }
}
