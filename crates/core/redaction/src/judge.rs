//! Decides whether a value is a secret, from the meaning of its name and from the way in which it is written.

use crate::name::{Naming, Promise};
use crate::phrase::{is_hyphenated, is_passphrase, is_signed_phrase};
use crate::reference::{is_address, is_pattern, is_reference};
use crate::shape::{self, Shape};
use crate::stand_in::is_stand_in;
use crate::{entropy, expression, machine, random, template};

/// The way in which a value is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Style {
    /// A string literal or the text of an XML element. Such a value is a constant in every language.
    Literal,
    /// A string literal inside a call. The literal may be a name, because `env("NAME")` is as frequent as
    /// `Secret("value")`.
    Wrapped,
    /// An unquoted value at the end of a line that begins with the name, as in YAML and `.properties`.
    Line,
    /// An unquoted value in any other position. In most languages, such a value is an expression.
    Loose,
    /// A string literal as the argument of a function whose name is the name of a secret, as in
    /// `password("…")`.
    Call,
    /// A string literal after the name and a space, as in `storePassword "…"`.
    Beside,
    /// An unquoted value after the name and a space, without an operator. Such a value is part of a sentence
    /// as often as it is part of a command.
    Spaced,
    /// A value between semicolons in a connection string.
    Connection,
}

/// Maximum length of a secret, in bytes. Longer values are treated as data.
pub(crate) const LONGEST: usize = 1000;

/// Maximum length of a password that a person chose, in bytes. Longer passwords must look random.
const LONGEST_CHOSEN: usize = 128;

pub(crate) fn is_secret(naming: Naming, promise: Promise, style: Style, value: &[u8]) -> bool {
    if value.len() < 4 || value.len() > LONGEST {
        return false;
    }
    match promise {
        Promise::Password => is_password(style, value),
        Promise::Explicit => is_explicit(naming, style, value),
        Promise::Weak => matches!(style, Style::Literal | Style::Line) && is_beyond_doubt(value),
    }
}

fn is_password(style: Style, value: &[u8]) -> bool {
    if value.len() > LONGEST_CHOSEN && style != Style::Connection {
        return random::is_random(value) && !is_reference(value);
    }
    match style {
        Style::Literal | Style::Call => is_chosen(value),
        Style::Beside => is_chosen(value) && is_no_label(value),
        Style::Connection => !is_code(value) && !is_reference(value) && !is_stand_in(value) && !is_nothing(value),
        Style::Line => {
            is_chosen(value)
                && Shape::of(value).blanks == 0
                && is_more_than_a_word(value)
                && !is_code(strip_sign(value))
        }
        Style::Loose | Style::Wrapped | Style::Spaced => value.len() >= 8 && !is_code(value) && is_strong(value),
    }
}

fn is_explicit(naming: Naming, style: Style, value: &[u8]) -> bool {
    if is_code(value)
        || is_reference(value)
        || is_address(value)
        || (style != Style::Literal && is_constant(value))
        || (naming == Naming::Token && shape::is_uuid(value))
    {
        return false;
    }
    // Many secrets are chosen by people and not generated, as in `JWT_SECRET=hunter2dragon`.
    if naming == Naming::Secret && matches!(style, Style::Literal | Style::Call | Style::Line) {
        let is_noise = shape::is_bare_noise(value) && style != Style::Call;
        if is_made_up(value) || (is_chosen(value) && (is_noise || (style == Style::Literal && has_blanks(value)))) {
            return true;
        }
    }
    if style == Style::Connection && is_mixed(value) {
        return true;
    }
    let is_alone = matches!(style, Style::Literal | Style::Call | Style::Line | Style::Connection | Style::Beside);
    if is_alone && !is_never_a_password(value) && machine::is_machine_made(value) {
        return true;
    }
    let shortest = match style {
        Style::Spaced => return is_beyond_doubt(value),
        Style::Literal | Style::Call => 8,
        Style::Line | Style::Connection | Style::Wrapped | Style::Beside => 12,
        Style::Loose => 16,
    };
    if style != Style::Loose && style != Style::Wrapped && is_unreadable(value) {
        return true;
    }
    value.len() >= shortest
        && (is_random_in_part(value) || (matches!(style, Style::Literal | Style::Call) && is_strong(value)))
}

/// Whether a chosen value has at least eight bytes, few words, and a mix of characters: digits together with
/// capitals or special characters, or random capitals.
fn is_mixed(value: &[u8]) -> bool {
    let shape = Shape::of(value);
    let is_various = shape.digits > 0 && shape.letters() > 1 && shape.upper + shape.signs > 0;
    let has_few_words = shape.in_words * 3 <= shape.letters() && shape.blanks == 0;
    value.len() >= 8 && has_few_words && (is_various || shape::is_case_noise(value)) && is_chosen(value)
}

/// Whether a chosen value cannot be a label or the name of something: it has a digit or random capitals, is a
/// phrase, or has special characters and few words.
fn is_no_label(value: &[u8]) -> bool {
    let shape = Shape::of(value);
    let is_mixed = shape.signs > 0 && shape.upper > 0 && shape.lower > 0 && shape.in_words * 3 <= shape.letters();
    shape.digits > 0 || shape.blanks > 0 || is_mixed || shape::is_case_noise(value)
}

fn has_blanks(value: &[u8]) -> bool {
    value.contains(&b' ')
}

fn is_beyond_doubt(value: &[u8]) -> bool {
    let shape = Shape::of(value);
    let mixed = shape.lower > 1 && shape.upper > 1 && shape.digits > 1;
    let base64 =
        value.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_'));
    value.len() >= 20
        && mixed
        && base64
        && !is_reference(value)
        && shape.in_words * 4 <= shape.letters()
        && random::is_random(value)
        && entropy::centibits(value) >= 350
}

/// Whether a person may have chosen the value as a password. The value must not be a template, a name or a
/// placeholder.
pub(crate) fn is_chosen(value: &[u8]) -> bool {
    let shape = Shape::of(value);
    if value.len() < 6 || value.len() > LONGEST_CHOSEN || is_reference(value) || is_pattern(value) {
        return false;
    }
    if shape.blanks > 0 {
        return is_passphrase(value) || is_signed_phrase(value);
    }
    if template::is_template(value) || entropy::num_distinct(value) < 4 {
        return false;
    }
    if random::is_placeholder(value) {
        return !is_stand_in(value);
    }
    match (shape.letters(), shape.digits, shape.signs) {
        (0, digits, _) => digits >= 8 && entropy::num_distinct(value) >= 5 && shape.joiners == 0,
        (_, 0, 0) => shape::is_letter_noise(value) || shape::is_case_noise(value) || is_hyphenated(value),
        (_, 0, _) => value.len() >= 8 && (!is_emphasis(value) || shape::is_case_noise(value)),
        _ => shape.signs > 0 || shape.joiners == 0 || !shape.is_wordy() || is_hyphenated(value),
    }
}

/// Whether the value cannot be a name in a program. If so, every other occurrence of the value in the text is
/// treated as the same secret.
pub(crate) fn is_worth_repeating(value: &[u8]) -> bool {
    let shape = Shape::of(value);
    let has_both = shape.digits > 0 && shape.letters() > 1;
    has_both && shape.blanks == 0 && value.len() <= 200 && !is_identifier_with_digits(value) && !is_reference(value)
}

/// Whether the value has at least twenty letters and digits and contains few words. Such a value is random,
/// even if the other tests do not recognise it as random.
fn is_unreadable(value: &[u8]) -> bool {
    let shape = Shape::of(value);
    value.len() >= 20
        && value.iter().all(u8::is_ascii_alphanumeric)
        && shape.upper >= 4
        && shape.lower >= 4
        && shape.in_words * 3 <= shape.letters()
        && !random::is_placeholder(value)
        && entropy::centibits(value) >= 380
}

/// Whether a person may have chosen the value. The value must have digits and enough letters, and must not be
/// a name of several parts.
pub(crate) fn is_made_up(value: &[u8]) -> bool {
    let shape = Shape::of(value);
    is_chosen(value)
        && shape.digits > 0
        && shape.letters() >= 4
        && shape.blanks == 0
        && (shape.joiners == 0 || shape.signs > 0)
        && !is_identifier_with_digits(value)
}

/// Whether the value is an identifier whose digits are at its end or belong to a known word: `user2`,
/// `sha256sum`, `base64`.
fn is_identifier_with_digits(value: &[u8]) -> bool {
    let is_name = value.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let stem = value.len() - value.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let known =
        ["sha1", "sha2", "sha5", "base64", "base32", "utf8", "md5", "oauth2", "x509", "k8s", "s3", "ed255", "v1", "v2"];
    is_name
        && (value.len() - stem <= 2 && !value[..stem].iter().any(u8::is_ascii_digit)
            || known.iter().any(|word| shape::contains_ignoring_case(value, word.as_bytes())))
}

/// Removes the first character if passwords begin with it as often as expressions do. Values such as `!vault
/// abc` are rejected before this function is called, because such values contain a blank.
fn strip_sign(value: &[u8]) -> &[u8] {
    match value {
        [b'!' | b'@' | b'%', rest @ ..] if rest.iter().any(u8::is_ascii_digit) && !rest.ends_with(b"%") => rest,
        _ => value,
    }
}

/// Whether the value is a word that has special characters only before or after it: `Required*`, `Password?`,
/// `*hidden*`.
fn is_emphasis(value: &[u8]) -> bool {
    let inner = value.trim_ascii();
    let is_word = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-' | b'.');
    let start = inner.iter().position(is_word).unwrap_or(inner.len());
    let end = inner.iter().rposition(is_word).map_or(start, |at| at + 1);
    inner[start..end].iter().all(is_word) || inner.iter().filter(|byte| !byte.is_ascii()).count() * 2 > inner.len()
}

/// Whether the value is the name of a constant, such as `MAX_S4U_SIZE2`.
fn is_constant(value: &[u8]) -> bool {
    value.contains(&b'_') && !value.iter().any(|byte| byte.is_ascii_lowercase())
}

fn is_nothing(value: &[u8]) -> bool {
    [b"none".as_slice(), b"null", b"true", b"false", b"self", b"this"]
        .iter()
        .any(|word| value.eq_ignore_ascii_case(word))
}

/// Whether the value is a template, or an expression with special characters of a program.
pub(crate) fn is_code(value: &[u8]) -> bool {
    let has_signs =
        value.iter().any(|byte| matches!(byte, b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'<' | b'>' | b'\\' | b'|'))
            || matches!(value, [b'&' | b'*' | b'!' | b'$' | b'@' | b'%', ..]);
    (has_signs && expression::is_expression(value) && !shape::is_bare_noise(value)) || template::is_template(value)
}

/// Whether the value is a template, a reference, a pattern, an address or a placeholder.
pub(crate) fn is_never_a_password(value: &[u8]) -> bool {
    template::is_template(value) || is_reference(value) || is_pattern(value) || is_stand_in(value) || is_address(value)
}

/// Whether the value has letters together with a digit, a special character or a blank, or has random
/// capitals.
pub(crate) fn is_more_than_a_word(value: &[u8]) -> bool {
    let shape = Shape::of(value);
    (shape.digits + shape.signs + shape.blanks > 0 && shape.letters() > 0) || shape::is_case_noise(value)
}

/// Whether the value is random, or has so many classes of characters that it cannot be an identifier.
fn is_strong(value: &[u8]) -> bool {
    let shape = Shape::of(value.trim_ascii_end().strip_suffix(b",").unwrap_or(value));
    if shape.blanks > 0 {
        return false;
    }
    let mixed = shape.signs > 0
        && shape.digits > 0
        && shape.letters() > 1
        && !random::is_placeholder(value)
        && !is_reference(value);
    (mixed && (!shape.is_wordy() || shape.num_classes() == 4)) || is_random_in_part(value)
}

/// Whether a value in printed output, without a name, is a secret. The value must be random or have all
/// classes of characters.
pub(crate) fn is_printed(value: &[u8]) -> bool {
    let shape = Shape::of(value);
    let mixed = shape.num_classes() == 4 && shape.joiners == 0 && shape.digits > 1 && value.len() <= 40;
    value.len() <= 128
        && !is_reference(value)
        && !random::is_placeholder(value)
        && !value.contains(&b':')
        && (mixed || (random::is_random(value) && shape.digits * 3 <= value.len() * 2))
}

/// Whether the value is random, or has a random part after a prefix of words: `acme_live_9f8A7d6B5c4E`.
fn is_random_in_part(value: &[u8]) -> bool {
    if random::is_random(value) {
        return true;
    }
    let joined = value.iter().any(|byte| matches!(byte, b'_' | b'-' | b'.'));
    joined
        && !random::is_placeholder(value)
        && !value.contains(&b'/')
        && value
            .split(|byte| matches!(byte, b'_' | b'-' | b'.' | b':'))
            .any(|part| part.len() >= 12 && random::is_random(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(promise: Promise, style: Style, secrets: &[&str], others: &[&str]) {
        for value in secrets {
            assert!(is_secret(Naming::Secret, promise, style, value.as_bytes()), "{promise:?} {style:?} {value}");
        }
        for value in others {
            assert!(!is_secret(Naming::Secret, promise, style, value.as_bytes()), "{promise:?} {style:?} {value}");
        }
    }

    #[test]
    fn chosen_passwords_differ_from_names() {
        let secrets = [
            "hunter2",
            "S3cr3t!Value",
            "Tr0ub4dor&3",
            "p@ssW0rd!x",
            "Summer2024",
            "correct-horse-battery-staple",
            "xkqjzvwpbhtr",
            "Password123!",
        ];
        let others = [
            "password",
            "changeme",
            "user_password",
            "password1",
            "current-password",
            "#password",
            "/run/secrets/db",
            "Required*",
            "${DB_PASS}",
            "<password>",
            "xxxxxxxx",
            "********",
            "auth.login.password",
            "{password}",
            "test1234",
            "Enter it",
            "[a-z0-9]+!",
            "step-1-input",
        ];
        check(Promise::Password, Style::Literal, &secrets, &others);
        check(
            Promise::Password,
            Style::Loose,
            &["k3J9xQ7wZ2", "aB3$xY9!q"],
            &["password2", "getPass1()", "config.password1", "Summer2024", "$secret99", "user2Pass"],
        );
        check(
            Promise::Password,
            Style::Line,
            &["Summer2024", "k3J9xQ7w"],
            &["summertime", "load(x1234)", "!vault abc1"],
        );
    }

    #[test]
    fn generated_secrets_differ_from_names() {
        let secrets = ["k3J9xQ7wZ2pL", "9f86d081884c7d659a2feaa0c55ad015", "acme_live_9f8A7d6B5c4E3f2", "S3cr3t!Value"];
        let others = [
            "client_secret",
            "my-service-name",
            "kube-system/token-abc12",
            "UserToken2",
            "https://x/k3J9xQ7wZ2pL",
            "secrets.json",
        ];
        check(Promise::Explicit, Style::Literal, &secrets, &others);
        check(
            Promise::Weak,
            Style::Literal,
            &["k3J9xQ7wZ2pLm8Nc5Vb1Tg"],
            &["9f86d081884c7d659a2feaa0c55ad015", "k3J9xQ7wZ2pL"],
        );
    }
}
