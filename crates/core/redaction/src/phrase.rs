//! Recognises passwords that consist of several words.

use crate::shape::Shape;
use crate::{expression, random, template};

/// Whether the value consists of several words that are separated by blanks, and is not a message for a user:
/// `tiger lamp seven`, `My dog 2017!`.
pub(crate) fn is_passphrase(value: &[u8]) -> bool {
    /// Words that occur in messages, labels and programs.
    #[rustfmt::skip]
    const SPEECH: [&str; 62] = [
        "a", "an", "the", "is", "are", "was", "be", "been", "must", "should", "may", "can", "cannot", "not", "no", "your",
        "you", "for", "of", "to", "in", "on", "at", "by", "with", "from", "and", "or", "if", "please", "enter", "type",
        "use", "new", "old", "current", "confirm", "invalid", "wrong", "incorrect", "missing", "required", "least",
        "characters", "user", "name", "email", "account", "login", "sign", "reset", "forgot", "change", "field", "value",
        "this", "that", "it", "des", "der", "une", "una",
    ];
    let words: Vec<&[u8]> = value.split(|byte| *byte == b' ').collect();
    let is_speech = |word: &&[u8]| SPEECH.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes()));
    if value.iter().any(|byte| matches!(byte, 0..32 | 127..) || b"(){}[]<>=\\%$:;,|\"'`".contains(byte))
        || value.len() < 8
        || words.len() > 12
        || words.iter().any(|word| word.is_empty() || is_speech(word))
        || random::is_placeholder(value)
        || matches!(value.last(), Some(b'.' | b'?' | b'-' | b'*'))
    {
        return false;
    }
    let is_small = |word: &&[u8]| word.iter().all(u8::is_ascii_lowercase);
    let num_long = words.iter().filter(|word| word.len() >= 4).count();
    let diced = words.len() >= 4 && words.len() <= 8 && num_long >= 3 && words.iter().all(is_small);
    let shape = Shape::of(value);
    let has_mixed_word = words.iter().map(|word| Shape::of(word)).any(|word| word.letters() > 0 && word.digits > 0);
    diced || (shape.digits > 0 && shape.letters() >= 6 && (shape.signs > 0 || has_mixed_word))
}

/// Whether the value is a generated password that contains blanks. The value must have few words and all
/// classes of characters.
pub(crate) fn is_signed_phrase(value: &[u8]) -> bool {
    let shape = Shape::of(value);
    let is_plain = |byte: &u8| *byte >= 32 && *byte != 127;
    value.len() >= 8
        && value.len() <= 40
        && shape.blanks <= 3
        && value.iter().all(is_plain)
        && value.trim_ascii().len() == value.len()
        && shape.digits > 0
        && shape.signs + shape.joiners > 0
        && (shape.num_classes() >= 3 && (shape.num_classes() == 4 || shape.in_words == 0))
        && shape.in_words * 3 <= shape.letters()
        && !template::is_template(value)
        && !random::is_placeholder(value)
        && value.split(|byte| *byte == b' ').any(|part| !expression::is_expression(part))
}

/// Whether the value is a phrase such as `correct-horse-battery-staple`.
pub(crate) fn is_hyphenated(value: &[u8]) -> bool {
    let words: Vec<&[u8]> = value.split(|byte| *byte == b'-').collect();
    words.len() >= 4
        && value.len() >= 20
        && words.iter().all(|word| {
            word.iter().all(u8::is_ascii_digit) || (word.len() >= 3 && word.iter().all(u8::is_ascii_lowercase))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_differ_from_messages() {
        assert!(is_passphrase(b"tiger lamp seven rocket") && is_passphrase(b"My poodle 2017!"));
        assert!(!is_passphrase(b"Enter your password 2!") && !is_passphrase(b"tiger lamp"));
        assert!(is_signed_phrase(b"k3(x9 Q$z!2") && !is_signed_phrase(b"config user2"));
        assert!(is_hyphenated(b"correct-horse-battery-staple") && !is_hyphenated(b"step-1-input"));
    }
}
