//! Finds the keywords of a question: its words except stop words. Identifiers are split into words.

use std::sync::LazyLock;

use crate::tokens::{Token, TokenKind};
use crate::vocabulary::list;

/// Words that never help to find code. Sorted.
static STOP_WORDS: LazyLock<&[&str]> = LazyLock::new(|| list("stop_words"));

/// Whether a lower-case word does not describe the subject of a question.
pub fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok() || cairn_ranking::is_stop_word(word)
}

/// The keywords in the order of the question, without duplicates. Words in code spans are not keywords,
/// because each code span is a mention. If a question has no keyword, all its words are returned.
pub(crate) fn keywords(tokens: &[Token]) -> Vec<String> {
    let is_keyword = |word: &str| {
        word.chars().count() > 1 && !is_stop_word(word) && !word.chars().all(|character| character.is_ascii_digit())
    };
    let is_text = |token: &&Token| token.kind != TokenKind::Code;
    let found = distinct(tokens.iter().filter(is_text), is_keyword);
    if found.is_empty() { distinct(tokens.iter(), |_| true) } else { found }
}

fn distinct<'a>(tokens: impl Iterator<Item = &'a Token>, keep: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for token in tokens {
        split(&token.text, |word| {
            if keep(word) && found.iter().all(|known| known != word) {
                found.push(word.to_owned());
            }
        });
    }
    found
}

/// Calls `word` with every word of a text, in lower case.
pub(crate) fn split(text: &str, mut word: impl FnMut(&str)) {
    for run in text.split(|character: char| !character.is_alphanumeric()) {
        if run.is_ascii() && !is_plain(run) {
            cairn_ranking::words(run, &mut word);
        } else if !run.is_empty() {
            word(&run.to_lowercase());
        }
    }
}

/// Whether a sequence of letters and digits is one word. In a word, only the first letter may be a capital,
/// and digits may be only at the end, so "oauth2" and "sha256" are not split. A plural acronym such as "APIs"
/// is also one word.
fn is_plain(run: &str) -> bool {
    let letters = run.trim_end_matches(|character: char| character.is_ascii_digit());
    let is_acronym = letters
        .strip_suffix('s')
        .is_some_and(|start| start.len() > 1 && start.bytes().all(|byte| byte.is_ascii_uppercase()));
    let is_word = letters.chars().skip(1).all(|character| character.is_ascii_lowercase());
    !letters.is_empty() && (is_word || is_acronym || letters.bytes().all(|byte| byte.is_ascii_uppercase()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::tokenize;

    fn check(question: &str, expect: &[&str]) {
        assert_eq!(keywords(&tokenize(question)), expect, "{question}");
    }

    #[test]
    fn stop_words_are_removed_and_identifiers_are_split() {
        assert!(STOP_WORDS.is_sorted());
        check("how does authentication work?", &["authentication"]);
        check("find handleAuthError", &["handle", "auth", "error"]);
        check("where is user validation", &["user", "validation"]);
        check("the get_user_by_id function in 2024", &["user", "id", "function"]);
        check("db timeout, DB timeout", &["db", "timeout"]);
        check("what calls `open`?", &["calls"]);
        check("explain `open`", &["explain", "open"]);
        check("oauth2 and sha256 of APIs", &["oauth2", "sha256", "apis"]);
        check("Größe der Datei", &["größe", "der", "datei"]);
        check("how does it work", &["how", "does", "it", "work"]);
        check("", &[]);
    }
}
