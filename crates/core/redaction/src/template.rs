//! Recognises values that contain placeholders to fill in later: `${VAR}`, `{{ x }}`, `<password>`, `%s`,
//! `$NAME`.

use crate::expression::is_name;
use crate::shape::{self, Shape};

/// The texts that open a placeholder, each with the text that closes it.
const PAIRS: [(&[u8], &[u8]); 8] = [
    (b"${", b"}"),
    (b"{{", b"}}"),
    (b"#{", b"}"),
    (b"$(", b")"),
    (b"%(", b")"),
    (b"<%", b"%>"),
    (b"@{", b"}"),
    (b"$[", b"]"),
];

/// Characters that enclose a label: `<your password>`, `[password]`, `{0}`, `%PASSWORD%`, `__PASSWORD__`.
const AROUND: [(u8, u8); 4] = [(b'<', b'>'), (b'[', b']'), (b'{', b'}'), (b'%', b'%')];

/// Whether a part of the value is a placeholder that is filled in later.
pub(crate) fn is_template(value: &[u8]) -> bool {
    is_variable(value)
        || PAIRS.iter().any(|(open, close)| holds_pair(value, open, close))
        || AROUND.iter().any(|(open, close)| holds_label(value, *open, *close))
        || (has_format_specifier(value) && !shape::is_bare_noise(value))
}

/// Whether the value is a variable, such as `$NAME` or `$1`.
fn is_variable(value: &[u8]) -> bool {
    match value {
        [b'$', rest @ ..] => rest.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') && is_name(rest),
        _ => false,
    }
}

/// Whether the value contains `open` and, after it, `close`. If `close` is missing, the end of the value may
/// be missing. Then the result is also true if a name or nothing follows `open`.
fn holds_pair(value: &[u8], open: &[u8], close: &[u8]) -> bool {
    let Some(at) = find(value, open) else { return false };
    let inner = &value[at + open.len()..];
    match find(inner, close) {
        Some(_) => true,
        None => {
            let length = inner.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
            let is_cut = inner.is_empty() && !value[..at].iter().any(u8::is_ascii_digit);
            is_cut || (is_name(&inner[..length]) && (is_wordy(&inner[..length]) || (at == 0 && length > 0)))
        }
    }
}

fn holds_label(value: &[u8], open: u8, close: u8) -> bool {
    let mut from = 0;
    while let Some(at) = value[from..].iter().position(|byte| *byte == open) {
        let inner = &value[from + at + 1..];
        let Some(length) = inner.iter().position(|byte| *byte == close) else { break };
        let whole = from + at == 0 && length + 2 == value.len();
        let outside_has_digit = value[..from + at].iter().chain(&inner[length..]).any(|byte| byte.is_ascii_digit());
        if is_label(&inner[..length], open, whole) && (!outside_has_digit || is_wordy(&inner[..length])) {
            return true;
        }
        from += at + 1;
    }
    // The value may end at a blank, as in `<password` or `[Required`.
    matches!(value.first(), Some(b'<' | b'[')) && is_words(&value[1..]) && (is_wordy(value) || value.len() < 8)
}

/// Whether the text between brackets is a label. Between braces, the text may also be a number or a format
/// specifier, or be empty.
fn is_label(inner: &[u8], open: u8, whole: bool) -> bool {
    let inner = inner.trim_ascii();
    match open {
        b'{' => {
            inner.is_empty()
                || inner.iter().all(u8::is_ascii_digit)
                || matches!(inner[0], b':' | b'!')
                || is_words(inner.split(|byte| matches!(byte, b':' | b'!')).next().unwrap_or_default())
        }
        b'%' => inner.len() >= 3 && whole && is_words(inner),
        _ => inner.len() >= 3 && is_words(inner) || (whole && !inner.iter().any(u8::is_ascii_digit)),
    }
}

/// Whether most letters of the text belong to words.
fn is_wordy(text: &[u8]) -> bool {
    Shape::of(text).is_wordy()
}

/// Whether the text consists only of names, blanks, and characters that may join names or enclose them.
fn is_words(text: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-. '\"$[]()/,|:".contains(byte);
    let is_joiner = |byte: &u8| !byte.is_ascii_alphanumeric();
    text.iter().any(u8::is_ascii_alphabetic) && text.iter().all(is_part) && text.split(is_joiner).all(is_name)
}

/// Whether the value contains a format specifier such as `%s`, `%d`, `%-10s` or `%v`.
fn has_format_specifier(value: &[u8]) -> bool {
    value.iter().enumerate().filter(|(_, byte)| **byte == b'%').any(|(at, _)| {
        let rest = &value[at + 1..];
        let length =
            rest.iter().take_while(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'.' | b'*' | b'#' | b'+')).count();
        let rest = &rest[length..];
        matches!(rest.first(), Some(b's' | b'v' | b'd' | b'q' | b'@' | b'x' | b'u' | b'w'))
            && !rest.get(1).is_some_and(u8::is_ascii_alphanumeric)
            && (length == 0 || rest.len() == 1)
    })
}

fn find(value: &[u8], needle: &[u8]) -> Option<usize> {
    value.windows(needle.len()).position(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_recognised() {
        for template in [
            "${DB_PASS}",
            "{{ x }}",
            "{{x",
            "<password>",
            "<your password>",
            "%s",
            "%s:%s",
            "$NAME",
            "$1",
            "#{x}",
            "$(cat x)",
            "{password}",
            "{0}",
            "{}",
            "%PASSWORD%",
            "%(password)s",
            "<%= x %>",
            "[password]",
            "<PASSWORD",
            "x-${A}-y",
            "pre{user.name}",
            "${VAR:-x}",
            "@{name}",
        ] {
            assert!(is_template(template.as_bytes()), "{template}");
        }
    }

    #[test]
    fn passwords_with_signs_are_not_templates() {
        for password in
            ["<k3x9>Qz", "[9kQ2]mZ", "{7hK}pQ2z", "$aB3xK9q2", "%7kQ2m%z", "k3%sQ9", "x{Q9m}2k", "a<3bQ9", "$9kQ(2m"]
        {
            assert!(!is_template(password.as_bytes()), "{password}");
        }
    }
}
