//! Finds the password in a pair of user and password, as in `Credentials: bob / …`.

use std::ops::Range;

use crate::data::{is_strong_choice, is_written};
use crate::name::Promise;

/// Words that precede a pair of user and password.
pub(crate) static HEADS: &[&str] = &["login", "credentials", "creds", "account", "default user"];

/// Maximum length of a user name, in bytes.
const LONGEST_USER: usize = 40;

/// Maximum length of a password, in bytes.
const LONGEST: usize = 80;

/// The password of the pair after the word at `hit`.
pub(crate) fn password(text: &[u8], hit: &Range<usize>) -> Option<Range<usize>> {
    let at = hit.end + usize::from(text.get(hit.end) == Some(&b's'));
    let signs = skip(text, at, b"*`: =", 8);
    if signs == at || !text[at..signs].iter().any(|byte| matches!(byte, b':' | b'=')) {
        return None;
    }
    let user = skip(text, signs, b"`\"*", 2);
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.@-".contains(byte);
    let length = text[user..].iter().take(LONGEST_USER + 1).take_while(|byte| is_part(byte)).count();
    let slash = skip(text, skip(text, user + length, b"`\"*", 2), b" ", 1);
    if !(2..=LONGEST_USER).contains(&length) || text.get(slash) != Some(&b'/') {
        return None;
    }
    let start = skip(text, slash + 1, b" ", 1);
    let quote = text.get(start).copied().filter(|byte| matches!(byte, b'`' | b'"'));
    let start = start + usize::from(quote.is_some());
    let rest = &text[start..text.len().min(start + LONGEST + 1)];
    let is_end = |byte: &u8| *byte == b'\n' || quote.map_or(*byte <= 32, |quote| *byte == quote);
    let length = rest.iter().position(is_end).unwrap_or(rest.len());
    let value = start..start + length;
    let bytes = &text[value.clone()];
    let is_password = is_strong_choice(bytes) || is_written(bytes, Promise::Password, true);
    (length <= LONGEST && is_password).then_some(value)
}

/// Skips at most `most` bytes that are in `signs`, and returns the position after them.
fn skip(text: &[u8], from: usize, signs: &[u8], most: usize) -> usize {
    let rest = &text[from.min(text.len())..];
    from + rest.iter().take(most).take_while(|byte| signs.contains(byte)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn password_follows_the_user_and_a_slash() {
        for (text, expect) in [
            ("login: bob / k3,J9;x!Q", Some("k3,J9;x!Q")),
            ("login:** `bob` / `k3 J9(x!Q`", Some("k3 J9(x!Q")),
            ("login: \"bob\"/\"k3J9/x!Q\"", Some("k3J9/x!Q")),
            ("login: path/to/file", None),
            ("login bob / k3J9x!Q", None),
        ] {
            let found = password(text.as_bytes(), &(0..5));
            assert_eq!(found.map(|value| &text[value]), expect, "{text}");
        }
    }
}
