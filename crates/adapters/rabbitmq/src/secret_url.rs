//! A URL with credentials that is displayed without them.

use std::fmt;

use serde::Deserialize;
use url::Url;

/// Only [`SecretUrl::expose`] returns the credentials; `Debug`, `Display` and errors do not contain them.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub struct SecretUrl(String);

impl SecretUrl {
    /// The original URL. Never use it in logs or errors.
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
        // The text is built only from parts that may be shown, so that no other part can leak.
        match Url::parse(&self.0) {
            Ok(url) => {
                let (host, port) = (url.host_str().unwrap_or_default(), url.port());
                let port = port.map(|port| format!(":{port}")).unwrap_or_default();
                write!(formatter, "{}://{host}{port}{}", url.scheme(), url.path())
            }
            Err(_) => formatter.write_str("(an invalid address)"),
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
    fn credentials_are_never_displayed() {
        let check = |text: &str, expect: &str| {
            let url = SecretUrl::from(text);
            assert_eq!(url.to_string(), expect);
            assert!(!format!("{url:?}").contains("hunter2"));
        };
        check("amqp://cairn:hunter2@mq-0.local:5672/prod?password=hunter2", "amqp://mq-0.local:5672/prod");
        check("hunter2", "(an invalid address)");
    }
}
