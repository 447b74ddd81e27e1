//! References to secrets in settings. No message ever shows a secret.

use std::fmt;
use std::path::{Path, PathBuf};

use cairn_redaction::Untrusted;
use secrecy::{ExposeSecret, SecretString};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

/// A reference to a secret: `{ env = "NAME" }` or `{ file = "PATH" }`. Settings cannot contain the secret
/// itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SecretReference {
    /// The name of an environment variable.
    Env(String),
    /// A file that contains only the secret. Whitespace around the secret is removed.
    File(PathBuf),
}

/// A secret that can be used in an HTTP header. `Debug` and errors never show the text.
#[derive(Clone, Debug)]
pub struct Secret(SecretString);

#[derive(Debug, thiserror::Error)]
pub enum SecretUnreadable {
    /// The name of the variable. The name is shown only if it cannot be the secret itself.
    #[error("the environment variable{} that should contain a secret is not set or is not text", shown_name(.0))]
    Variable(String),
    #[error("the file{} that should contain a secret cannot be read", shown_path(.path))]
    File { path: PathBuf, source: std::io::Error },
    #[error("the secret from{0} is empty or contains characters that an HTTP header cannot contain")]
    Unusable(String),
}

/// Whether a text follows the convention for names of environment variables: capital letters, digits and `_`.
/// A token that was written instead of a name rarely follows this convention.
pub fn is_variable_name(text: &str) -> bool {
    let is_sign = |sign: char| sign.is_ascii_uppercase() || sign.is_ascii_digit() || sign == '_';
    text.starts_with(|sign: char| sign.is_ascii_uppercase() || sign == '_') && text.chars().all(is_sign)
}

/// A space and the name, as a part of a message. The result is empty if the text is not clearly a name,
/// because the text may be the secret itself.
fn shown_name(name: &str) -> String {
    let num_digits = name.chars().filter(char::is_ascii_digit).count();
    let is_shown = is_variable_name(name) && num_digits <= 3 && Untrusted::new(name).as_str() == name;
    if is_shown { format!(" `{name}`") } else { String::new() }
}

/// A space and the path, as a part of a message. The result is empty if the text contains no `/`, because the
/// text may be the secret itself.
fn shown_path(path: &Path) -> String {
    let text = path.to_string_lossy();
    let is_shown = text.contains('/') && Untrusted::new(&text).as_str() == text;
    if is_shown { format!(" `{text}`") } else { String::new() }
}

/// Implemented by hand: a derived implementation quotes unknown values, and an unknown value may be a
/// misplaced secret.
impl<'de> Deserialize<'de> for SecretReference {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ReferenceVisitor)
    }
}

struct ReferenceVisitor;

/// The form of a reference, as messages describe it.
pub const SECRET_FORM: &str = "`{ env = \"NAME\" }` or `{ file = \"PATH\" }`, never the secret itself";

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
        let (way, place) = map.next_entry::<String, String>()?.ok_or_else(fault)?;
        let reference = match way.as_str() {
            "env" => SecretReference::Env(place),
            "file" => SecretReference::File(place.into()),
            _ => return Err(fault()),
        };
        if map.next_key::<String>()?.is_some() { Err(fault()) } else { Ok(reference) }
    }
}

impl SecretReference {
    pub fn read(&self) -> Result<Secret, SecretUnreadable> {
        let (text, place) = match self {
            SecretReference::Env(name) => {
                (std::env::var(name).map_err(|_| SecretUnreadable::Variable(name.clone()))?, shown_name(name))
            }
            SecretReference::File(path) => {
                let unreadable = |source| SecretUnreadable::File { path: path.clone(), source };
                (std::fs::read_to_string(path).map_err(unreadable)?, shown_path(path))
            }
        };
        Secret::new(text.trim()).ok_or(SecretUnreadable::Unusable(place))
    }
}

impl Secret {
    /// None if the text is empty or not permitted in a header.
    pub fn new(text: &str) -> Option<Self> {
        let is_usable = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        is_usable.then(|| Self(SecretString::from(text)))
    }

    /// The text of the secret, for the header or call that needs it.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn secrets_are_read_by_reference_and_never_shown() {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(b"  sk-secret\n").expect("a secret");
        let key = SecretReference::File(file.path().to_owned()).read().expect("a secret");
        assert_eq!(key.expose(), "sk-secret");
        assert!(!format!("{key:?}").contains("sk-"), "{key:?}");
        let missing = SecretReference::Env("CAIRN_NO_SUCH_SECRET".to_owned()).read().expect_err("not set");
        assert!(missing.to_string().contains("`CAIRN_NO_SUCH_SECRET`"), "{missing}");
        let missing = SecretReference::File("/no/such/key".into()).read().expect_err("no file");
        assert!(missing.to_string().contains("`/no/such/key`"), "{missing}");
        for secret in ["ghp_A1b2C3d4", "hunter2Zq9xx", "AKIAIOSFODNN7EXAMPLE", "X7K2P9QW4R5T"] {
            for reference in [SecretReference::Env(secret.to_owned()), SecretReference::File(secret.into())] {
                let shown = format!("{}", reference.read().expect_err("no name"));
                assert!(!shown.contains(secret), "{shown}");
            }
        }
    }

    #[test]
    fn misplaced_secret_is_refused_and_not_shown() {
        let read = |text: &str| text.parse::<toml::Table>().expect("TOML").try_into::<Holder>();
        assert_eq!(read("token = { env = 'A' }").expect("a name").token, SecretReference::Env("A".to_owned()));
        assert_eq!(read("token = { file = '/a' }").expect("a path").token, SecretReference::File("/a".into()));
        for text in
            ["'sk-secret'", "{ value = 'sk-secret' }", "{ sk-secret = 'x' }", "{}", "{ env = 'A', file = 'sk-secret' }"]
        {
            let shown = read(&format!("token = {text}")).expect_err(text).to_string();
            assert!(shown.contains("never the secret") && !shown.contains("sk-secret"), "{shown}");
        }
    }

    #[derive(Debug, serde::Deserialize)]
    struct Holder {
        token: SecretReference,
    }

    #[test]
    fn secrets_invalid_in_a_header_are_refused() {
        for key in ["", "a b", "a\nb", "schlüssel"] {
            assert!(Secret::new(key).is_none(), "{key:?}");
        }
    }
}
