//! A URL with credentials. The credentials are never displayed.

use std::fmt;

use serde::Deserialize;
use url::Url;

/// Only URLs with these schemes are displayed.
const SCHEMES: [&str; 4] = ["amqp", "amqps", "http", "https"];

/// Only [`SecretUrl::expose`] returns the credentials; `Debug`, `Display` and errors do not contain them.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub struct SecretUrl(String);

impl SecretUrl {
    /// The original URL. Never use this text in logs or errors.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// The address without credentials. The displayed address contains only parts that cannot contain
    /// credentials. Without `//` after the scheme, a URL has no host, and its path or even its scheme may
    /// contain the user and the password.
    fn shown(&self) -> Option<String> {
        let url = Url::parse(&self.0).ok().filter(|url| SCHEMES.contains(&url.scheme()))?;
        // If the password contains an unescaped character such as a slash, the parser ends the host and port
        // at this character. It then reads the user as the host and the beginning of the password as the
        // port. An `@` after this character shows this fault.
        let after_scheme = self.0.split_once("//")?.1;
        let after_authority = after_scheme.split_once(['/', '\\', '?', '#']).map_or("", |(_, rest)| rest);
        if after_authority.contains('@') || after_authority.to_ascii_lowercase().contains("%40") {
            return None;
        }
        let path = Some(url.path()).filter(|path| !path.contains(':')).unwrap_or_default();
        let host = url.host_str().filter(|host| !host.is_empty())?;
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        Some(format!("{}://{host}{port}{path}", url.scheme()))
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
        formatter.write_str(self.shown().as_deref().unwrap_or("(an invalid address)"))
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
        for text in [
            "hunter2",
            "cairn:hunter2@mq:5672",
            "amqp:cairn:hunter2@mq",
            "amqp:/cairn:hunter2@mq/cairn",
            "amqp:///cairn:hunter2@mq/cairn",
            "amqp//cairn:hunter2@mq",
            "//cairn:hunter2@mq",
            "hunter2://mq:5672",
            "amqp://cairn:pass/hunter2@mq",
            "amqp://cairn:123/hunter2@mq/v",
            "amqp://cairn:123/hunter2%40mq/v",
            "amqp://cairn:123?hunter2@mq/v",
            "amqp://cairn:123#hunter2@mq/v",
            "http://cairn:123\\hunter2@mq/v",
            "mq:5672?password=hunter2",
        ] {
            check(text, "(an invalid address)");
        }
        check("amqp://cairn:hunter2@mq#hunter2", "amqp://mq");
    }
}
