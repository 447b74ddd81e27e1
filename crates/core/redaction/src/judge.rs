//! Decides whether a value is a secret, from the promise of its name and from its style.

use crate::{entropy, expression, name::Naming, name::Promise, random, shape, shape::Shape, template};

/// How a value is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Style {
    /// A string literal or the text of an XML element: a constant in every language.
    Literal,
    /// A literal inside a call: `env("NAME")` is as likely as `Secret("value")`.
    Wrapped,
    /// Without quotes; the name begins the line and the value ends it, as in YAML and `.properties`.
    Line,
    /// Without quotes in any other place; in most languages this is an expression.
    Loose,
    /// A literal as the argument of a function with that name.
    Call,
    /// A literal after the name and a space: `storePassword "…"`.
    Beside,
    /// After the name and a space, without an operator. This is as often prose as a command.
    Spaced,
    /// Between semicolons of a connection string.
    Connection,
}

/// Longer values are data, not secrets.
const LONGEST: usize = 1000;

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
    match style {
        Style::Literal | Style::Call => is_chosen(value),
        Style::Beside => is_chosen(value) && Shape::of(value).digits > 0,
        Style::Connection => !is_code(value) && !is_reference(value) && !is_stand_in(value) && !is_nothing(value),
        Style::Line => {
            is_chosen(value) && Shape::of(value).blanks == 0 && has_digit_or_sign(value) && !is_code(strip_sign(value))
        }
        Style::Loose | Style::Wrapped | Style::Spaced => value.len() >= 8 && !is_code(value) && is_strong(value),
    }
}

fn is_explicit(naming: Naming, style: Style, value: &[u8]) -> bool {
    if is_code(value)
        || is_reference(value)
        || (style != Style::Literal && is_constant(value))
        || (naming == Naming::Token && shape::is_uuid(value))
    {
        return false;
    }
    // Secrets are chosen as often as they are made: `JWT_SECRET=hunter2dragon`.
    if naming == Naming::Secret && matches!(style, Style::Literal | Style::Call | Style::Line) && is_made_up(value) {
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

/// Whether a person may have chosen the value as a password: it is not a template, a name or a placeholder.
pub(crate) fn is_chosen(value: &[u8]) -> bool {
    let shape = Shape::of(value);
    if value.len() < 6 || value.len() > 128 || is_reference(value) || is_pattern(value) {
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
        (_, 0, 0) => shape::is_letter_noise(value) || is_phrase(value),
        (_, 0, _) => value.len() >= 8 && !is_emphasis(value),
        _ => shape.signs > 0 || shape.joiners == 0 || !shape.is_wordy() || is_phrase(value),
    }
}

fn is_stand_in(value: &[u8]) -> bool {
    random::is_placeholder(value) && !is_complex(Shape::of(value), value) && !is_more_than_a_stand_in(value)
}

/// Whether the value has enough other characters beside a word that names a secret: `hunter2secret`.
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

/// Whether the value is words with blanks that are not a message for a user: `tiger lamp seven`, `My dog
/// 2017!`.
fn is_passphrase(value: &[u8]) -> bool {
    /// Words of messages, labels and programs.
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

/// Whether the value is a generated password with blanks: it has few words and all kinds of signs.
fn is_signed_phrase(value: &[u8]) -> bool {
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

/// Whether the value cannot be a name in a program, so that another occurrence of it is the same secret.
pub(crate) fn is_worth_repeating(value: &[u8]) -> bool {
    let shape = Shape::of(value);
    let has_both = shape.digits > 0 && shape.letters() > 1;
    has_both && shape.blanks == 0 && value.len() <= 200 && !is_identifier_with_digits(value) && !is_reference(value)
}

/// Whether the value has at least twenty letters and digits and few words. Such a value is random, even if
/// other tests do not find it random.
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

/// Whether a person may have chosen the value: it has digits and enough letters, and is not a name of several
/// parts.
pub(crate) fn is_made_up(value: &[u8]) -> bool {
    let shape = Shape::of(value);
    is_chosen(value)
        && shape.digits > 0
        && shape.letters() >= 4
        && shape.blanks == 0
        && (shape.joiners == 0 || shape.signs > 0)
        && !is_identifier_with_digits(value)
}

/// Whether the value is a name in a program. The digits are at its end or belong to a known word: `user2`,
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

/// Removes a sign that begins passwords as often as expressions. (`!vault abc` was excluded by its blank.)
fn strip_sign(value: &[u8]) -> &[u8] {
    match value {
        [b'!' | b'@' | b'%', rest @ ..] if rest.iter().any(u8::is_ascii_digit) && !rest.ends_with(b"%") => rest,
        _ => value,
    }
}

/// Whether the value has all four classes that password rules require. Such a value is a password even if it
/// contains `Test`.
fn is_complex(shape: Shape, value: &[u8]) -> bool {
    let plain = ["example", "{", "<", "$(", "change", "your", "replace", "placeholder", "xxxx", "****"];
    shape.num_classes() == 4
        && shape.joiners == 0
        && !plain.iter().any(|word| shape::contains_ignoring_case(value, word.as_bytes()))
}

/// Whether the value is a phrase such as `correct-horse-battery-staple`.
fn is_phrase(value: &[u8]) -> bool {
    let words: Vec<&[u8]> = value.split(|byte| *byte == b'-').collect();
    words.len() >= 4
        && value.len() >= 20
        && words.iter().all(|word| {
            word.iter().all(u8::is_ascii_digit) || (word.len() >= 3 && word.iter().all(u8::is_ascii_lowercase))
        })
}

/// Whether the value is a word with signs only around it: `Required*`, `Password?`, `*hidden*`.
fn is_emphasis(value: &[u8]) -> bool {
    let inner = value.trim_ascii();
    let is_word = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-' | b'.');
    let start = inner.iter().position(is_word).unwrap_or(inner.len());
    let end = inner.iter().rposition(is_word).map_or(start, |at| at + 1);
    inner[start..end].iter().all(is_word) || inner.iter().filter(|byte| !byte.is_ascii()).count() * 2 > inner.len()
}

/// Whether the value points to something: a path, a URL, a selector, a variable, a file.
fn is_reference(value: &[u8]) -> bool {
    if value.len() >= 24 && value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(byte)) {
        // Base64 may begin with a slash. One of 64 of its signs is a slash, not one of five.
        let slashes = value.iter().filter(|byte| **byte == b'/').count();
        return is_public_key(value) || (slashes > 0 && !(slashes * 6 <= value.len() && random::is_random(value)));
    }
    let holds = |needle: &[u8]| value.windows(needle.len()).any(|window| window == needle);
    begins_path(value)
        || holds(b"://")
        || holds(b"::")
        || holds(b"->")
        || value.starts_with(b"arn:")
        || value.starts_with(b"data:")
        || value.starts_with(b"vault:")
        || value.iter().filter(|byte| **byte == b'/').count() * 4 > value.len()
        || value.windows(3).filter(|part| part.eq_ignore_ascii_case(b"%2f")).count() >= 3
        || is_public_key(value)
        || is_file_name(value)
}

/// Whether the value contains only names and the signs that join them, as in `/etc/x`, `./x`, `~/x`, `#id`,
/// `.class`.
fn begins_path(value: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-~#:$*@+, ".contains(byte) || !byte.is_ascii();
    matches!(value, [b'/' | b'.' | b'#' | b'~', ..])
        && value.iter().all(is_part)
        && value.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_').all(expression::is_name)
}

/// Whether the value is the name of a constant: `MAX_S4U_SIZE2`.
fn is_constant(value: &[u8]) -> bool {
    value.contains(&b'_') && !value.iter().any(|byte| byte.is_ascii_lowercase())
}

/// Whether the value begins as public keys do in base64: those of SSH, then those of X.509 (EC and RSA).
pub(crate) fn is_public_key(value: &[u8]) -> bool {
    [
        b"MFkwEwYHKoZIzj0".as_slice(),
        b"MIIBIjANBgkqhkiG9w0BAQEFAAOC",
        b"MIICIjANBgkqhkiG9w0BAQEFAAOC",
        b"AAAAB3Nza",
        b"AAAAC3Nza",
        b"AAAAE2Vj",
        b"AAAAG",
        b"AAAAI",
    ]
    .iter()
    .any(|start| value.starts_with(start))
}

fn is_file_name(value: &[u8]) -> bool {
    const ENDINGS: [&[u8]; 22] = [
        b".pem", b".key", b".json", b".yml", b".yaml", b".txt", b".crt", b".cer", b".pub", b".c", b".go", b".py",
        b".js", b".ts", b".rs", b".java", b".xml", b".toml", b".conf", b".html", b".png", b".h",
    ];
    ENDINGS.iter().any(|ending| value.ends_with(ending))
}

fn is_nothing(value: &[u8]) -> bool {
    [b"none".as_slice(), b"null", b"true", b"false", b"self", b"this"]
        .iter()
        .any(|word| value.eq_ignore_ascii_case(word))
}

/// Whether the value is a regular expression or a format.
fn is_pattern(value: &[u8]) -> bool {
    const CERTAIN: [&[u8]; 7] = [b"\\x", b"[a-z", b"[A-Z", b"[0-9", b"\\d", b"\\w", b"\\s"];
    /// A generated password may contain one of these by chance.
    const LIKELY: [&[u8]; 4] = [b"(?", b".*", b".+", b"[^"];
    let num = |marks: &[&[u8]]| -> usize {
        marks.iter().map(|mark| value.windows(mark.len()).filter(|window| window == mark).count()).sum()
    };
    let has_digits = value.iter().any(u8::is_ascii_digit);
    num(&CERTAIN) > 0 || num(&LIKELY) > usize::from(has_digits)
}

/// Whether the value is a template, or an expression with signs that a program needs.
pub(crate) fn is_code(value: &[u8]) -> bool {
    let has_signs =
        value.iter().any(|byte| matches!(byte, b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'<' | b'>' | b'\\' | b'|'))
            || matches!(value, [b'&' | b'*' | b'!' | b'$' | b'@' | b'%', ..]);
    (has_signs && expression::is_expression(value)) || template::is_template(value)
}

/// Whether the value is a template, a reference, a pattern, an address or a placeholder.
pub(crate) fn is_never_a_password(value: &[u8]) -> bool {
    template::is_template(value) || is_reference(value) || is_pattern(value) || is_stand_in(value) || is_address(value)
}

/// Whether the value is an address: `user@host.org`.
fn is_address(value: &[u8]) -> bool {
    let Some(at) = value.iter().position(|byte| *byte == b'@') else { return false };
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b'+');
    let (user, host) = (&value[..at], &value[at + 1..]);
    !user.is_empty() && user.iter().all(is_part) && host.iter().all(is_part) && host.contains(&b'.') && {
        let last = host.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
        (2..=6).contains(&last.len()) && last.iter().all(u8::is_ascii_lowercase)
    }
}

pub(crate) fn has_digit_or_sign(value: &[u8]) -> bool {
    let shape = Shape::of(value);
    shape.digits + shape.signs > 0 && shape.letters() > 0
}

/// Whether the value is random, or has so many kinds of signs that it cannot be an identifier.
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

/// Whether a printed value without a name is a secret: it is random or has all kinds of signs.
pub(crate) fn is_printed(value: &[u8]) -> bool {
    let shape = Shape::of(value);
    let mixed = shape.num_classes() == 4 && shape.joiners == 0 && shape.digits > 1 && value.len() <= 40;
    value.len() <= 128
        && !is_reference(value)
        && !random::is_placeholder(value)
        && !value.contains(&b':')
        && (mixed || (random::is_random(value) && shape.digits * 3 <= value.len() * 2))
}

/// Whether the value is random, or has a random part after a prefix in words: `acme_live_9f8A7d6B5c4E`.
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
    fn passwords() {
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
    fn made_secrets() {
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
