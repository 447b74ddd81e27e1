//! Settings of the adapter and their validation.

use std::collections::BTreeMap;
use std::time::Duration;

use cairn_domain::StageName;
use lapin::uri::AMQPUri;
use serde::Deserialize;

use crate::secret_url::SecretUrl;
use crate::topology::TopologyConfig;

/// Settings of the adapter.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RabbitMqConfig {
    /// `amqp://user:password@host:port/vhost` of each node of the cluster. The nodes are tried in turn.
    pub urls: Vec<SecretUrl>,
    /// `http://user:password@host:port` of the management API. `cairn topology apply` requires this URL. If
    /// the URL is set, `depth` also counts the deliveries that other processes hold.
    pub management_url: Option<SecretUrl>,
    pub topology: TopologyConfig,
    /// Maximum number of jobs of one stage that may be unsettled at the same time in this process.
    pub prefetch: u16,
    /// Values of `prefetch` for individual stages, by stage name.
    pub stage_prefetch: BTreeMap<String, u16>,
    /// Maximum number of messages of one `publish` that may be unconfirmed at the same time.
    pub publish_window: usize,
    /// `publish` fails with `Unavailable` after this time.
    pub publish_deadline_ms: u64,
    /// A confirm that takes longer is treated as lost: the channel is closed, and the message is published
    /// again.
    pub confirm_timeout_ms: u64,
    /// A peer that is silent for twice this time is treated as disconnected.
    pub heartbeat_seconds: u16,
    pub connect_timeout_ms: u64,
    /// Shortest and longest bound of the backoff before a connection or consumer is created again.
    pub backoff_min_ms: u64,
    pub backoff_max_ms: u64,
    /// The process is not ready if a connection or a consumer has been missing for this time.
    pub not_ready_after_ms: u64,
    /// The process should be restarted if a connection or a consumer has been missing for this time.
    pub dead_after_ms: u64,
}

impl Default for RabbitMqConfig {
    fn default() -> Self {
        Self {
            urls: Vec::new(),
            management_url: None,
            topology: TopologyConfig::default(),
            prefetch: 4,
            stage_prefetch: BTreeMap::new(),
            publish_window: 256,
            publish_deadline_ms: 60_000,
            confirm_timeout_ms: 10_000,
            heartbeat_seconds: 10,
            connect_timeout_ms: 10_000,
            backoff_min_ms: 100,
            backoff_max_ms: 5_000,
            not_ready_after_ms: 10_000,
            dead_after_ms: 300_000,
        }
    }
}

/// All faults that `validate` found in the settings.
#[derive(Debug, thiserror::Error)]
#[error("invalid settings of RabbitMQ: {}", .faults.join("; "))]
pub struct InvalidConfig {
    pub faults: Vec<String>,
}

impl RabbitMqConfig {
    /// Checks all settings and reports every fault at once.
    pub fn validate(&self) -> Result<(), InvalidConfig> {
        let mut faults = self.topology.faults();
        self.check_addresses(&mut faults);
        self.check_numbers(&mut faults);
        if self.stage_prefetch.keys().any(|stage| StageName::parse(stage).is_none()) {
            faults.push("`stage_prefetch` names a stage that does not exist".to_owned());
        }
        if faults.is_empty() { Ok(()) } else { Err(InvalidConfig { faults }) }
    }

    fn check_addresses(&self, faults: &mut Vec<String>) {
        if self.urls.is_empty() {
            faults.push("`urls` is empty: add `amqp://user:password@host:port/vhost` for each node".to_owned());
        }
        for url in &self.urls {
            let is_read = url.expose().parse::<AMQPUri>().is_ok();
            if url.has_scheme(&["amqps"]) {
                // TLS in lapin requires 32 more crates. Until these crates are added, `amqps` is an error,
                // because a connection must not be silently unencrypted.
                faults.push(format!("`urls`: {url} requires TLS, which this build does not support for RabbitMQ"));
            } else if !is_read || !url.has_scheme(&["amqp"]) {
                faults.push(format!("`urls`: {url} does not have the form `amqp://user:password@host:port/vhost`"));
            }
        }
        if let Some(url) = self.management_url.as_ref().filter(|url| !url.has_scheme(&["http", "https"])) {
            faults.push(format!("`management_url`: {url} does not have the form `http://user:password@host:port`"));
        }
    }

    fn check_numbers(&self, faults: &mut Vec<String>) {
        let positive = [
            ("prefetch", u64::from(self.prefetch)),
            ("publish_window", self.publish_window as u64),
            ("publish_deadline_ms", self.publish_deadline_ms),
            ("confirm_timeout_ms", self.confirm_timeout_ms),
            ("heartbeat_seconds", u64::from(self.heartbeat_seconds)),
            ("connect_timeout_ms", self.connect_timeout_ms),
            ("backoff_min_ms", self.backoff_min_ms),
        ];
        let of_stages = self.stage_prefetch.values().map(|prefetch| ("stage_prefetch", u64::from(*prefetch)));
        for (name, _) in positive.into_iter().chain(of_stages).filter(|(_, value)| *value == 0) {
            faults.push(format!("`{name}` must be at least 1"));
        }
        if self.backoff_max_ms < self.backoff_min_ms {
            faults.push("`backoff_max_ms` must be at least `backoff_min_ms`".to_owned());
        }
        if self.dead_after_ms < self.not_ready_after_ms {
            faults.push("`dead_after_ms` must be at least `not_ready_after_ms`".to_owned());
        }
    }

    pub(crate) fn prefetch_of(&self, stage: StageName) -> u16 {
        self.stage_prefetch.get(stage.as_str()).copied().unwrap_or(self.prefetch)
    }

    pub(crate) fn heartbeat(&self) -> Duration {
        Duration::from_secs(self.heartbeat_seconds.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_faults_are_reported_without_secrets() {
        let json = r#"{"urls": ["amqp://u:hunter2@h:1/v", "http://u:hunter2@h", "amqps://u:hunter2@h"], "management_url": "ftp://u:hunter2@h",
            "prefetch": 0, "stage_prefetch": {"purse": 3}, "backoff_min_ms": 9000,
            "topology": {"prefix": "a b", "retry_delays_ms": []}}"#;
        let config: RabbitMqConfig = serde_json::from_str(json).expect("the JSON is valid");
        let text = config.validate().expect_err("many faults").to_string();
        for word in [
            "requires TLS",
            "`urls`",
            "`management_url`",
            "`prefetch`",
            "`stage_prefetch` names",
            "backoff_max_ms",
            "prefix",
            "retry_delays_ms",
        ] {
            assert!(text.contains(word), "{word}: {text}");
        }
        assert!(!text.contains("hunter2") && !format!("{config:?}").contains("hunter2"), "{text}");
    }

    #[test]
    fn unknown_settings_fail_and_defaults_pass() {
        assert!(serde_json::from_str::<RabbitMqConfig>(r#"{"prefech": 3}"#).is_err());
        let config = RabbitMqConfig { urls: vec!["amqp://u:p@h/%2f".into()], ..RabbitMqConfig::default() };
        config.validate().expect("valid");
    }
}
