//! A key's quota, and what part of it a process may use.

use std::time::Duration;

use serde::Deserialize;

use super::{EmbeddingHttpConfig, ProviderKind};
use crate::control::{ControlSettings, Quota};

/// What the key may use.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct QuotaConfig {
    /// As the provider states them; not set means not limited.
    pub requests_per_minute: Option<u64>,
    pub tokens_per_minute: Option<u64>,
    /// Another length of the window that both count for.
    pub window_ms: u64,
    /// How much longer than the window the provider may count.
    pub guard_ms: u64,
    /// Left unused, for texts with more tokens than estimated.
    pub headroom_percent: u8,
    /// Kept for questions.
    pub questions_percent: u8,
    /// How long a process that becomes the key's owner makes no call. Safe however short, if the owner before is really
    /// gone: see `control::Limiter::take_over`. One window if not set.
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

/// What part of the key's quota a process may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Share {
    /// All of it: passages leave the questions' share alone, questions may use everything.
    Whole,
    /// All but the questions' share, which other processes use.
    Passages,
    /// The questions' share, divided among so many processes.
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
        let questions = u64::from(self.quota.questions_percent);
        let of = |limit: u64| match share {
            Share::Whole => limit,
            Share::Passages => limit - limit * questions / 100,
            Share::Questions { processes } => limit * questions / 100 / u64::from(processes.max(1)),
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
