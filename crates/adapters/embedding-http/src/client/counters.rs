//! Counts the calls, and the texts and tokens that the calls send.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Numbers that are counted from the start of the process. Only the last four fields are current values.
/// Services export all fields as metrics.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct EmbedderCounters {
    /// HTTP calls, including retries.
    pub num_calls: u64,
    pub num_texts: u64,
    /// Number of tokens that the provider reports.
    pub num_tokens: u64,
    /// Replies with status 429.
    pub num_throttled: u64,
    pub num_retries: u64,
    pub num_failed: u64,
    /// Invalid replies. A call with an invalid reply is also counted as a failed call.
    pub num_invalid: u64,
    /// Replies in which the provider refuses the key, the model or the address. The operator has to change
    /// the configuration.
    pub num_refused: u64,
    /// Batches that the provider rejected as too large.
    pub num_split: u64,
    /// Texts that were cut because they were too long.
    pub num_truncated: u64,
    pub num_breaker_opened: u64,
    /// Time that calls waited for the pace of this client or for the provider's `Retry-After`, summed over
    /// all calls.
    pub waited: Duration,
    pub num_in_progress: u64,
    pub concurrency_limit: u64,
    pub is_broken: bool,
    /// Remaining time for which the provider forbids calls.
    pub throttled_for: Duration,
}

#[derive(Default, Debug)]
pub(super) struct Counts {
    pub calls: Count,
    pub texts: Count,
    pub tokens: Count,
    pub throttled: Count,
    pub retries: Count,
    pub failed: Count,
    pub invalid: Count,
    pub refused: Count,
    pub split: Count,
    pub truncated: Count,
    pub waited_ms: Count,
}

#[derive(Default, Debug)]
pub(super) struct Count(AtomicU64);

impl Count {
    pub(super) fn add(&self, number: u64) {
        self.0.fetch_add(number, Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Counts {
    pub(super) fn snapshot(&self) -> EmbedderCounters {
        EmbedderCounters {
            num_calls: self.calls.get(),
            num_texts: self.texts.get(),
            num_tokens: self.tokens.get(),
            num_throttled: self.throttled.get(),
            num_retries: self.retries.get(),
            num_failed: self.failed.get(),
            num_invalid: self.invalid.get(),
            num_refused: self.refused.get(),
            num_split: self.split.get(),
            num_truncated: self.truncated.get(),
            waited: Duration::from_millis(self.waited_ms.get()),
            ..EmbedderCounters::default()
        }
    }
}
