//! Decides whether a value is a placeholder for a password, and not a password that contains a word such as
//! `test` or `secret`.

use crate::shape::{self, Shape};
use crate::{random, template};

/// Whether the value is a placeholder for a password.
pub(crate) fn is_stand_in(value: &[u8]) -> bool {
    random::is_placeholder(value)
        && !is_complex(Shape::of(value), value)
        && !is_more_than_a_stand_in(value)
        && !has_random_rest(value)
}

/// Whether the letters and digits of the value are random if `_` and similar characters are removed:
/// `dU____d96_k7S`.
fn has_random_rest(value: &[u8]) -> bool {
    if !value.iter().any(|byte| matches!(byte, b'_' | b'-' | b'.' | b'*')) || template::is_template(value) {
        return false;
    }
    let rest: Vec<u8> = value.iter().copied().filter(u8::is_ascii_alphanumeric).collect();
    let shape = Shape::of(&rest);
    let num_classes = [shape.lower, shape.upper, shape.digits].iter().filter(|count| **count > 0).count();
    let is_mixed = num_classes == 3 || (num_classes == 2 && shape.digits > 1);
    rest.len() >= 5 && is_mixed && shape.in_words == 0 && !random::is_placeholder(&rest)
}

/// Whether the value has enough characters in addition to words that name a secret, as in `hunter2secret`.
fn is_more_than_a_stand_in(value: &[u8]) -> bool {
    const NAMING: [&str; 9] = ["password", "passwd", "pass", "secret", "token", "test", "default", "hello", "world"];
    let mut rest = value.to_ascii_lowercase();
    for word in NAMING {
        while let Some(at) = rest.windows(word.len()).position(|window| window == word.as_bytes()) {
            rest.drain(at..at + word.len());
        }
    }
    let (all, own) = (Shape::of(value), Shape::of(&rest));
    all.joiners + all.blanks == 0
        && all.digits > 0
        && own.letters() >= 5
        && !random::is_placeholder(&rest)
        && !rest.starts_with(b"user")
        && !rest.ends_with(b"user")
}

/// Whether the value has all four classes of characters that password rules require. Such a value is a
/// password even if it contains `Test`.
fn is_complex(shape: Shape, value: &[u8]) -> bool {
    let plain = ["example", "{", "<", "$(", "change", "your", "replace", "placeholder", "xxxx", "****"];
    shape.num_classes() == 4
        && shape.joiners == 0
        && !plain.iter().any(|word| shape::contains_ignoring_case(value, word.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_differ_from_passwords_with_words() {
        for value in ["changeme", "<password>", "test1234", "my_secret", "your-token-1", "xxxxxxxx"] {
            assert!(is_stand_in(value.as_bytes()), "{value}");
        }
        for value in ["hunter2secret", "Test9!kQ", "dU____d96_k7S", "k3J9xQ7w"] {
            assert!(!is_stand_in(value.as_bytes()), "{value}");
        }
    }
}
