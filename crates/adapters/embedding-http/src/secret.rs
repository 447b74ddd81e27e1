//! API keys: given by reference, and never shown.

use std::path::PathBuf;

use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

/// Where a key stands. There is no way to write the key itself into settings.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum KeyReference {
    /// Name of an environment variable.
    Env(String),
    /// A file that holds the key and nothing else; blanks around it do not count.
    File(PathBuf),
}

#[derive(Clone, Debug)]
pub struct ApiKey(SecretString);

#[derive(Debug, thiserror::Error)]
pub enum KeyUnreadable {
    #[error("the environment variable `{0}` that should hold the API key is not set or is no text")]
    Variable(String),
    #[error("the file `{}` that should hold the API key cannot be read", .path.display())]
    File { path: PathBuf, source: std::io::Error },
    #[error("the API key from {0} is empty or has signs that no HTTP header can hold")]
    Unusable(String),
}

impl KeyReference {
    pub fn read(&self) -> Result<ApiKey, KeyUnreadable> {
        let (text, place) = match self {
            KeyReference::Env(name) => {
                (std::env::var(name).map_err(|_| KeyUnreadable::Variable(name.clone()))?, format!("`{name}`"))
            }
            KeyReference::File(path) => {
                let unreadable = |source| KeyUnreadable::File { path: path.clone(), source };
                (std::fs::read_to_string(path).map_err(unreadable)?, format!("`{}`", path.display()))
            }
        };
        ApiKey::new(text.trim()).ok_or(KeyUnreadable::Unusable(place))
    }
}

impl ApiKey {
    /// None if it is empty or cannot stand in a header.
    pub fn new(key: &str) -> Option<Self> {
        let is_usable = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic());
        is_usable.then(|| Self(SecretString::from(key)))
    }

    pub(crate) fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn keys_are_read_from_where_they_stand_and_never_shown() {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(b"  sk-secret\n").expect("a key");
        let key = KeyReference::File(file.path().to_owned()).read().expect("a key");
        assert_eq!(key.expose(), "sk-secret");
        assert!(!format!("{key:?}").contains("sk-"), "{key:?}");
        let missing = KeyReference::Env("CAIRN_NO_SUCH_KEY".to_owned()).read().expect_err("not set");
        assert!(missing.to_string().contains("`CAIRN_NO_SUCH_KEY`"), "{missing}");
        assert!(KeyReference::File("/no/such/key".into()).read().is_err());
    }

    #[test]
    fn keys_that_no_header_can_hold_are_refused() {
        for key in ["", "a b", "a\nb", "schlüssel"] {
            assert!(ApiKey::new(key).is_none(), "{key:?}");
        }
    }
}
