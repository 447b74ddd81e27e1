//! Settings of the connection: the address of Qdrant, time limits, and whether searches are exact.

use std::fmt;

use secrecy::SecretString;
use serde::Deserialize;
use url::Url;

/// Maximum length of a prefix. The length is limited because Qdrant uses the names of collections as names of
/// folders.
const PREFIX_BYTES: usize = 60;
/// By default, the maximum size of a gRPC message is 4 MiB. A batch up to this limit, plus one more point,
/// must fit into a message.
const MAX_BATCH_BYTES: usize = 3 << 20;

/// Settings of the connection to Qdrant and of its collections.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QdrantConfig {
    /// URL of the gRPC port: `http://HOST:6334`, or `https://HOST:6334` with TLS.
    pub url: String,
    /// The API key. The key is empty if the server requires no key.
    #[serde(default)]
    pub api_key: SecretString,
    /// Prefix of the name of every collection. The prefix separates several installations in one Qdrant.
    #[serde(default = "default_prefix")]
    pub collection_prefix: String,
    /// If true, a search scans all vectors in its scope and returns exactly the same hits as local mode. If
    /// false, a new collection gets an HNSW index, and dense searches are approximate.
    #[serde(default = "default_exact")]
    pub exact: bool,
    /// Number of copies of each shard in a new collection.
    #[serde(default = "default_replication_factor")]
    pub replication_factor: u32,
    /// Number of copies that must apply a write before the server confirms it.
    #[serde(default = "default_write_consistency_factor")]
    pub write_consistency_factor: u32,
    /// Number of shards of a new collection.
    #[serde(default = "default_shard_number")]
    pub shard_number: u32,
    /// Time limit of one request.
    #[serde(default = "default_timeout_ms")]
    pub timeout_ms: u64,
    #[serde(default = "default_connect_timeout_ms")]
    pub connect_timeout_ms: u64,
    /// Maximum number of points per write request.
    #[serde(default = "default_max_batch_points")]
    pub max_batch_points: usize,
    /// Maximum number of bytes per write request.
    #[serde(default = "default_max_batch_bytes")]
    pub max_batch_bytes: usize,
}

fn default_prefix() -> String {
    "cairn".to_owned()
}

fn default_exact() -> bool {
    true
}

fn default_replication_factor() -> u32 {
    1
}

fn default_write_consistency_factor() -> u32 {
    1
}

fn default_shard_number() -> u32 {
    1
}

fn default_timeout_ms() -> u64 {
    30_000
}

fn default_connect_timeout_ms() -> u64 {
    5_000
}

fn default_max_batch_points() -> usize {
    500
}

fn default_max_batch_bytes() -> usize {
    2 << 20
}

/// All faults of the settings, each with advice.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InvalidQdrantConfig {
    pub faults: Vec<String>,
}

impl fmt::Display for InvalidQdrantConfig {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "invalid settings of qdrant: {}", self.faults.join("; "))
    }
}

impl std::error::Error for InvalidQdrantConfig {}

impl QdrantConfig {
    /// Returns settings for a server without authentication. All other settings have their defaults.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            api_key: SecretString::default(),
            collection_prefix: default_prefix(),
            exact: default_exact(),
            replication_factor: default_replication_factor(),
            write_consistency_factor: default_write_consistency_factor(),
            shard_number: default_shard_number(),
            timeout_ms: default_timeout_ms(),
            connect_timeout_ms: default_connect_timeout_ms(),
            max_batch_points: default_max_batch_points(),
            max_batch_bytes: default_max_batch_bytes(),
        }
    }

    /// Checks all settings and reports every fault at once.
    pub fn validate(&self) -> Result<(), InvalidQdrantConfig> {
        let mut faults = Vec::new();
        if let Some(fault) = self.url_fault() {
            faults.push(fault);
        }
        let prefix = &self.collection_prefix;
        let is_plain = prefix.chars().all(|sign| sign.is_ascii_alphanumeric() || matches!(sign, '_' | '-'));
        if prefix.is_empty() || prefix.len() > PREFIX_BYTES || !is_plain {
            faults.push(format!("`collection_prefix` must have 1 to {PREFIX_BYTES} letters, digits, `_` and `-`"));
        }
        let counts = [
            ("replication_factor", u64::from(self.replication_factor)),
            ("write_consistency_factor", u64::from(self.write_consistency_factor)),
            ("shard_number", u64::from(self.shard_number)),
            ("timeout_ms", self.timeout_ms),
            ("connect_timeout_ms", self.connect_timeout_ms),
            ("max_batch_points", self.max_batch_points as u64),
            ("max_batch_bytes", self.max_batch_bytes as u64),
        ];
        let zero = counts.iter().filter(|(_, count)| *count == 0);
        faults.extend(zero.map(|(name, _)| format!("`{name}` is 0: it must be at least 1")));
        if self.write_consistency_factor > self.replication_factor {
            let (write, copies) = (self.write_consistency_factor, self.replication_factor);
            faults.push(format!(
                "`write_consistency_factor` is {write}: it must be at most `replication_factor`, which is {copies}"
            ));
        }
        if self.max_batch_bytes > MAX_BATCH_BYTES {
            let given = self.max_batch_bytes;
            faults.push(format!("`max_batch_bytes` is {given}: it must be at most {MAX_BATCH_BYTES}"));
        }
        if faults.is_empty() { Ok(()) } else { Err(InvalidQdrantConfig { faults }) }
    }

    /// Returns the fault of the URL. The message shows no part of the URL, because without `//` even the
    /// scheme may be a password.
    fn url_fault(&self) -> Option<String> {
        let Ok(url) = Url::parse(&self.url) else {
            return Some("`url` is not a URL: set `http://HOST:6334`".to_owned());
        };
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Some(
                "`url` has no host, or its scheme is not http or https: set `http://HOST:6334` or `https://…`"
                    .to_owned(),
            );
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Some("`url` contains credentials: set the key as `api_key`".to_owned());
        }
        let is_bare = matches!(url.path(), "" | "/") && url.query().is_none() && url.fragment().is_none();
        (!is_bare).then(|| "`url` may contain only scheme, host and port".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_valid() {
        assert_eq!(QdrantConfig::new("http://localhost:6334").validate(), Ok(()));
        assert_eq!(QdrantConfig::new("https://qdrant.example:6334/").validate(), Ok(()));
    }

    #[test]
    fn all_faults_are_reported_at_once() {
        let config = QdrantConfig {
            collection_prefix: "a/b".to_owned(),
            write_consistency_factor: 2,
            timeout_ms: 0,
            max_batch_bytes: 64 << 20,
            ..QdrantConfig::new("bolt://x")
        };
        let faults = config.validate().expect_err("invalid").faults;
        for (fault, expected) in faults.iter().zip([
            "`url`",
            "`collection_prefix`",
            "`timeout_ms`",
            "`write_consistency",
            "`max_batch_bytes`",
        ]) {
            assert!(fault.starts_with(expected), "{fault}");
        }
        assert_eq!(faults.len(), 5);
    }

    #[test]
    fn secrets_are_never_displayed() {
        let config = QdrantConfig { api_key: "hidden-key".into(), ..QdrantConfig::new("http://u:hidden-key@h:1") };
        assert!(!format!("{:?}", config.api_key).contains("hidden-key"));
        assert!(!config.validate().expect_err("invalid").to_string().contains("hidden-key"));
    }

    #[test]
    fn unknown_settings_are_refused() {
        // There is no setting `read_from`, because every read uses one replica. A read from several replicas
        // would fail if one of them were unavailable. Such a read would also return incomplete lists.
        for (name, value) in [("excat", "true"), ("read_from", "\"majority\"")] {
            let text = format!(r#"{{"url": "http://h:1", "{name}": {value}}}"#);
            let error = serde_json::from_str::<QdrantConfig>(&text).expect_err("unknown");
            assert!(error.to_string().contains(name), "{error}");
        }
    }
}
