//! Writes a generated value in the form that its surroundings require.

use std::fmt::Write as _;

use crate::surroundings::Writing;

/// The value in the form that these surroundings require. `None` if these surroundings cannot contain the
/// value.
pub fn written(value: &str, writing: Writing) -> Option<String> {
    let has = |signs: &str| value.contains(|character| signs.contains(character));
    let escaped = |quote: char| value.replace('\\', "\\\\").replace(quote, &format!("\\{quote}"));
    match writing {
        Writing::Line => (!has(" ")).then(|| value.to_owned()),
        Writing::Yaml => (!has(" ") && !is_special_in_yaml(value)).then(|| value.to_owned()),
        Writing::Double => Some(escaped('"')),
        Writing::Single => Some(escaped('\'')),
        Writing::Doubled => Some(value.replace('\'', "''")),
        Writing::Shell => Some(value.replace('\'', "'\\''")),
        Writing::Xml => {
            Some(value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;"))
        }
        Writing::Url => Some(percent_encoded(value, b"-_.~!$*+,;=()'")),
        Writing::Semicolon => (!has(";\"' ")).then(|| value.to_owned()),
        Writing::Word => (!has(" \"'`\\$&|;<>(){}*?!#~[]") && value.is_ascii()).then(|| value.to_owned()),
        Writing::Colons => (!has(" ")).then(|| value.replace('\\', "\\\\").replace(':', "\\:")),
        Writing::Comma => (!has(" ,\"'")).then(|| value.to_owned()),
        Writing::Verbatim => Some(value.replace('"', "\"\"")),
        Writing::Blunt => {
            let is_special = |character: char| ";\"'`,&|<>()$ \\#*?[]{}!~:=".contains(character);
            Some(value.chars().map(|character| if is_special(character) { '_' } else { character }).collect())
        }
        Writing::Make => (!has(" #$")).then(|| value.to_owned()),
        Writing::Connection => (!has(";\"'<>& ")).then(|| value.to_owned()),
        Writing::Percent => Some(percent_encoded(value, b"")),
        Writing::Cell => (!has(" |`")).then(|| value.to_owned()),
        Writing::Backtick => (!has("`\\")).then(|| value.replace("${", "$.")),
        Writing::Brackets => (!has("()[]{}<>\\#\"") && !value.contains("''")).then(|| value.to_owned()),
        Writing::BracketWord => (!has("()[]{}<>\\\"'`$;, ")).then(|| value.to_owned()),
        Writing::Slashes => (!has("/|\\$")).then(|| value.to_owned()),
        Writing::Tex => (!has("\\{}%#$&~^_ ")).then(|| value.to_owned()),
        Writing::Backslash => Some(backslash_escaped(value)),
        Writing::RawUrl => (!has("@/#?[]\" <>")).then(|| value.to_owned()),
        Writing::Base64 => Some(base64(value.as_bytes())),
    }
}

fn is_special_in_yaml(value: &str) -> bool {
    value.starts_with(|first| "!&*[]{}<>|%@`#\"',-?:.~".contains(first)) || value.contains(": ") || value.ends_with(':')
}

/// Percent-encodes all bytes except ASCII letters, ASCII digits and the bytes in `kept`.
fn percent_encoded(value: &str, kept: &[u8]) -> String {
    let mut out = String::new();
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || kept.contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// Adds a backslash before each space and before each ASCII punctuation character except `-_./:+@%,=`.
fn backslash_escaped(value: &str) -> String {
    let mut out = String::new();
    for character in value.chars() {
        if character.is_ascii_punctuation() && !"-_./:+@%,=".contains(character) || character == ' ' {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

pub const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn base64(bytes: &[u8]) -> String {
    let mut out = String::new();
    for group in bytes.chunks(3) {
        let bits = group.iter().chain(&[0, 0]).take(3).fold(0, |bits, byte| bits << 8 | usize::from(*byte));
        for place in 0..4 {
            let digit = &BASE64[bits >> (18 - 6 * place) & 63..][..1];
            out.push_str(if place <= group.len() { digit } else { "=" });
        }
    }
    out
}
