//! Finds secrets in the output of a notebook, in which values have no names. If a string in the output is a
//! single word of random characters, the word is reported as a secret. A word that a person may have chosen
//! is reported only if the code of the cell mentions secrets.

use std::ops::Range;

use crate::{judge, shape};

/// Maximum number of bytes that are searched in the output of one cell.
const REACH: usize = 64 * 1024;

/// Maximum length of a line with a secret, in bytes. Longer lines are treated as data.
const LONGEST: usize = 200;

/// Words that occur in the code of programs that print secrets.
const TELLING: [&[u8]; 7] = [b"passw", b"pwd", b"secret", b"token", b"credential", b"api_key", b"apikey"];

pub(crate) static KEYWORDS: &[&str] = &["\"outputs\":"];

/// The secrets in the outputs of the cell whose key `outputs` is at `hit`.
pub(crate) fn printed(text: &[u8], hit: &Range<usize>, budget: &mut usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if *budget == 0 {
        return found;
    }
    let Some(outputs) = list_after(text, hit.end) else { return found };
    *budget = budget.saturating_sub(outputs.len());
    if !text[outputs.clone()].windows(13).any(|key| key == b"\"output_type\"") {
        return found;
    }
    let speaks = speaks_of_secrets(source(text, hit.start, outputs.end));
    let mut at = outputs.start;
    while let Some(string) = next_string(text, at, outputs.end) {
        at = string.end + 1;
        let is_key = text[at..outputs.end].trim_ascii_start().first() == Some(&b':');
        if !is_key && string.len() <= LONGEST {
            found.extend(lone_word(text, &string).filter(|word| is_secret(&text[word.clone()], speaks)));
        }
    }
    found
}

fn is_secret(word: &[u8], speaks: bool) -> bool {
    if word.len() < 8 || judge::is_code(word) || shape::is_uuid(word) {
        return speaks && judge::is_made_up(word);
    }
    judge::is_printed(word) || (speaks && judge::is_made_up(word))
}

/// The range between the next `[` and the matching `]`.
fn list_after(text: &[u8], at: usize) -> Option<Range<usize>> {
    let end = text.len().min(at + REACH);
    let open = at + text[at..end].iter().position(|byte| !byte.is_ascii_whitespace())?;
    if text[open] != b'[' {
        return None;
    }
    let mut depth = 0;
    let mut at = open;
    while at < end {
        match text[at] {
            b'"' => at = next_string(text, at, end)?.end,
            b'[' | b'{' => depth += 1,
            b']' | b'}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(open + 1..at);
                }
            }
            _ => {}
        }
        at += 1;
    }
    Some(open + 1..end)
}

/// The text between the next two quotes.
fn next_string(text: &[u8], at: usize, end: usize) -> Option<Range<usize>> {
    let start = at + text[at..end].iter().position(|byte| *byte == b'"')? + 1;
    let mut at = start;
    while at < end && text[at] != b'"' {
        at += if text[at] == b'\\' { 2 } else { 1 };
    }
    (at < end).then_some(start..at)
}

/// The code of the cell whose outputs are between `before` and `after`. The code may precede or follow the
/// outputs.
fn source(text: &[u8], before: usize, after: usize) -> &[u8] {
    const KEY: &[u8] = b"\"source\"";
    const NEAR: usize = 4096;
    let behind = &text[after..text.len().min(after + NEAR)];
    let behind = &behind[..behind.windows(11).position(|key| key == b"\"cell_type\"").unwrap_or(behind.len())];
    if let Some(at) = behind.windows(KEY.len()).position(|key| key == KEY) {
        return &behind[at..];
    }
    let ahead = &text[before.saturating_sub(NEAR)..before];
    ahead.windows(KEY.len()).rposition(|key| key == KEY).map_or(&[], |at| &ahead[at..])
}

fn speaks_of_secrets(source: &[u8]) -> bool {
    TELLING.iter().any(|word| shape::contains_ignoring_case(source, word))
}

/// The range of the string without quotes and line break, if it is a single word.
fn lone_word(text: &[u8], string: &Range<usize>) -> Option<Range<usize>> {
    let mut word = string.clone();
    if text[word.clone()].ends_with(b"\\n") {
        word.end -= 2;
    }
    let is_quote = |byte: &u8| matches!(byte, b'\'' | b'"' | b'\\' | b' ' | b'`');
    let before = text[word.clone()].iter().take_while(|byte| is_quote(byte)).count();
    word.start += before;
    let after = text[word.clone()].iter().rev().take_while(|byte| is_quote(byte)).count();
    word.end -= after;
    let is_word = text[word.clone()].iter().all(|byte| byte.is_ascii_graphic() && *byte != b'\\');
    (is_word && !word.is_empty()).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(outputs: &str, source: &str, expect: &[&str]) {
        let keys = format!("\"output_type\": \"x\", {outputs}");
        for text in [
            format!("{{\"outputs\": [{{{keys}}}], \"source\": [\"{source}\"]}}"),
            format!("{{\"source\": [\"{source}\"], \"outputs\": [{{{keys}}}]}}"),
        ] {
            let at = text.find(KEYWORDS[0]).expect("outputs");
            let found = printed(text.as_bytes(), &(at..at + KEYWORDS[0].len()), &mut 10_000);
            let found: Vec<&str> = found.into_iter().map(|word| &text[word]).collect();
            assert_eq!(found, expect, "{text}");
        }
    }

    #[test]
    fn lone_words_are_judged() {
        check("\"text\": [\"k3J9!xQ7wZ2p\\n\"]", "value", &["k3J9!xQ7wZ2p"]);
        check("\"data\": {\"text/plain\": [\"'k3J9xQ7wZ2pLm8Nc'\"]}", "x", &["k3J9xQ7wZ2pLm8Nc"]);
        check("\"text\": \"hunter2dragon\\n\"", "print(password)", &["hunter2dragon"]);
        check("\"text\": \"hunter2dragon\\n\"", "print(animal)", &[]);
        check("\"text\": [\"(100, 20)\\n\", \"done\\n\", \"2024-01-02T03:04:05\\n\", \"0.98321\\n\"]", "x", &[]);
        check("\"text\": [\"a line of k3J9!xQ7wZ2p\\n\"]", "x", &[]);
    }
}
