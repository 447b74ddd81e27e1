//! The facts about the text of a chunk that the second stage of the ranking uses.
//!
//! The facts depend only on the text, so a process can cache them by the hash of the text. A question then
//! reads and splits only texts that no earlier question has read.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use cairn_domain::ContentHash;
use rustc_hash::{FxHashSet, FxHasher};

use crate::code_lines::{code_lines, identifiers, words_in_literals};
use crate::{StopWords, is_stop_word, terms, words};

/// Only this number of words at the start of a text is compared, as in the vector of a chunk.
const MAX_WORDS: usize = 1_200;
/// Shorter words are ignored if the question does not contain the same word, because names of variables have
/// some similarity to any word.
const MIN_WORD: usize = 3;
/// Shorter identifiers are ignored, because they often have a different meaning in other code.
pub(crate) const MIN_IDENTIFIER: usize = 4;

/// The facts about texts, by the hashes of the texts.
pub type FactsOfTexts = HashMap<ContentHash, Arc<TextFacts>>;

/// The key of a word in lower case: the 32-bit FNV-1a hash of its bytes. The shipped embedding model finds
/// the row of a word by this key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct WordKey(pub u32);

impl WordKey {
    #[inline]
    pub fn of(word: &str) -> Self {
        Self(word.bytes().fold(0x811C_9DC5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)))
    }
}

/// A word of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TextWord {
    pub(crate) key: WordKey,
    /// The term of the word in the sparse index.
    pub(crate) term: u32,
    /// Whether the word has fewer than [`MIN_WORD`] bytes.
    pub(crate) is_short: bool,
}

/// The facts about a text.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct TextFacts {
    /// The distinct words without stop words, in the order of their first occurrence.
    words: Box<[TextWord]>,
    /// The hashes of the distinct identifiers in lines of code, sorted.
    identifiers: Box<[u64]>,
    /// Number of words in the string literals in lines of code.
    num_words_in_literals: u64,
}

impl TextFacts {
    pub fn read(text: &str) -> Self {
        let (mut found, mut num_words_in_literals) = (FxHashSet::default(), 0);
        for line in code_lines(text) {
            num_words_in_literals += words_in_literals(line);
            identifiers(line, |identifier| {
                if identifier.len() >= MIN_IDENTIFIER {
                    found.insert(identifier_hash(identifier));
                }
            });
        }
        let mut identifiers: Vec<u64> = found.into_iter().collect();
        identifiers.sort_unstable();
        Self { words: distinct_words(text).into(), identifiers: identifiers.into(), num_words_in_literals }
    }

    /// The memory of the facts in bytes.
    pub fn num_bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.words) + size_of_val(&*self.identifiers)
    }

    pub(crate) fn words(&self) -> &[TextWord] {
        &self.words
    }

    pub(crate) fn num_words_in_literals(&self) -> u64 {
        self.num_words_in_literals
    }

    pub(crate) fn has_identifier(&self, hash: u64) -> bool {
        self.identifiers.binary_search(&hash).is_ok()
    }
}

pub(crate) fn identifier_hash(identifier: &str) -> u64 {
    let mut hasher = FxHasher::default();
    identifier.hash(&mut hasher);
    hasher.finish()
}

/// The distinct words of a text without stop words, in the order of their first occurrence.
pub(crate) fn distinct_words(text: &str) -> Vec<TextWord> {
    let mut found = Vec::new();
    let mut known: FxHashSet<WordKey> = FxHashSet::default();
    let mut num_words = 0;
    words(text, |word| {
        num_words += 1;
        let key = WordKey::of(word);
        if num_words <= MAX_WORDS && known.insert(key) && !is_stop_word(word) {
            found.push(TextWord { key, term: term_of(word), is_short: is_short(word) });
        }
    });
    found
}

pub(crate) fn is_short(word: &str) -> bool {
    word.len() < MIN_WORD
}

fn term_of(word: &str) -> u32 {
    let mut found = 0;
    terms(word, StopWords::Kept, |term| found = term);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_distinct_and_in_order() {
        let keys = |text: &str| distinct_words(text).iter().map(|word| word.key).collect::<Vec<_>>();
        let expect = |words: &[&str]| words.iter().map(|word| WordKey::of(word)).collect::<Vec<_>>();
        assert_eq!(keys("openFile the open file of it_close"), expect(&["open", "file", "close"]));
        assert_eq!(keys("  "), []);
        let short = |text: &str| distinct_words(text).iter().map(|word| word.is_short).collect::<Vec<_>>();
        assert_eq!(short("db.open(x)"), [true, false, true]);
    }

    #[test]
    fn only_the_first_words_are_read() {
        let text: String = (0..2 * MAX_WORDS).map(|number| format!("q{} ", letters(number))).collect();
        assert_eq!(distinct_words(&text).len(), MAX_WORDS);
    }

    /// A number that is written with letters.
    fn letters(number: usize) -> String {
        number.to_string().bytes().map(|digit| char::from(digit - b'0' + b'b')).collect()
    }

    #[test]
    fn word_has_the_term_of_the_sparse_index() {
        let found = distinct_words("retries");
        terms("retry", StopWords::Kept, |term| assert_eq!(found[0].term, term));
    }

    #[test]
    fn identifiers_and_literals_are_read_from_code() {
        let facts = TextFacts::read("// send_one(\"two words\")\nsend_two(\"three short words\")\nabc");
        assert_eq!(facts.num_words_in_literals(), 3);
        let check = |name: &str, expect| assert_eq!(facts.has_identifier(identifier_hash(name)), expect, "{name}");
        check("send_two", true);
        check("send_one", false);
        check("short", true);
        check("abc", false);
        assert!(facts.num_bytes() > size_of::<TextFacts>());
        assert_eq!(TextFacts::read(""), TextFacts::default());
    }
}
