//! The settings of the query service.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::{Context, ensure};
use cairn_gateway::http::GatewayConfig;
use cairn_search::CursorKey;
use serde::Deserialize;

const KEY_BYTES: usize = 32;

/// The section `[query]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueryConfig {
    /// The address on which questions are accepted, over plain HTTP. A proxy in front of the service
    /// terminates TLS.
    #[serde(default = "default_listen")]
    pub listen: SocketAddr,
    /// A file with 64 hexadecimal digits. All replicas must have the same key; otherwise a replica cannot
    /// read the cursors of another replica.
    pub cursor_key_file: PathBuf,
    /// The maximum number of replicas. The replicas share the part of a provider's quota that is reserved for
    /// questions.
    #[serde(default = "default_processes")]
    pub processes: u32,
    #[serde(default = "default_max_connections")]
    pub max_connections: usize,
    /// For this time, questions share one read of the repositories and their published states. Therefore a
    /// question may see a state that is up to this time old.
    #[serde(default = "default_state_cache_ms")]
    pub state_cache_ms: u64,
    /// The permitted hosts and origins, and the limits for callers.
    #[serde(default)]
    pub gateway: GatewayConfig,
}

fn default_listen() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 8080))
}

/// The default number of replicas.
pub const DEFAULT_PROCESSES: u32 = 4;

fn default_processes() -> u32 {
    DEFAULT_PROCESSES
}

fn default_max_connections() -> usize {
    1024
}

/// The maximum value of `state_cache_ms`, which is also its default.
const MAX_STATE_CACHE_MS: u64 = 1_000;

fn default_state_cache_ms() -> u64 {
    MAX_STATE_CACHE_MS
}

impl QueryConfig {
    pub(crate) fn faults(&self) -> Vec<String> {
        let mut faults = self.gateway.validate().err().unwrap_or_default();
        let positive = [("processes", u64::from(self.processes)), ("max_connections", self.max_connections as u64)];
        for (name, _) in positive.into_iter().filter(|(_, value)| *value == 0) {
            faults.push(format!("`{name}` must be at least 1"));
        }
        if self.state_cache_ms > MAX_STATE_CACHE_MS {
            faults.push(format!("`state_cache_ms` must be at most {MAX_STATE_CACHE_MS}"));
        }
        faults
    }

    /// Reads the key that encrypts cursors.
    pub fn cursor_key(&self) -> anyhow::Result<CursorKey> {
        let path = self.cursor_key_file.display();
        let text = fs::read_to_string(&self.cursor_key_file)
            .with_context(|| format!("cannot read `{path}` ([query] cursor_key_file)"))?;
        let digits = text.trim();
        let is_key = digits.len() == 2 * KEY_BYTES && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        ensure!(
            is_key,
            "`{path}` must contain {} hex digits: `openssl rand -hex {KEY_BYTES}` creates them",
            2 * KEY_BYTES
        );
        let mut key = [0; KEY_BYTES];
        for (byte, pair) in key.iter_mut().zip(digits.as_bytes().chunks(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(pair)?, 16)?;
        }
        Ok(CursorKey(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_complete_key_is_accepted() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let read = |text: &str| {
            fs::write(file.path(), text).expect("written");
            let config = format!("cursor_key_file = '{}'", file.path().display());
            toml::from_str::<QueryConfig>(&config).expect("settings").cursor_key()
        };
        assert_eq!(read(&("0f".repeat(32) + "\n")).expect("a key").0, [15; 32]);
        for text in ["", "0f", &"0g".repeat(32), &"0f".repeat(33)] {
            let error = read(text).expect_err("no key").to_string();
            assert!(error.contains("64 hex digits") && (text.is_empty() || !error.contains(text)), "{error}");
        }
    }
}
