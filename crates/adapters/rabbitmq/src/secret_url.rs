//! An address with credentials in it, which shows itself without them.

use std::fmt;

use serde::Deserialize;
use url::Url;

/// Only [`SecretUrl::expose`] gives the credentials away; `Debug`, `Display` and errors do not.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub struct SecretUrl(String);

impl SecretUrl {
    /// The address as it was given. Never for logs or errors.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    pub(crate) fn has_scheme(&self, schemes: &[&str]) -> bool {
        Url::parse(&self.0).is_ok_and(|url| schemes.contains(&url.scheme()) && url.has_host())
    }
}

impl From<String> for SecretUrl {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for SecretUrl {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Display for SecretUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Built anew from what may be shown, so that nothing else can slip through.
        match Url::parse(&self.0) {
            Ok(url) => {
                let (host, port) = (url.host_str().unwrap_or_default(), url.port());
                let port = port.map(|port| format!(":{port}")).unwrap_or_default();
                write!(formatter, "{}://{host}{port}{}", url.scheme(), url.path())
            }
            Err(_) => formatter.write_str("(an address that cannot be read)"),
        }
    }
}

impl fmt::Debug for SecretUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "SecretUrl({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_not_shown() {
        let check = |text: &str, expect: &str| {
            let url = SecretUrl::from(text);
            assert_eq!(url.to_string(), expect);
            assert!(!format!("{url:?}").contains("hunter2"));
        };
        check("amqp://cairn:hunter2@mq-0.local:5672/prod?password=hunter2", "amqp://mq-0.local:5672/prod");
        check("hunter2", "(an address that cannot be read)");
    }
}
