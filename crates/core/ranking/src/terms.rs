//! Converts text to terms, the entries of the sparse index.
//!
//! Text is cut into identifiers. The terms of an identifier are the stems of its words (see
//! [`crate::words`]). An identifier of several words also has a compound term, which consists of all its
//! words without separators. So `get_user`, `getUser` and the question "get user" share `get` and `user`, and
//! the two spellings also share `getuser`. Words may contain letters outside ASCII. These letters are
//! converted to lower case, and diacritics are removed. In scripts without spaces between words, each pair of
//! neighbouring characters is a word.
//!
//! A term is stored as a hash of 32 bits. The hash is the 64-bit FNV-1a hash of the UTF-8 bytes. Its two
//! halves are combined by exclusive or. Every stored index contains these hashes, so the hash function never
//! changes.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::stem::{Stem, is_stop_word_bytes, stem};
use crate::words::{Class, word_end};

/// Only this number of bytes at the start of an identifier is converted to terms. A longer identifier has no
/// compound term, because it is probably data and not a name.
const MAX_IDENTIFIER_BYTES: usize = 64;

/// Selects which words become terms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StopWords {
    /// Stop words are dropped. Used for passages and questions.
    Dropped,
    /// All words become terms. Used for names.
    Kept,
}

/// Calls `term` with the hash of every term of `text`. The terms are in order and may repeat.
pub fn terms(text: &str, stop_words: StopWords, mut term: impl FnMut(u32)) {
    let bytes = text.as_bytes();
    let mut position = 0;
    while position < bytes.len() {
        match Class::of(bytes[position]) {
            Class::Separator => position += 1,
            Class::Other => position = with_other_letters(text, position, position, stop_words, &mut term),
            _ => {
                let end = ascii_end(bytes, position);
                if bytes.get(end).is_some_and(|byte| Class::of(*byte) == Class::Other) {
                    position = with_other_letters(text, position, end, stop_words, &mut term);
                } else {
                    ascii_identifier(&bytes[position..end], stop_words, &mut term);
                    position = end;
                }
            }
        }
    }
}

/// The terms of a text, sorted, without duplicates.
pub(crate) fn distinct_terms(text: &str, stop_words: StopWords) -> Vec<u32> {
    let mut found = Vec::new();
    terms(text, stop_words, |term| found.push(term));
    found.sort_unstable();
    found.dedup();
    found
}

fn ascii_end(bytes: &[u8], start: usize) -> usize {
    let mut end = start;
    while end < bytes.len() && !matches!(Class::of(bytes[end]), Class::Separator | Class::Other) {
        end += 1;
    }
    end
}

/// Reads the identifier at `start`. The part of the identifier before the position `known` is ASCII. The
/// character at `known` is not ASCII and may continue the identifier. Returns the position after the
/// identifier.
fn with_other_letters(
    text: &str,
    start: usize,
    known: usize,
    stop_words: StopWords,
    term: &mut impl FnMut(u32),
) -> usize {
    let rest = &text[known..];
    let length = rest.find(|character| !is_identifier_character(character)).unwrap_or(rest.len());
    let end = known + length;
    if length == 0 {
        ascii_identifier(&text.as_bytes()[start..known], stop_words, term);
        // Skips the character, because it does not belong to an identifier.
        return known + rest.chars().next().map_or(1, char::len_utf8);
    }
    other_identifier(&text[start..end], stop_words, term);
    end
}

fn is_identifier_character(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_alphanumeric() || character == '_' || character == '$';
    }
    character.is_alphanumeric() || is_combining_mark(character)
}

fn ascii_identifier(bytes: &[u8], stop_words: StopWords, term: &mut impl FnMut(u32)) {
    let mut compound = [0; MAX_IDENTIFIER_BYTES];
    let mut length = 0;
    let mut num_words = 0;
    let mut position = 0;
    while position < bytes.len() {
        if !Class::of(bytes[position]).starts_word() {
            position += 1;
            continue;
        }
        let end = word_end(bytes, position);
        let word_length = end - position;
        num_words += 1;
        if length + word_length <= MAX_IDENTIFIER_BYTES {
            let word = &mut compound[length..length + word_length];
            word.copy_from_slice(&bytes[position..end]);
            word.make_ascii_lowercase();
            ascii_word(word, stop_words, term);
        }
        length += word_length;
        position = end;
    }
    if num_words > 1 && length <= MAX_IDENTIFIER_BYTES {
        ascii_word(&compound[..length], stop_words, term);
    }
}

fn ascii_word(word: &[u8], stop_words: StopWords, term: &mut impl FnMut(u32)) {
    if stop_words == StopWords::Kept || !is_stop_word_bytes(word) {
        term(hash_of_stem(stem(word)));
    }
}

/// Reads an identifier with letters outside ASCII. Such identifiers are rare, so this function may allocate
/// memory.
fn other_identifier(identifier: &str, stop_words: StopWords, term: &mut impl FnMut(u32)) {
    let folded: String = identifier.nfkd().filter(|character| !is_diacritic(*character)).nfc().collect();
    if folded.is_ascii() {
        return ascii_identifier(folded.as_bytes(), stop_words, term);
    }
    let mut num_words = 0;
    for word in folded.split(|character: char| !character.is_alphanumeric()) {
        for part in capitalised_parts(word) {
            num_words += 1;
            other_word(&part.to_lowercase(), term);
        }
    }
    if num_words > 1 && folded.len() <= MAX_IDENTIFIER_BYTES && !folded.contains(is_unspaced) {
        let compound: String = folded.chars().filter(|character| character.is_alphanumeric()).collect();
        term(hash_of_stem(whole(compound.to_lowercase().as_bytes())));
    }
}

/// Splits a word before each capital that follows a lower-case letter: `größeÄndern` is split before `Ä`.
fn capitalised_parts(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let mut previous_lower = false;
        let end = rest.char_indices().find(|(_, character)| {
            let boundary = previous_lower && character.is_uppercase();
            previous_lower = character.is_lowercase();
            boundary
        });
        let (part, after) = rest.split_at(end.map_or(rest.len(), |(index, _)| index));
        rest = after;
        (!part.is_empty()).then_some(part)
    })
}

fn other_word(word: &str, term: &mut impl FnMut(u32)) {
    if !word.contains(is_unspaced) {
        if word.len() <= MAX_IDENTIFIER_BYTES {
            term(hash_of_stem(whole(word.as_bytes())));
        }
        return;
    }
    let starts: Vec<usize> = word.char_indices().map(|(index, _)| index).chain([word.len()]).collect();
    let num_characters = starts.len() - 1;
    for first in 0..num_characters.saturating_sub(1).max(1) {
        let end = starts[(first + 2).min(num_characters)];
        term(hash_of_stem(whole(&word.as_bytes()[starts[first]..end])));
    }
}

/// Whether the character is a mark that NFKD separates from Latin, Greek and Cyrillic letters. Marks of other
/// scripts are kept, because they change the word.
fn is_diacritic(character: char) -> bool {
    ('\u{300}'..='\u{36F}').contains(&character)
}

/// Whether the script of the character is written without spaces between words: Thai to Myanmar, Khmer, kana,
/// Han, Hangul.
pub(crate) fn is_unspaced(character: char) -> bool {
    matches!(u32::from(character), 0xE00..=0x109F | 0x1780..=0x17FF | 0x3040..=0x30FF | 0x3400..=0x9FFF
        | 0xAC00..=0xD7AF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

fn whole(word: &[u8]) -> Stem<'_> {
    Stem { kept: word, ends_in_y: false }
}

fn hash_of_stem(stem: Stem<'_>) -> u32 {
    const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(PRIME);
    let mut hash = stem.kept.iter().fold(OFFSET_BASIS, step);
    if stem.ends_in_y {
        hash = step(hash, &b'y');
    }
    (hash ^ (hash >> 32)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, stop_words: StopWords) -> Vec<u32> {
        let mut found = Vec::new();
        terms(text, stop_words, |term| found.push(term));
        found
    }

    fn check(text: &str, expect: &[&str]) {
        let expect: Vec<u32> = expect.iter().map(|word| hash_of_stem(whole(word.as_bytes()))).collect();
        assert_eq!(found(text, StopWords::Dropped), expect, "{text}");
    }

    #[test]
    fn text_becomes_words_compounds_and_stems() {
        check("getUsers(user_id)", &["get", "user", "getuser", "user", "id", "userid"]);
        check("the users of a cache", &["user", "cach"]);
        check("sha256 0x1F", &["sha", "256", "sha256", "0", "x", "1", "f", "0x1f"]);
        check("ADR-025", &["adr", "025"]);
        check("src/net/http_client.rs", &["src", "net", "http", "client", "httpclient", "rs"]);
        check("queries", &["query"]);
        check("", &[]);
        check("$ _ --", &[]);
    }

    #[test]
    fn words_of_other_scripts_become_terms() {
        check("Größe ändern", &["große", "andern"]);
        check("résumé", &["resum"]);
        check("re\u{301}sume\u{301}", &["resum"]);
        check("наБор_данных", &["на", "бор", "данных", "наборданных"]);
        check("用户认证", &["用户", "户认", "认证"]);
        check("字", &["字"]);
    }

    #[test]
    fn stop_words_are_kept_in_names_and_long_data_is_cut() {
        assert_eq!(found("with", StopWords::Kept).len(), 1);
        assert_eq!(found("with", StopWords::Dropped).len(), 0);
        assert_eq!(found(&"ab1".repeat(400), StopWords::Dropped).len(), 42);
    }

    #[test]
    fn term_hash_never_changes() {
        // Stored indexes contain these hashes.
        assert_eq!(found("user größe", StopWords::Dropped), [2_118_961_174, 1_915_456_930]);
    }
}
