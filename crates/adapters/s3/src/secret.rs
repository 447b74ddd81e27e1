//! Credentials: given by reference or by value, and never shown.

use std::path::PathBuf;
use std::{env, fs, io};

use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

/// Where a credential stands.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SecretReference {
    /// Name of an environment variable.
    Env(String),
    /// A file that holds the credential and nothing else; blanks around it do not count.
    File(PathBuf),
    /// The credential itself.
    Value(SecretString),
}

#[derive(Debug, thiserror::Error)]
pub enum SecretUnreadable {
    #[error("the environment variable `{0}` is not set or is no text")]
    Variable(String),
    #[error("cannot read `{}`", .path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("`{0}` is empty")]
    Empty(String),
}

impl SecretReference {
    pub(crate) fn read(&self) -> Result<SecretString, SecretUnreadable> {
        let (text, place) = match self {
            SecretReference::Env(name) => {
                (env::var(name).map_err(|_| SecretUnreadable::Variable(name.clone()))?, name.clone())
            }
            SecretReference::File(path) => {
                let unreadable = |source| SecretUnreadable::File { path: path.clone(), source };
                (fs::read_to_string(path).map_err(unreadable)?, path.display().to_string())
            }
            SecretReference::Value(value) => (value.expose_secret().to_owned(), "value".to_owned()),
        };
        let text = text.trim();
        if text.is_empty() { Err(SecretUnreadable::Empty(place)) } else { Ok(text.into()) }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn credentials_are_read_from_where_they_stand_and_never_shown() {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(b"  hush\n").expect("a secret");
        for reference in [SecretReference::File(file.path().to_owned()), SecretReference::Value("hush".into())] {
            let secret = reference.read().expect("a secret");
            assert_eq!(secret.expose_secret(), "hush");
            assert!(!format!("{reference:?} {secret:?}").contains("hush"), "{reference:?} {secret:?}");
        }
        let missing = SecretReference::Env("CAIRN_NO_SUCH_SECRET".to_owned()).read().expect_err("not set");
        assert!(missing.to_string().contains("`CAIRN_NO_SUCH_SECRET`"), "{missing}");
        assert!(SecretReference::File("/no/such/secret".into()).read().is_err());
        assert!(SecretReference::Value(" ".into()).read().is_err());
    }
}
