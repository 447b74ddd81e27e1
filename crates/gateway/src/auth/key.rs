//! API keys: `cairn_`, eight digits that identify the key, `_`, and a secret of 64 digits (256 random bits).
//!
//! A key is shown once, when it is created; only its hash is stored. A hash without salt is sufficient,
//! because the secret cannot be guessed. To rotate a key, create a second key with the same permissions and
//! revoke the first key later.

use cairn_domain::{Digest, Tenant};
use cairn_ports::ApiKeyRecord;

const BEGIN: &str = "cairn_";
const ID_DIGITS: usize = 8;
const SECRET_DIGITS: usize = 64;

/// The permissions of a new key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyRequest {
    pub tenant: Tenant,
    /// Full names of repositories, or globs that match names. `None` allows every repository of the tenant.
    pub repositories: Option<Vec<String>>,
    pub may_index: bool,
    pub label: String,
    pub expires_at_ms: Option<i64>,
}

/// A new key. `text` is the only copy of the whole key.
pub struct NewKey {
    pub text: String,
    pub record: ApiKeyRecord,
}

/// Creates a key. The key is valid as soon as its record is in the store.
pub fn issue(request: KeyRequest, now_ms: i64) -> NewKey {
    let random: [u8; 36] = rand::random();
    let digits: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    let (name, secret) = digits.split_at(ID_DIGITS);
    let id = format!("{BEGIN}{name}");
    let text = format!("{id}_{secret}");
    let KeyRequest { tenant, repositories, may_index, label, expires_at_ms } = request;
    let record = ApiKeyRecord {
        hash: hash_of(&text),
        id,
        tenant,
        repositories,
        may_index,
        label,
        created_at_ms: now_ms,
        expires_at_ms,
        revoked_at_ms: None,
        last_used_at_ms: None,
    };
    NewKey { text, record }
}

/// The hash that is stored for a key.
pub fn hash_of(text: &str) -> Digest {
    Digest(*blake3::hash(text.as_bytes()).as_bytes())
}

/// Whether a text has the form of a key. Other texts are not looked up.
pub(crate) fn is_key(text: &str) -> bool {
    let is_digits = |text: &str, count| {
        text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    };
    let parts = text.strip_prefix(BEGIN).and_then(|rest| rest.split_once('_'));
    parts.is_some_and(|(name, secret)| is_digits(name, ID_DIGITS) && is_digits(secret, SECRET_DIGITS))
}

/// The id in a complete key. Any other text is treated as an id and returned unchanged.
pub fn id_of(text: &str) -> &str {
    if is_key(text) { &text[..BEGIN.len() + ID_DIGITS] } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complete_key_is_reduced_to_its_id() {
        let request = KeyRequest {
            tenant: cairn_domain::Tenant::local(),
            repositories: None,
            may_index: false,
            label: String::new(),
            expires_at_ms: None,
        };
        let key = issue(request, 0);
        assert_eq!(id_of(&key.text), key.record.id);
        assert_eq!(id_of(&key.record.id), key.record.id);
        assert_eq!(id_of("ü"), "ü");
    }

    #[test]
    fn keys_are_distinct_and_stored_as_hashes() {
        let request = KeyRequest {
            tenant: Tenant::local(),
            repositories: None,
            may_index: false,
            label: "test".to_owned(),
            expires_at_ms: None,
        };
        let (first, second) = (issue(request.clone(), 1), issue(request, 1));
        assert_ne!(first.text, second.text);
        assert!(is_key(&first.text), "{}", first.text);
        assert_eq!(first.record.hash, hash_of(&first.text));
        assert!(first.text.starts_with(&format!("{}_", first.record.id)));
        let secret = &first.text[first.text.len() - SECRET_DIGITS..];
        assert!(!format!("{:?}", first.record).contains(secret));
    }

    #[test]
    fn invalid_forms_are_not_keys() {
        for text in ["", "cairn_", "cairn_12345678_", "cairn_1234567_00", "Cairn_12345678_00", "x"] {
            assert!(!is_key(text), "{text}");
        }
        assert!(!is_key(&format!("cairn_12345678_{}", "F".repeat(SECRET_DIGITS))));
        assert!(is_key(&format!("cairn_12345678_{}", "f".repeat(SECRET_DIGITS))));
    }
}
