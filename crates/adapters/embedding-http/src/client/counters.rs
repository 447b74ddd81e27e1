//! What calls have cost.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Since the start, but for the last four, which say how it stands now. Services make metrics of them.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct EmbedderCounters {
    /// HTTP calls, retries among them.
    pub num_calls: u64,
    pub num_texts: u64,
    /// As the provider counted them.
    pub num_tokens: u64,
    /// Answers 429.
    pub num_throttled: u64,
    pub num_retries: u64,
    pub num_failed: u64,
    /// Answers that could not be right; they are among the failed.
    pub num_invalid: u64,
    /// Answers that refused the key, the model or the address: somebody has to change something.
    pub num_refused: u64,
    /// Batches that the provider called too large.
    pub num_split: u64,
    /// Texts that were cut because they were too long.
    pub num_truncated: u64,
    pub num_breaker_opened: u64,
    /// Slept for the pace or because the provider said so, added up over all calls.
    pub waited: Duration,
    pub num_under_way: u64,
    pub concurrency_limit: u64,
    pub is_broken: bool,
    /// How long the provider still wants no call.
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
