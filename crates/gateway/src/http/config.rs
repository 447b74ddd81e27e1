//! The settings of the query service's HTTP interface.

use std::time::Duration;

use serde::Deserialize;

use crate::auth::LimitsConfig;

#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GatewayConfig {
    /// Host names of the service (`name` or `name:port`). Requests with any other `Host` are refused, so that
    /// a page of another site cannot reach the service by DNS rebinding.
    pub allowed_hosts: Vec<String>,
    /// Allowed origins of web pages, e.g. `https://cairn.example.org`. Clients other than browsers send no
    /// origin and are allowed.
    pub allowed_origins: Vec<String>,
    pub request_timeout_ms: u64,
    /// The timeout of questions that read all stored records: fingerprints, samples and secrets.
    pub long_request_timeout_ms: u64,
    pub body_limit_bytes: usize,
    pub mcp_body_limit_bytes: usize,
    pub header_limit_bytes: usize,
    /// The maximum time for which a revoked key remains valid.
    pub key_cache_ms: u64,
    pub limits: LimitsConfig,
}

impl Default for GatewayConfig {
    fn default() -> Self {
        Self {
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            request_timeout_ms: 5_000,
            long_request_timeout_ms: 60_000,
            body_limit_bytes: 1 << 20,
            mcp_body_limit_bytes: 4 << 20,
            header_limit_bytes: 16 << 10,
            key_cache_ms: 3_000,
            limits: LimitsConfig::default(),
        }
    }
}

/// The upper bound of `key_cache_ms`.
const MAX_KEY_CACHE_MS: u64 = 10_000;

impl GatewayConfig {
    /// Returns all faults together.
    pub fn validate(&self) -> Result<(), Vec<String>> {
        let mut faults = Vec::new();
        let mut check = |is_well: bool, fault: &str| {
            if !is_well {
                faults.push(fault.to_owned());
            }
        };
        check(!self.allowed_hosts.is_empty(), "`allowed_hosts` is empty: list the host names of the service");
        check(
            self.allowed_hosts.iter().all(|host| is_host(host)),
            "each entry of `allowed_hosts` must have the form `name` or `name:port`",
        );
        check(
            self.allowed_origins.iter().all(|origin| is_origin(origin)),
            "each entry of `allowed_origins` must have the form `https://name` or `https://name:port`, without a path",
        );
        for (name, value) in [
            ("request_timeout_ms", self.request_timeout_ms),
            ("long_request_timeout_ms", self.long_request_timeout_ms),
            ("body_limit_bytes", self.body_limit_bytes as u64),
            ("mcp_body_limit_bytes", self.mcp_body_limit_bytes as u64),
            ("header_limit_bytes", self.header_limit_bytes as u64),
            ("limits.requests_per_minute", self.limits.requests_per_minute.into()),
            ("limits.burst", self.limits.burst.into()),
            ("limits.concurrency", self.limits.concurrency.into()),
        ] {
            check(value > 0, &format!("`{name}` must be at least 1"));
        }
        check(
            self.key_cache_ms <= MAX_KEY_CACHE_MS,
            "`key_cache_ms` must be at most 10000, so that a revoked key stops working soon",
        );
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    pub(super) fn time_for(&self, is_long: bool) -> Duration {
        Duration::from_millis(if is_long { self.long_request_timeout_ms } else { self.request_timeout_ms })
    }

    /// Whether the name is a host name of the service, with or without a port.
    pub(super) fn allows_host(&self, given: &str) -> bool {
        let name = without_port(given);
        self.allowed_hosts.iter().any(|host| host.eq_ignore_ascii_case(given) || host.eq_ignore_ascii_case(name))
    }

    pub(super) fn allows_origin(&self, given: &str) -> bool {
        self.allowed_origins.iter().any(|origin| origin.eq_ignore_ascii_case(given))
    }
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

fn is_host(host: &str) -> bool {
    !host.is_empty() && !host.contains(['/', '*', ' ', '@'])
}

fn is_origin(origin: &str) -> bool {
    let host = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
    host.is_some_and(is_host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_faults_are_reported_at_once() {
        let config = GatewayConfig {
            allowed_origins: vec!["cairn.example.org".to_owned()],
            request_timeout_ms: 0,
            key_cache_ms: 60_000,
            ..GatewayConfig::default()
        };
        let faults = config.validate().expect_err("faults");
        assert_eq!(faults.len(), 4, "{faults:?}");
        let config = GatewayConfig { allowed_hosts: vec!["localhost".to_owned()], ..GatewayConfig::default() };
        config.validate().expect("no fault");
    }

    #[test]
    fn allowed_hosts_match_with_or_without_port() {
        let allowed_hosts = vec!["cairn.example.org".to_owned(), "[::1]".to_owned(), "other:81".to_owned()];
        let config = GatewayConfig { allowed_hosts, ..GatewayConfig::default() };
        let check = |host: &str, expect| assert_eq!(config.allows_host(host), expect, "{host}");
        check("cairn.example.org", true);
        check("CAIRN.example.org:8080", true);
        check("[::1]:8080", true);
        check("other:81", true);
        check("other:82", false);
        check("other", false);
        check("evil.org", false);
        check("cairn.example.org.evil.org", false);
        check("", false);
    }
}
