//! Checks the settings and reports their faults.

use url::Url;

use super::{EmbeddingHttpConfig, ProviderKind, Share};

/// Invalid settings, with all their faults.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("invalid settings of the embedding provider: {}", faults.join("; "))]
pub struct InvalidConfig {
    pub faults: Vec<String>,
}

impl EmbeddingHttpConfig {
    /// Checks all settings and reports all faults at once.
    pub fn validate(&self, share: Share) -> Result<(), InvalidConfig> {
        let mut faults = Vec::new();
        let mut check = |is_right: bool, fault: &str| {
            if !is_right {
                faults.push(fault.to_owned());
            }
        };
        check(!self.model.trim().is_empty(), "`model` is empty");
        check(self.dimensions > 0, "`dimensions` must not be 0");
        check((1..=127_000).contains(&self.scale()), "`scale` must be between 1 and 127000");
        check(self.max_texts() > 0, "`max_texts` must not be 0");
        check(self.max_text_tokens() > 0, "`max_text_tokens` must not be 0");
        check(self.max_text_tokens() <= self.max_tokens(), "`max_text_tokens` must not exceed `max_tokens`");
        check(self.concurrency != Some(0), "`concurrency` must not be 0");
        check(
            self.call_timeout_ms > 0 && self.connect_timeout_ms > 0 && self.read_timeout_ms > 0,
            "timeouts must not be 0",
        );
        let needs_key = self.provider != ProviderKind::Tei && self.url.is_none();
        check(!needs_key || self.api_key.is_some(), "`api_key` is missing: set `env` or `file`");
        faults.extend(self.url_faults());
        faults.extend(self.quota_faults(share));
        if faults.is_empty() { Ok(()) } else { Err(InvalidConfig { faults }) }
    }

    /// Returns the faults of `url`. The messages do not show the address, because it may contain a credential
    /// by mistake.
    fn url_faults(&self) -> Vec<String> {
        let Some(text) = self.url_text() else {
            return vec!["`url` is missing: TEI has no default address".to_owned()];
        };
        let Ok(url) = Url::parse(text) else { return vec!["`url` is not a URL".to_owned()] };
        let mut faults = Vec::new();
        if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
            faults.push("`url` must not contain credentials or a query: use `api_key`".to_owned());
        }
        if self.provider == ProviderKind::Tei && url.path().trim_end_matches('/').ends_with("/v1/embeddings") {
            faults.push("`url` of `tei` must have the route `/embed`; `/v1/embeddings` is for `openai`".to_owned());
        }
        match url.scheme() {
            "https" => {}
            "http" if self.allow_http => {}
            "http" => faults.push("`url` has no TLS: use https, or set `allow_http`".to_owned()),
            _ => faults.push("`url` must be https".to_owned()),
        }
        faults
    }

    fn quota_faults(&self, share: Share) -> Vec<String> {
        let quota = &self.quota;
        let mut faults = Vec::new();
        let mut check = |is_right: bool, fault: &str| {
            if !is_right {
                faults.push(fault.to_owned());
            }
        };
        let is_public = self.provider != ProviderKind::Tei && self.url.is_none();
        let is_limited = quota.requests_per_minute.is_some() && quota.tokens_per_minute.is_some();
        check(
            !is_public || is_limited,
            "`quota.requests_per_minute` and `quota.tokens_per_minute` are missing: see the provider's page for the limits of your key",
        );
        check((1_000..=3_600_000).contains(&quota.window_ms), "`quota.window_ms` must be between 1000 and 3600000");
        check(quota.guard_ms <= quota.window_ms, "`quota.guard_ms` must not exceed `quota.window_ms`");
        check(quota.headroom_percent <= 50, "`quota.headroom_percent` must not exceed 50");
        check(quota.questions_percent <= 90, "`quota.questions_percent` must not exceed 90");
        check(
            !matches!(share, Share::Questions { processes: 0 }),
            "the number of processes that share the quota of questions must not be 0",
        );
        let of_share = self.quota(share);
        for (limit, name) in [(of_share.requests, "requests_per_minute"), (of_share.tokens, "tokens_per_minute")] {
            check(
                limit.is_none_or(|limit| (1..=u64::from(u32::MAX)).contains(&limit)),
                &format!("this process's share of `quota.{name}` must be between 1 and 4294967295"),
            );
        }
        faults
    }
}
