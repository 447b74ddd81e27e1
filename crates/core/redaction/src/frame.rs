//! Finds values by the text before and after a name: `\newcommand{\password}{…}`, `.. |password|
//! replace:: …`.

use std::ops::Range;

use crate::before::{line_after, line_before};
use crate::judge;

/// The position at which a value ends. The text directly before the name and the text directly after the name
/// form the frame of the value.
enum End {
    /// The value ends at this text on the same line.
    At(&'static str),
    /// The value ends at the end of the line.
    Line,
}

/// The text directly before the name, the text directly after the name, and the end of the value.
const FRAMES: [(&str, &str, End); 17] = [
    ("{\\", "}{", End::At("}")),
    ("\\def\\", "{", End::At("}")),
    ("\\item[", "] ", End::Line),
    ("\\item[", "]\n", End::Line),
    (".. |", "| replace:: ", End::Line),
    ("/", " (", End::At(")")),
    (":", "<", End::At(">")),
    ("([", "], [", End::At("]")),
    ("(`", "', `", End::At("'")),
    ("${", "}  ", End::Line),
    ("${", "}\t", End::Line),
    ("define ", "\n", End::Line),
    (".B ", "\n", End::Line),
    (".IP ", "\n", End::Line),
    ("", "={", End::At("}")),
    ("", " = {", End::At("}")),
    ("", " {", End::At("}")),
];

/// Maximum length of the text from the name to the end of the value, in bytes. A longer value is not read: if
/// only its start were redacted, a part of the secret would remain visible.
const LONGEST: usize = judge::LONGEST;

/// Whether the text after the name may belong to a frame. This check is cheap.
pub(crate) fn may_follow(text: &[u8], name_end: usize) -> bool {
    let may_begin = text.get(name_end).is_some_and(|first| b"}{]|<' \n=".contains(first));
    may_begin && FRAMES.iter().any(|(_, after, _)| text[name_end..].starts_with(after.as_bytes()))
}

/// The last word of a list of names and values between braces: `{login bob password …}`.
pub(crate) fn last_of_list(text: &[u8], name: &Range<usize>) -> Option<Range<usize>> {
    let line = line_before(text, name.start);
    let list = &line[line.iter().rposition(|byte| *byte == b'{')? + 1..];
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_- ".contains(byte);
    let rest = line_after(text, name.end, LONGEST)?.trim_ascii_end();
    let value = rest.strip_prefix(b" ")?.strip_suffix(b"}")?;
    let is_list = !list.is_empty() && list.iter().all(is_word);
    let is_value = !value.is_empty() && !value.iter().any(|byte| *byte <= 32 || b"\"'`{}()[]".contains(byte));
    (is_list && is_value).then(|| name.end + 1..name.end + 1 + value.len())
}

/// The value in the frame around the name.
pub(crate) fn value(text: &[u8], name: &Range<usize>) -> Option<Range<usize>> {
    let (before, after) = (&text[..name.start], &text[name.end..]);
    let is_around =
        |frame: &&(&str, &str, End)| after.starts_with(frame.1.as_bytes()) && before.ends_with(frame.0.as_bytes());
    let (_, after, end) = FRAMES.iter().find(is_around)?;
    let start = name.end + after.len();
    let rest = match end {
        End::At(_) => &text[start..text.len().min(start + LONGEST)],
        End::Line => line_after(text, start, LONGEST)?,
    };
    let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let rest = &rest[blanks..];
    let line = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    let length = match end {
        End::At(sign) => rest[..line].windows(sign.len()).position(|window| window == sign.as_bytes())?,
        End::Line => rest[..line].trim_ascii_end().len(),
    };
    let is_literal = matches!(rest.first(), Some(b'"' | b'\'' | b'`'));
    let is_word = length > 0 && !is_literal && !rest[..length].iter().any(|byte| *byte <= 32);
    let is_style = *after == " {" && is_style(&rest[..length]);
    (is_word && !is_style).then(|| start + blanks..start + blanks + length)
}

/// Whether the text begins like a declaration of a style sheet: `margin-top:1.5em`.
fn is_style(text: &[u8]) -> bool {
    let property = text.iter().take_while(|byte| byte.is_ascii_lowercase() || **byte == b'-').count();
    property > 0 && text.get(property) == Some(&b':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_in_frames_are_found() {
        for (text, expect) in [
            ("\\newcommand{\\password}{k3J9!x}", Some("k3J9!x")),
            (".. |password| replace:: k3J9!x\n", Some("k3J9!x")),
            ("/password (k3J9!x) def", Some("k3J9!x")),
            ("${password}    k3J9!x\n", Some("k3J9!x")),
            ("set password {k3J9!x}", Some("k3J9!x")),
            ("define password\nk3J9!x\nendef", Some("k3J9!x")),
            ("dict set x password {k3J9!x}", Some("k3J9!x")),
            ("set password {a b}", None),
            ("#password {width:50%}", None),
            (".login-password {color:#4a90e2}", None),
            ("f(password (x))", None),
        ] {
            let at = text.find("password").expect("a keyword");
            assert_eq!(value(text.as_bytes(), &(at..at + 8)).map(|value| &text[value]), expect, "{text}");
        }
    }
}
