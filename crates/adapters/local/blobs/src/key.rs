//! Which keys there are: `/`-separated parts of letters, digits, `.`, `_` and `-`, none empty or starting with a dot.

/// A text that is no key.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum BadKey {
    #[error("a part of the key is empty or starts with a dot")]
    Part,
    #[error("the key has the character {0:?}; letters, digits, `.`, `_`, `-` and `/` are allowed")]
    Character(char),
}

pub(crate) fn check(key: &str) -> Result<(), BadKey> {
    check_prefix(key)?;
    if key.split('/').any(|part| part.is_empty() || part.starts_with('.')) { Err(BadKey::Part) } else { Ok(()) }
}

/// A prefix may end in the middle of a part.
pub(crate) fn check_prefix(prefix: &str) -> Result<(), BadKey> {
    let is_allowed = |character: char| character.is_ascii_alphanumeric() || "._-/".contains(character);
    if let Some(bad) = prefix.chars().find(|character| !is_allowed(*character)) {
        return Err(BadKey::Character(bad));
    }
    let mut parts = prefix.split('/').rev();
    let last = parts.next().unwrap_or_default();
    let is_bad = |part: &str| part.is_empty() || part.starts_with('.');
    if last.starts_with('.') || parts.any(is_bad) { Err(BadKey::Part) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_cannot_leave_the_root() {
        for good in ["a", "facts/0a/7/3", "a.b/c_d-e"] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for bad in ["", "/", "/a", "a/", "a//b", "..", "a/../b", "../a", "a/.b", ".tmp/x", "./a"] {
            assert_eq!(check(bad), Err(BadKey::Part), "{bad}");
        }
        for (bad, character) in [("a\\b", '\\'), ("a\0", '\0'), ("a b", ' '), ("ä", 'ä'), ("C:", ':')] {
            assert_eq!(check(bad), Err(BadKey::Character(character)), "{bad}");
        }
    }

    #[test]
    fn prefixes_may_end_anywhere_but_outside() {
        for good in ["", "a", "a/", "a/b"] {
            assert_eq!(check_prefix(good), Ok(()), "{good}");
        }
        for bad in ["/", "../", ".", "a/..", "a//b", "a/../b"] {
            assert_eq!(check_prefix(bad), Err(BadKey::Part), "{bad}");
        }
    }
}
