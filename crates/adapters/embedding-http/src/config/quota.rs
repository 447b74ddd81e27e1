//! The quota of a key, and the part of it that a process may use.

use std::time::Duration;

use serde::Deserialize;

use super::{EmbeddingHttpConfig, ProviderKind};
use crate::control::{ControlSettings, Quota};

/// The quota of the key.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct QuotaConfig {
    /// Limits that the provider states. If a limit is not set, the quantity is unlimited.
    pub requests_per_minute: Option<u64>,
    pub tokens_per_minute: Option<u64>,
    /// Length of the window for both limits.
    pub window_ms: u64,
    /// The real window of the provider may be longer than `window_ms` by at most this time.
    pub guard_ms: u64,
    /// Percentage of the quota that stays unused, for texts with more tokens than estimated.
    pub headroom_percent: u8,
    /// Percentage of the quota that is reserved for questions.
    pub questions_percent: u8,
    /// Time for which a new owner of the key makes no call. Any value is safe if the previous owner has
    /// really ended: see `control::Limiter::take_over`. Default: one window.
    pub takeover_wait_ms: Option<u64>,
}

impl Default for QuotaConfig {
    fn default() -> Self {
        Self {
            requests_per_minute: None,
            tokens_per_minute: None,
            window_ms: 60_000,
            guard_ms: 1_000,
            headroom_percent: 2,
            questions_percent: 10,
            takeover_wait_ms: None,
        }
    }
}

/// The part of the key's quota that a process may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Share {
    /// The whole quota: passages do not use the questions' share, and questions may use everything.
    Whole,
    /// The whole quota except the questions' share, which other processes use.
    Passages,
    /// The questions' share, divided among this number of processes.
    Questions { processes: u32 },
}

impl EmbeddingHttpConfig {
    pub(crate) fn takeover_wait(&self) -> Duration {
        Duration::from_millis(self.quota.takeover_wait_ms.unwrap_or(self.quota.window_ms))
    }

    pub(crate) fn control(&self, share: Share) -> ControlSettings {
        let usual = if self.provider == ProviderKind::Tei { None } else { Some(8) };
        ControlSettings {
            quota: self.quota(share),
            concurrency: self.concurrency.or(usual),
            max_concurrency: 200,
            max_retry_after: Duration::from_millis(self.max_retry_after_ms),
        }
    }

    pub(super) fn quota(&self, share: Share) -> Quota {
        let questions_percent = u64::from(self.quota.questions_percent);
        let of = |limit: u64| match share {
            Share::Whole => limit,
            Share::Passages => limit - limit * questions_percent / 100,
            Share::Questions { processes } => limit * questions_percent / 100 / u64::from(processes.max(1)),
        };
        Quota {
            requests: self.quota.requests_per_minute.map(of),
            tokens: self.quota.tokens_per_minute.map(of),
            window: Duration::from_millis(self.quota.window_ms),
            guard: Duration::from_millis(self.quota.guard_ms),
            headroom_percent: self.quota.headroom_percent,
            questions_percent: if share == Share::Whole { self.quota.questions_percent } else { 0 },
            largest_text: self.max_text_tokens(),
        }
    }
}
