//! Credentials, given by reference or by value. Credentials are never displayed.

use std::path::PathBuf;

use cairn_config::{Secret, SecretUnreadable};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

/// The source of a credential. If the address of an S3 server contains credentials, each credential becomes a
/// `Value`.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "Written")]
pub enum SecretReference {
    /// Name of an environment variable.
    Env(String),
    /// A file that contains only the credential; surrounding whitespace is ignored.
    File(PathBuf),
    /// The credential itself.
    Value(SecretString),
}

/// The form of a credential in settings. Errors do not quote a text in any other form, because such a text
/// may be a credential by mistake.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Value(Value),
    Reference(cairn_config::SecretReference),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Value {
    value: SecretString,
}

impl From<Written> for SecretReference {
    fn from(written: Written) -> Self {
        match written {
            Written::Value(Value { value }) => Self::Value(value),
            Written::Reference(cairn_config::SecretReference::Env(name)) => Self::Env(name),
            Written::Reference(cairn_config::SecretReference::File(path)) => Self::File(path),
        }
    }
}

impl SecretReference {
    pub(crate) fn read(&self) -> Result<Secret, SecretUnreadable> {
        match self {
            SecretReference::Env(name) => cairn_config::SecretReference::Env(name.clone()).read(),
            SecretReference::File(path) => cairn_config::SecretReference::File(path.clone()).read(),
            SecretReference::Value(value) => {
                let unusable = || SecretUnreadable::Unusable(" the settings".to_owned());
                Secret::new(value.expose_secret().trim()).ok_or_else(unusable)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn credentials_are_read_and_never_displayed() {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(b"  hush\n").expect("a secret");
        for reference in [SecretReference::File(file.path().to_owned()), SecretReference::Value("hush".into())] {
            let secret = reference.read().expect("a secret");
            assert_eq!(secret.expose(), "hush");
            assert!(!format!("{reference:?} {secret:?}").contains("hush"), "{reference:?} {secret:?}");
        }
        let missing = SecretReference::Env("CAIRN_NO_SUCH_SECRET".to_owned()).read().expect_err("not set");
        assert!(missing.to_string().contains("`CAIRN_NO_SUCH_SECRET`"), "{missing}");
        assert!(SecretReference::File("/no/such/secret".into()).read().is_err());
        assert!(SecretReference::Value(" ".into()).read().is_err());
    }

    #[test]
    fn credential_instead_of_a_reference_is_refused() {
        let read = |text: &str| text.parse::<toml::Table>().expect("TOML").try_into::<Holder>();
        assert!(matches!(read("key = { env = 'A' }").expect("a name").key, SecretReference::Env(_)));
        assert!(matches!(read("key = { value = 'hush' }").expect("a value").key, SecretReference::Value(_)));
        for text in ["'hush'", "{ hush = 'x' }", "{ env = 'A', value = 'hush' }", "{}"] {
            let shown = read(&format!("key = {text}")).map(|holder| holder.key).expect_err(text).to_string();
            assert!(!shown.contains("hush"), "{shown}");
        }
    }

    #[derive(Debug, Deserialize)]
    struct Holder {
        key: SecretReference,
    }
}
