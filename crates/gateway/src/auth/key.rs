//! API keys: `cairn_`, eight digits that name the key, `_`, and 64 digits (256 random bits) that nobody else knows.
//!
//! A key is shown once, when it is made; what is kept is its hash. A hash without salt is enough for a secret that cannot
//! be guessed. To rotate a key, make another with the same rights and revoke the old one at a later time.

use cairn_domain::{Digest, Tenant};
use cairn_ports::ApiKeyRecord;

const BEGIN: &str = "cairn_";
const ID_DIGITS: usize = 8;
const SECRET_DIGITS: usize = 64;

/// What a key is to be good for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyRequest {
    pub tenant: Tenant,
    /// Full names of repositories, or globs over them; none: every repository of the tenant.
    pub repositories: Option<Vec<String>>,
    pub may_index: bool,
    pub label: String,
    pub expires_at_ms: Option<i64>,
}

/// A key that was just made. `text` is the only place where it can be read.
pub struct NewKey {
    pub text: String,
    pub record: ApiKeyRecord,
}

/// Makes a key. It opens nothing until its record is in the store.
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

/// What is kept of a key.
pub fn hash_of(text: &str) -> Digest {
    Digest(*blake3::hash(text.as_bytes()).as_bytes())
}

/// Whether a text can be a key at all: what cannot is not looked up.
pub(crate) fn is_key(text: &str) -> bool {
    let is_digits = |text: &str, count| {
        text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    };
    let parts = text.strip_prefix(BEGIN).and_then(|rest| rest.split_once('_'));
    parts.is_some_and(|(name, secret)| is_digits(name, ID_DIGITS) && is_digits(secret, SECRET_DIGITS))
}

/// The id in a whole key; anything else is taken for an id.
pub fn id_of(text: &str) -> &str {
    if is_key(text) { &text[..BEGIN.len() + ID_DIGITS] } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_key_stands_for_its_id() {
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
    fn keys_are_distinct_and_only_their_hash_is_kept() {
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
    fn what_cannot_be_a_key_is_known_by_its_form() {
        for text in ["", "cairn_", "cairn_12345678_", "cairn_1234567_00", "Cairn_12345678_00", "x"] {
            assert!(!is_key(text), "{text}");
        }
        assert!(!is_key(&format!("cairn_12345678_{}", "F".repeat(SECRET_DIGITS))));
        assert!(is_key(&format!("cairn_12345678_{}", "f".repeat(SECRET_DIGITS))));
    }
}
