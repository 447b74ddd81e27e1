//! Splits identifiers into words. The embedding model and the term index use these words.
//!
//! The results of [`words`] must never change, because the embedding model was trained on exactly these
//! words. Only the speed of the function may change. The function implements the pattern of the training
//! scripts, `[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+`. Matches are searched from left to right, and
//! each match is converted to lower case.

/// Longer words are converted to lower case on the heap. Identifiers that people write are usually shorter.
const STACK_BYTES: usize = 64;

/// Calls `word` with every word of `text` in lower case, in order.
///
/// `parseHTTPResponse2` has the words `parse`, `http`, `response`, `2`. Bytes other than ASCII letters and
/// digits separate words and are never part of a word. Memory is allocated only for capitalised words of more
/// than 64 bytes.
///
/// ```
/// let mut found = Vec::new();
/// cairn_ranking::words("parseHTTPResponse2", |word| found.push(word.to_owned()));
/// assert_eq!(found, ["parse", "http", "response", "2"]);
/// ```
pub fn words(text: &str, mut word: impl FnMut(&str)) {
    let bytes = text.as_bytes();
    let mut position = 0;
    while position < bytes.len() {
        if !Class::of(bytes[position]).starts_word() {
            position += 1;
            continue;
        }
        let end = word_end(bytes, position);
        // The word consists of ASCII bytes, so both ends are on character boundaries.
        lower(&text[position..end], &mut word);
        position = end;
    }
}

/// The class of a byte within identifiers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Lower,
    Upper,
    Digit,
    /// `_` and `$`, which join words.
    Joint,
    /// Part of a character outside ASCII.
    Other,
    Separator,
}

/// A table is used for speed, because the class is read for every byte of every chunk.
static CLASSES: [Class; 256] = {
    let mut classes = [Class::Separator; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' => Class::Lower,
            b'A'..=b'Z' => Class::Upper,
            b'0'..=b'9' => Class::Digit,
            b'_' | b'$' => Class::Joint,
            0x80..=0xff => Class::Other,
            _ => Class::Separator,
        };
        byte += 1;
    }
    classes
};

impl Class {
    #[inline]
    pub(crate) fn of(byte: u8) -> Self {
        CLASSES[usize::from(byte)]
    }

    #[inline]
    pub(crate) fn starts_word(self) -> bool {
        matches!(self, Class::Lower | Class::Upper | Class::Digit)
    }
}

/// The end of the word that starts at `start`. The byte at `start` must be an ASCII letter or digit.
#[inline]
pub(crate) fn word_end(bytes: &[u8], start: usize) -> usize {
    let run = |mut end: usize, class: Class| {
        while end < bytes.len() && Class::of(bytes[end]) == class {
            end += 1;
        }
        end
    };
    match Class::of(bytes[start]) {
        Class::Lower => return run(start + 1, Class::Lower),
        Class::Digit => return run(start + 1, Class::Digit),
        _ => {}
    }
    let end = run(start + 1, Class::Upper);
    let lower_follows = end < bytes.len() && Class::of(bytes[end]) == Class::Lower;
    match (end - start, lower_follows) {
        (1, _) => run(end, Class::Lower),
        // In `HTTPResponse`, the last capital of `HTTPR` belongs to the next word.
        (_, true) => end - 1,
        (_, false) => end,
    }
}

fn lower(written: &str, word: &mut impl FnMut(&str)) {
    if !written.as_bytes()[0].is_ascii_uppercase() {
        // A word has either no capitals, or a capital at its start, or only capitals.
        return word(written);
    }
    if written.len() > STACK_BYTES {
        return word(&written.to_ascii_lowercase());
    }
    let mut buffer = [0; STACK_BYTES];
    let lowered = &mut buffer[..written.len()];
    lowered.copy_from_slice(written.as_bytes());
    lowered.make_ascii_lowercase();
    if let Ok(lowered) = str::from_utf8(lowered) {
        word(lowered);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        words(text, |word| found.push(word.to_owned()));
        found
    }

    fn check(text: &str, expect: &[&str]) {
        assert_eq!(split(text), expect, "{text}");
    }

    #[test]
    fn identifiers_split_by_their_style() {
        check("getUserById", &["get", "user", "by", "id"]);
        check("get_user_by_id", &["get", "user", "by", "id"]);
        check("parseHTTPResponse", &["parse", "http", "response"]);
        check("HTTPServer", &["http", "server"]);
        check("HTTP", &["http"]);
        check("HTTPs", &["htt", "ps"]);
        check("aB", &["a", "b"]);
        check("ABc", &["a", "bc"]);
        check("A", &["a"]);
        check("sha256Sum", &["sha", "256", "sum"]);
        check("UTF8", &["utf", "8"]);
        check("größe", &["gr", "e"]);
        check("ÄBc", &["bc"]);
        check("", &[]);
        check("--- ", &[]);
        let long = "A".repeat(100);
        check(&long, &[&long.to_lowercase()]);
    }

    /// Splits the text by trying the alternatives of the pattern in order, as a backtracking engine does.
    fn by_pattern(text: &str) -> Vec<String> {
        let characters: Vec<char> = text.chars().collect();
        let at = |index: usize| characters.get(index).copied().unwrap_or(' ');
        let mut found = Vec::new();
        let mut position = 0;
        while position < characters.len() {
            let count =
                |from: usize, test: fn(&char) -> bool| characters[from..].iter().take_while(|c| test(c)).count();
            let uppers = count(position, char::is_ascii_uppercase);
            let before_word = (1..=uppers).rev().find(|length| {
                at(position + length).is_ascii_uppercase() && at(position + length + 1).is_ascii_lowercase()
            });
            let capital = usize::from(at(position).is_ascii_uppercase());
            let lowers = count(position + capital, char::is_ascii_lowercase);
            let digits = count(position, char::is_ascii_digit);
            let length = match (before_word, lowers) {
                (Some(length), _) => length,
                (None, 1..) => capital + lowers,
                (None, 0) => uppers.max(digits),
            };
            if length > 0 {
                found.push(characters[position..position + length].iter().collect::<String>().to_lowercase());
            }
            position += length.max(1);
        }
        found
    }

    proptest! {
        #[test]
        fn scanner_splits_like_the_regular_expression(text in "[A-Ca-c0-1_é]{0,24}") {
            prop_assert_eq!(split(&text), by_pattern(&text));
        }
    }
}
