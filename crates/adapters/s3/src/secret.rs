//! Credentials, given by reference or by value. Credentials are never displayed.

use std::fmt;
use std::path::PathBuf;

use cairn_config::{SECRET_FORM, Secret, SecretUnreadable};
use secrecy::{ExposeSecret, SecretString};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

/// The source of a credential. If the address of an S3 server contains credentials, each credential becomes a
/// `Value`.
#[derive(Clone, Debug)]
pub enum SecretReference {
    /// Name of an environment variable.
    Env(String),
    /// A file that contains only the credential; surrounding whitespace is ignored.
    File(PathBuf),
    /// The credential itself.
    Value(SecretString),
}

/// Implemented by hand: the errors of a derived implementation may quote the text, which may be a credential.
impl<'de> Deserialize<'de> for SecretReference {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ReferenceVisitor)
    }
}

struct ReferenceVisitor;

impl<'de> Visitor<'de> for ReferenceVisitor {
    type Value = SecretReference;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(SECRET_FORM)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Self::Value, E> {
        Err(E::custom(format_args!("expected {SECRET_FORM}")))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let fault = || A::Error::custom(format_args!("expected {SECRET_FORM}"));
        let (way, text) = map.next_entry::<String, String>()?.ok_or_else(fault)?;
        let reference = match way.as_str() {
            "env" => SecretReference::Env(text),
            "file" => SecretReference::File(text.into()),
            "value" => SecretReference::Value(text.into()),
            _ => return Err(fault()),
        };
        if map.next_key::<String>()?.is_some() { Err(fault()) } else { Ok(reference) }
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
            assert!(shown.contains("never the secret itself"), "{shown}");
        }
    }

    #[derive(Debug, serde::Deserialize)]
    struct Holder {
        key: SecretReference,
    }
}
