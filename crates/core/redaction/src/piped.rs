//! Finds passwords that a command line passes to the standard input of a command: `echo VALUE | passwd
//! --stdin user`, `chpasswd <<< user:VALUE`.

use std::ops::Range;

use crate::before::line_before;
use crate::command::{after_user, is_password};
use crate::words::{Word, Words};

/// Commands that read a password from standard input.
pub(crate) static READERS: &[&str] = &[
    "chpasswd",
    "password-stdin",
    "passwd --stdin",
    "| passwd",
    "|passwd",
    "sudo passwd",
    "sudo -s",
    "| kinit",
    "cryptsetup",
    "passphrase-fd",
    "smbpasswd",
    "vncpasswd",
];

/// Maximum distance between a password and the command that reads it, in bytes.
const PIPE_REACH: usize = 80;

/// Maximum length of a here document after `<<EOF`, in bytes.
const DOCUMENT_REACH: usize = 512;

/// The passwords that are passed to the standard input of the command at `hit`: `echo VALUE | …`, `… <<<
/// VALUE`.
pub(crate) fn piped(text: &[u8], hit: &Range<usize>, budget: &mut usize) -> Vec<Range<usize>> {
    let reader = text[hit.clone()].to_ascii_lowercase();
    if *budget == 0 || (reader == b"sudo -s" && !text[hit.clone()].ends_with(b"S")) {
        return Vec::new();
    }
    let has_user = reader == b"chpasswd";
    let mut found = Vec::new();
    for word in echoed(text, hit, budget).into_iter().chain(here_string(text, hit, budget)) {
        let value = if has_user { after_user(text, word, b':') } else { Some(word) };
        found.extend(value.into_iter().flat_map(|value| lines_of(text, value)));
    }
    if has_user {
        found.extend(here_document(text, hit, budget).into_iter().filter_map(|line| after_user(text, line, b':')));
    }
    found.retain(|value| is_password(&text[value.clone()]));
    found
}

/// The password in the argument of `echo` or `printf`, whose output is piped to the command at `hit`. The
/// password must be the only argument that is not an option or a format string.
fn echoed(text: &[u8], hit: &Range<usize>, budget: &mut usize) -> Option<Range<usize>> {
    let line = line_before(text, hit.start);
    *budget = budget.saturating_sub(line.len());
    let start = hit.start - line.len();
    let last = |word: &[u8]| line.windows(word.len()).rposition(|window| window == word).map(|at| at + word.len());
    let from = start + last(b"echo ").max(last(b"printf "))?;
    let mut words = Words::of_command(text, from - b"echo ".len(), from, budget);
    let all: Vec<Word> = words.by_ref().collect();
    let pipe = words.position();
    if text.get(pipe) != Some(&b'|') || pipe > hit.start || hit.start - pipe > PIPE_REACH {
        return None;
    }
    let is_given = |word: &&Word| {
        let bytes = &text[word.whole.clone()];
        !matches!(bytes, b"-n" | b"-e" | b"-ne" | b"-en" | b"-E") && !bytes.windows(2).any(|pair| pair == b"%s")
    };
    let mut given = all.iter().filter(is_given);
    let word = given.next()?.value.clone();
    given.next().is_none().then_some(word)
}

/// The word after `<<<`.
fn here_string(text: &[u8], hit: &Range<usize>, budget: &mut usize) -> Option<Range<usize>> {
    let line = &text[hit.end..text.len().min(hit.end + PIPE_REACH)];
    let line = &line[..line.iter().position(|byte| *byte == b'\n').unwrap_or(line.len())];
    *budget = budget.saturating_sub(line.len());
    let at = hit.end + line.windows(3).position(|sign| sign == b"<<<")? + 3;
    Words::of_command(text, hit.start, at, budget).next().map(|word| word.value)
}

/// The lines of a value whose line breaks are escapes, such as `first\nsecond`.
fn lines_of(text: &[u8], value: Range<usize>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = value.start;
    while let Some(length) = text[start..value.end].windows(2).position(|pair| pair == b"\\n") {
        found.push(start..start + length);
        start += length + 2;
    }
    found.push(start..value.end);
    found
}

/// The lines of the here document after `<<EOF`.
fn here_document(text: &[u8], hit: &Range<usize>, budget: &mut usize) -> Vec<Range<usize>> {
    let reach = &text[hit.end..text.len().min(hit.end + DOCUMENT_REACH)];
    let mut lines = reach.split(|byte| *byte == b'\n');
    let head = lines.next().unwrap_or_default().trim_ascii();
    let Some(mark) = head.strip_prefix(b"<<").map(|mark| mark.strip_prefix(b"-").unwrap_or(mark)) else {
        return Vec::new();
    };
    *budget = budget.saturating_sub(DOCUMENT_REACH);
    let is_quote = |byte: &u8| matches!(byte, b'"' | b'\'' | b' ');
    let mark: Vec<u8> = mark.iter().copied().filter(|byte| !is_quote(byte)).collect();
    let mut at = hit.end + reach.iter().position(|byte| *byte == b'\n').map_or(reach.len(), |length| length + 1);
    let mut found = Vec::new();
    for line in lines.take_while(|line| line.trim_ascii() != mark) {
        let blanks = line.len() - line.trim_ascii_start().len();
        found.push(at + blanks..at + blanks + line.trim_ascii().len());
        at += line.len() + 1;
    }
    found
}
