//! The address of the server, time limits, and other settings of the connection.

use std::fmt;

use secrecy::SecretString;
use serde::Deserialize;
use url::Url;

/// Maximum length of a namespace. Names of constraints contain the namespace and must stay readable.
const NAMESPACE_BYTES: usize = 40;

/// Settings of the connection to Neo4j.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Neo4jConfig {
    /// URL of the primary that accepts writes: `bolt://HOST:PORT`, or `bolt+s://HOST:PORT` with TLS.
    pub url: String,
    #[serde(default = "default_user")]
    pub user: String,
    #[serde(default)]
    pub password: SecretString,
    /// Separates several installations in one database. The namespace becomes the suffix of every label. The
    /// namespace may contain letters, digits and `_`.
    #[serde(default)]
    pub namespace: String,
    #[serde(default = "default_max_connections")]
    pub max_connections: usize,
    /// Maximum time for a statement, and for opening a connection.
    #[serde(default = "default_timeout_ms")]
    pub timeout_ms: u64,
    /// After conflicts and lost connections, a transaction is retried for at most this time.
    #[serde(default = "default_retry_deadline_ms")]
    pub retry_deadline_ms: u64,
}

fn default_user() -> String {
    "neo4j".to_owned()
}

fn default_max_connections() -> usize {
    16
}

fn default_timeout_ms() -> u64 {
    30_000
}

fn default_retry_deadline_ms() -> u64 {
    30_000
}

/// All faults of the settings, each with advice.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InvalidNeo4jConfig {
    pub faults: Vec<String>,
}

impl fmt::Display for InvalidNeo4jConfig {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "invalid settings of neo4j: {}", self.faults.join("; "))
    }
}

impl std::error::Error for InvalidNeo4jConfig {}

impl Neo4jConfig {
    /// Returns a config for the URL; all other settings have their defaults. If the URL contains a user and a
    /// password, they are moved to the settings `user` and `password`.
    pub fn new(url: &str) -> Self {
        let mut address = Url::parse(url);
        let (mut user, mut password) = (default_user(), SecretString::default());
        if let Ok(address) = &mut address
            && !address.username().is_empty()
        {
            user = address.username().to_owned();
            password = address.password().unwrap_or_default().into();
            // These calls cannot fail, because a URL with a user has a host.
            let _ = address.set_username("").and_then(|()| address.set_password(None));
        }
        Self {
            url: address.map_or_else(|_| url.to_owned(), |address| address.to_string()),
            user,
            password,
            namespace: String::new(),
            max_connections: default_max_connections(),
            timeout_ms: default_timeout_ms(),
            retry_deadline_ms: default_retry_deadline_ms(),
        }
    }

    /// Checks all settings and reports every fault at once.
    pub fn validate(&self) -> Result<(), InvalidNeo4jConfig> {
        let mut faults = url_faults(&self.url);
        let is_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
        if !self.namespace.chars().all(is_name) || self.namespace.len() > NAMESPACE_BYTES {
            faults.push(format!(
                "`namespace` may have at most {NAMESPACE_BYTES} characters, and only letters (A-Z, a-z), digits and `_`"
            ));
        }
        let numbers = [
            ("max_connections", self.max_connections as u64),
            ("timeout_ms", self.timeout_ms),
            ("retry_deadline_ms", self.retry_deadline_ms),
        ];
        for (name, value) in numbers {
            if value == 0 {
                faults.push(format!("`{name}` must be at least 1"));
            }
        }
        if faults.is_empty() { Ok(()) } else { Err(InvalidNeo4jConfig { faults }) }
    }
}

/// Returns the faults of the URL. The messages do not repeat the URL, because it may contain a password.
fn url_faults(text: &str) -> Vec<String> {
    let url = match Url::parse(text) {
        Ok(url) => url,
        Err(error) => return vec![format!("`url` is not a URL ({error}): set bolt://HOST:7687")],
    };
    let mut faults = Vec::new();
    match url.scheme() {
        "bolt" | "bolt+s" => {}
        "neo4j" | "neo4j+s" | "neo4j+ssc" => faults.push(
            "`url` requests routing (neo4j://), which is not supported: set the address of the primary, bolt://HOST:7687"
                .to_owned(),
        ),
        // The message does not contain the scheme. In a URL without `//`, the scheme may be a user or a
        // password.
        _ => faults.push("`url` must have the scheme bolt: set bolt://HOST:7687".to_owned()),
    }
    if url.host_str().is_none_or(str::is_empty) {
        faults.push("`url` has no host: set bolt://HOST:7687".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        faults.push("`url` contains credentials: move them to `user` and `password`".to_owned());
    }
    faults
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    fn check(change: impl FnOnce(&mut Neo4jConfig), expect: &[&str]) {
        let mut config = Neo4jConfig::new("bolt://localhost:7687");
        change(&mut config);
        let faults = config.validate().map_or_else(|invalid| invalid.faults, |()| Vec::new());
        assert_eq!(faults.len(), expect.len(), "{faults:?}");
        for (fault, part) in faults.iter().zip(expect) {
            assert!(fault.contains(part), "`{fault}` does not contain `{part}`");
        }
    }

    #[test]
    fn every_fault_is_reported_with_advice() {
        check(|_| {}, &[]);
        check(|config| config.url = "bolt+s://graph.example:7687".to_owned(), &[]);
        check(|config| config.url = "neo4j://localhost:7687".to_owned(), &["set the address of the primary, bolt://"]);
        check(|config| config.url = "http://localhost:7474".to_owned(), &["must have the scheme"]);
        check(|config| config.url = "localhost".to_owned(), &["is not a URL"]);
        check(|config| config.url = "bolt://neo4j:pass@localhost".to_owned(), &["contains credentials"]);
        check(|config| config.namespace = "a-b".to_owned(), &["`namespace`"]);
        check(|config| config.namespace = "x".repeat(41), &["`namespace`"]);
        check(
            |config| {
                config.url = "neo4j://a:b@localhost".to_owned();
                config.max_connections = 0;
                config.timeout_ms = 0;
                config.retry_deadline_ms = 0;
            },
            &["routing", "credentials", "max_connections", "timeout_ms", "retry_deadline_ms"],
        );
    }

    #[test]
    fn password_is_never_displayed() {
        let mut config = Neo4jConfig::new("neo4j://x:hunter2@y");
        assert_eq!((config.user.as_str(), config.password.expose_secret()), ("x", "hunter2"));
        let shown = format!("{config:?} {}", config.validate().expect_err("routing is refused"));
        assert!(!shown.contains("hunter2"), "{shown}");
        config.url = "neo4j://x:hunter2@y".to_owned();
        let shown = config.validate().expect_err("routing is refused").to_string();
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}
