//! The rule for keys of artifacts. A key consists of parts, separated by `/`. A part consists of letters,
//! digits, `.`, `_` and `-`, is not empty, and does not begin with a dot. Every blob store refuses other
//! keys, even if its back end accepts them.

use std::fmt;

/// A text that is not a valid key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BadBlobKey {
    Part,
    Character(char),
}

impl fmt::Display for BadBlobKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadBlobKey::Part => write!(formatter, "a part of the key is empty or starts with a dot"),
            BadBlobKey::Character(bad) => {
                write!(
                    formatter,
                    "the key has the character {bad:?}; letters, digits, `.`, `_`, `-` and `/` are allowed"
                )
            }
        }
    }
}

impl std::error::Error for BadBlobKey {}

pub fn check_blob_key(key: &str) -> Result<(), BadBlobKey> {
    check_blob_prefix(key)?;
    if key.split('/').any(|part| part.is_empty() || part.starts_with('.')) { Err(BadBlobKey::Part) } else { Ok(()) }
}

/// A prefix of keys may end in the middle of a part.
pub fn check_blob_prefix(prefix: &str) -> Result<(), BadBlobKey> {
    let is_allowed = |character: char| character.is_ascii_alphanumeric() || "._-/".contains(character);
    if let Some(bad) = prefix.chars().find(|character| !is_allowed(*character)) {
        return Err(BadBlobKey::Character(bad));
    }
    let mut parts = prefix.split('/').rev();
    let last = parts.next().unwrap_or_default();
    let is_bad = |part: &str| part.is_empty() || part.starts_with('.');
    if last.starts_with('.') || parts.any(is_bad) { Err(BadBlobKey::Part) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_cannot_leave_the_root() {
        for good in ["a", "facts/0a/7/3", "a.b/c_d-e"] {
            assert_eq!(check_blob_key(good), Ok(()), "{good}");
        }
        for bad in ["", "/", "/a", "a/", "a//b", "..", "a/../b", "../a", "a/.b", ".tmp/x", "./a"] {
            assert_eq!(check_blob_key(bad), Err(BadBlobKey::Part), "{bad}");
        }
        for (bad, character) in [("a\\b", '\\'), ("a\0", '\0'), ("a b", ' '), ("ä", 'ä'), ("C:", ':')] {
            assert_eq!(check_blob_key(bad), Err(BadBlobKey::Character(character)), "{bad}");
        }
    }

    #[test]
    fn prefixes_may_end_within_a_part() {
        for good in ["", "a", "a/", "a/b"] {
            assert_eq!(check_blob_prefix(good), Ok(()), "{good}");
        }
        for bad in ["/", "../", ".", "a/..", "a//b", "a/../b"] {
            assert_eq!(check_blob_prefix(bad), Err(BadBlobKey::Part), "{bad}");
        }
    }
}
