//! The settings of the pipeline.

use serde::Deserialize;

/// The lifetime of a cursor. Until a cursor expires, it reads the generation of its first page, so the grace
/// period must be longer than this lifetime. The recorded time of a publication may be too early by up to the
/// time limit of a handler, so the grace period must also include that time limit.
const CURSOR_LIFE_MS: i64 = 600_000;

/// The limits for jobs: how many run at a time, and for how long.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PipelineConfig {
    /// The number of jobs of one stage that one process runs at a time.
    pub concurrency: usize,
    /// How long a handler may write to stores after it last checked that its run is active. The handler
    /// checks three times within this time. This time must be shorter than the grace period of the sweep.
    pub deadline_seconds: u64,
    /// The maximum total time of a handler. This time must be at most two thirds of RabbitMQ's
    /// `consumer_timeout`.
    pub longest_seconds: u64,
    /// The memory that one process may use for whole repositories. Linking and finding patterns need this
    /// memory.
    pub snapshot_memory_bytes: u64,
    /// How long a stopping process may take to finish its jobs.
    pub drain_seconds: u64,
    /// The maximum number of parts of one run that are in flight.
    pub window: u32,
    /// The maximum number of runs and syncs in progress. The interactive lane may exceed this number by an
    /// eighth.
    pub runs_in_flight: usize,
    /// The duration of a sync's lease, which is renewed four times within this time. If a worker dies, the
    /// sync is started again when the lease has expired.
    pub lease_ms: i64,
    /// A sync that no worker has started is sent again after this time.
    pub sync_again_after_ms: i64,
    /// The jobs of a run that makes no progress for this time are sent again.
    pub stalled_after_ms: i64,
    /// A run that makes no progress for this time is ended as failed.
    pub reaped_after_ms: i64,
    /// How long a generation must be invisible before it is swept. This time must be at least the lifetime of
    /// a cursor plus the time limit of a handler.
    pub grace_ms: i64,
    /// The delays between the attempts of a job.
    pub retry_delays_ms: Vec<u64>,
    /// The interval at which the coordinator checks the outbox and the requests.
    pub tick_ms: u64,
    /// The interval between two sweeps.
    pub sweep_every_ms: u64,
}

impl Default for PipelineConfig {
    fn default() -> Self {
        Self {
            concurrency: 4,
            deadline_seconds: 300,
            longest_seconds: 1200,
            snapshot_memory_bytes: cairn_stages::SNAPSHOT_MEMORY_BYTES,
            drain_seconds: 60,
            window: 64,
            runs_in_flight: 256,
            lease_ms: 20_000,
            sync_again_after_ms: 30 * 60_000,
            stalled_after_ms: 5 * 60_000,
            reaped_after_ms: 6 * 3_600_000,
            grace_ms: cairn_stages::GRACE_MS,
            retry_delays_ms: vec![10_000, 60_000, 600_000, 3_600_000, 3_600_000],
            tick_ms: 500,
            sweep_every_ms: 60_000,
        }
    }
}

impl PipelineConfig {
    pub(crate) fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let positive = [
            ("concurrency", self.concurrency as u64),
            ("deadline_seconds", self.deadline_seconds),
            ("snapshot_memory_bytes", self.snapshot_memory_bytes),
            ("window", u64::from(self.window)),
            ("runs_in_flight", self.runs_in_flight as u64),
            ("tick_ms", self.tick_ms),
            ("sweep_every_ms", self.sweep_every_ms),
            ("sync_again_after_ms", self.sync_again_after_ms.max(0).unsigned_abs()),
            ("stalled_after_ms", self.stalled_after_ms.max(0).unsigned_abs()),
            ("reaped_after_ms", self.reaped_after_ms.max(0).unsigned_abs()),
        ];
        for (name, _) in positive.into_iter().filter(|(_, value)| *value == 0) {
            faults.push(format!("`{name}` must be at least 1"));
        }
        if self.longest_seconds < self.deadline_seconds {
            faults.push("`longest_seconds` must be at least `deadline_seconds`".to_owned());
        }
        if self.lease_ms < 1_000 {
            faults.push("`lease_ms` must be at least 1000".to_owned());
        }
        if self.grace_ms < (self.deadline_seconds * 1_000) as i64 + CURSOR_LIFE_MS {
            faults.push(
                "`grace_ms` must be at least the sum of `deadline_seconds` and the lifetime of a cursor (ten minutes)"
                    .to_owned(),
            );
        }
        faults
    }
}
