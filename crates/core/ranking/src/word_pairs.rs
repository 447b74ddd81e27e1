//! Finds the words that names in a scope use together, such as "token" and "validate" in `validate_token`.
//!
//! Pairs are counted for each published repository, in the same tables as its terms. For a question, only the
//! tables of the repositories that the caller searches are added up.

use std::borrow::Borrow;
use std::cmp::Reverse;
use std::collections::BTreeSet;

use cairn_domain::{ChunkRecord, TermCounts, WordPair};
use rustc_hash::FxHashMap;

use crate::declared::{declared_names, is_code};
use crate::{is_shortening, is_stop_word, words};

/// Maximum number of learned words for each word of a question.
pub const MAX_LEARNED: usize = 3;

/// Words of a name after this number of words are not paired.
const MAX_WORDS_OF_NAME: usize = 6;
const MIN_LETTERS: usize = 3;
/// A word is treated as an abbreviation of another word if the code of at least this number of chunks
/// contains this pair.
const MIN_CHUNKS_OF_ABBREVIATION: i64 = 2;
/// Two words are treated as used together only if the symbol names of at least this number of chunks contain
/// both words.
const MIN_CHUNKS: i64 = 3;
/// Two words are treated as used together only if they form at least this share, in thousandths, of all pairs
/// that contain either word.
const MIN_SHARE: i64 = 100;

/// The pairs of words in the names that a chunk defines, each in both orders: the name of its symbol, and the
/// names that its code declares. A chunk of a small file or of a class contains several definitions. The
/// names of tests are not counted, because they are sentences about other code.
pub(crate) fn word_pairs(chunk: &ChunkRecord) -> Vec<WordPair> {
    if chunk.is_test {
        return Vec::new();
    }
    let own = chunk.symbol.as_deref().map(|symbol| symbol.rsplit('.').next().unwrap_or(symbol));
    let declared = if is_code(chunk) { declared_names(&chunk.text) } else { Vec::new() };
    let mut pairs = BTreeSet::new();
    let mut found = Vec::new();
    for pair in own.into_iter().chain(declared).flat_map(pairs_of_name) {
        if pairs.insert((pair.word.clone(), pair.other.clone())) {
            found.push(pair);
        }
    }
    found
}

/// The pairs of words in a name, each in both orders.
fn pairs_of_name(name: &str) -> Vec<WordPair> {
    let mut found: Vec<String> = Vec::new();
    words(name, |word| {
        let is_counted =
            word.len() >= MIN_LETTERS && !is_stop_word(word) && word.bytes().all(|byte| !byte.is_ascii_digit());
        if is_counted && found.len() < MAX_WORDS_OF_NAME && found.iter().all(|known| known != word) {
            found.push(word.to_owned());
        }
    });
    let mut pairs = Vec::new();
    for word in &found {
        for other in found.iter().filter(|other| *other != word) {
            pairs.push(WordPair { word: word.clone(), other: other.clone() });
        }
    }
    pairs
}

/// The pairs of words in all tables of a scope.
#[derive(Debug)]
pub struct LearnedWords<'a, Table>(&'a [Table]);

impl<'a, Table: Borrow<TermCounts>> LearnedWords<'a, Table> {
    pub fn new(tables: &'a [Table]) -> Self {
        Self(tables)
    }

    /// The words that names in scope use most often together with this word; at most [`MAX_LEARNED`] words.
    /// If no name contains a plural, the words for its singular are returned.
    pub fn of(&self, word: &str) -> Vec<String> {
        let found = self.of_exactly(word);
        match word.strip_suffix('s') {
            Some(singular) if found.is_empty() => self.of_exactly(singular),
            _ => found,
        }
    }

    /// The abbreviations of this word, and the words that it abbreviates, according to the code in scope. The
    /// most frequent words come first; at most [`MAX_LEARNED`] words are returned.
    pub fn abbreviations_of(&self, word: &str) -> Vec<String> {
        let mut found = self.counts_of(word, true);
        found.retain(|_, count| *count >= MIN_CHUNKS_OF_ABBREVIATION);
        let mut best: Vec<(i64, &str)> = found.into_iter().map(|(other, count)| (count, other)).collect();
        best.sort_by_key(|(count, other)| (Reverse(*count), *other));
        best.into_iter().take(MAX_LEARNED).map(|(_, other)| other.to_owned()).collect()
    }

    fn of_exactly(&self, word: &str) -> Vec<String> {
        let together = self.counts_of(word, false);
        let num_pairs: i64 = together.values().sum();
        let share = |count: i64, num_of_other: i64| 2_000 * count / (num_pairs + num_of_other).max(1);
        // The other word forms at least the pairs with this word. With this bound, at most a few words
        // remain, and only their pairs are counted.
        let frequent =
            together.into_iter().filter(|(_, count)| *count >= MIN_CHUNKS && share(*count, *count) >= MIN_SHARE);
        let of_both = |(other, count): (&'a str, i64)| (share(count, self.num_pairs(other).max(count)), other);
        let mut best: Vec<(i64, &str)> = frequent.map(of_both).collect();
        best.retain(|(share, _)| *share >= MIN_SHARE);
        best.sort_by_key(|(share, other)| (Reverse(*share), *other));
        best.into_iter().take(MAX_LEARNED).map(|(_, other)| other.to_owned()).collect()
    }

    /// The number of pairs with this word, without those of abbreviations.
    fn num_pairs(&self, word: &str) -> i64 {
        let others = self.pairs_of(word).filter(|(pair, _)| !is_abbreviation(pair));
        others.map(|(_, count)| i64::from(*count)).sum()
    }

    /// The counts of the words that form pairs with this word. If `are_abbreviations` is true, only its
    /// abbreviations and the words that it abbreviates are included; otherwise, only the words that names use
    /// together with it.
    fn counts_of(&self, word: &str, are_abbreviations: bool) -> FxHashMap<&'a str, i64> {
        let mut counts: FxHashMap<&str, i64> = FxHashMap::default();
        for (pair, count) in self.pairs_of(word).filter(|(pair, _)| is_abbreviation(pair) == are_abbreviations) {
            *counts.entry(&pair.other).or_default() += i64::from(*count);
        }
        counts
    }

    fn pairs_of<'w>(&self, word: &'w str) -> impl Iterator<Item = &'a (WordPair, i32)> + use<'a, 'w, Table> {
        self.0.iter().flat_map(move |table| {
            let pairs: &[(WordPair, i32)] = &table.borrow().pairs;
            let start = pairs.partition_point(|(pair, _)| pair.word.as_str() < word);
            pairs[start..].iter().take_while(move |(pair, _)| pair.word == word)
        })
    }
}

/// Whether one word of the pair abbreviates the other word.
fn is_abbreviation(pair: &WordPair) -> bool {
    is_shortening(&pair.word, &pair.other) || is_shortening(&pair.other, &pair.word)
}

#[cfg(test)]
mod tests {
    use cairn_domain::ChunkKind;

    use super::*;
    use crate::TermCounter;
    use crate::test_chunks::{chunk, chunk_of};

    fn pairs(name: &str) -> Vec<String> {
        word_pairs(&chunk_of(name)).iter().map(|pair| format!("{} {}", pair.word, pair.other)).collect()
    }

    fn table(names: &[(&str, usize)]) -> TermCounts {
        let mut counter = TermCounter::default();
        for (name, times) in names {
            (0..*times).for_each(|_| counter.begin(&chunk_of(name), &Default::default()));
        }
        counter.finish()
    }

    fn learned(tables: &[TermCounts], word: &str) -> Vec<String> {
        LearnedWords::new(tables).of(word)
    }

    #[test]
    fn words_of_a_name_are_paired_in_both_orders() {
        assert_eq!(pairs("Session.validateToken"), ["validate token", "token validate"]);
        assert_eq!(pairs("open"), [] as [&str; 0]);
        assert_eq!(pairs("to_v2_of_x"), [] as [&str; 0]);
        assert_eq!(pairs("retry_RetryPolicy"), ["retry policy", "policy retry"]);
        assert!(word_pairs(&ChunkRecord { is_test: true, ..chunk_of("validate_token") }).is_empty());
        assert!(word_pairs(&ChunkRecord { symbol: None, ..chunk_of("validate_token") }).is_empty());
    }

    /// A chunk of a small file has no symbol, and a chunk of a class has only the class as its symbol.
    #[test]
    fn all_definitions_of_a_chunk_are_paired() {
        let of = |symbol: Option<&str>, kind: ChunkKind, text: &str| {
            let chunk = ChunkRecord { symbol: symbol.map(str::to_owned), kind, ..chunk("src/a.py", 1, text) };
            let pairs = word_pairs(&chunk);
            pairs.iter().map(|pair| format!("{} {}", pair.word, pair.other)).collect::<Vec<_>>()
        };
        let file = "def validate_token(t):\n    pass\n\ndef revokeToken(t):\n    validate_token(t)\n";
        let expect = ["validate token", "token validate", "revoke token", "token revoke"];
        assert_eq!(of(None, ChunkKind::Group, file), expect);
        let class =
            "class TokenStore:\n    def load_rows(self):\n        pass\n    def load_rows(self, n):\n        pass\n";
        let expect = ["token store", "store token", "load rows", "rows load"];
        assert_eq!(of(Some("TokenStore"), ChunkKind::Class, class), expect);
        assert_eq!(of(None, ChunkKind::Section, file), [""; 0], "a document defines nothing");
    }

    #[test]
    fn frequent_pairs_are_learned() {
        let tables = [table(&[("zorbl_ledger", 4), ("zorbl_rows", 3), ("zorbl_quorum", 2), ("rows_of_page", 60)])];
        // "quorum" occurs in too few names, and "rows" mostly occurs with a different word.
        assert_eq!(learned(&tables, "zorbl"), ["ledger"]);
        assert_eq!(learned(&tables, "zorbls"), ["ledger"]);
        assert_eq!(learned(&tables, "quorum"), [] as [&str; 0]);
    }

    #[test]
    fn abbreviations_are_learned_in_both_directions() {
        let mut counter = TermCounter::default();
        for number in 0..2 {
            let text = format!("bp = Blueprint({number})");
            let code = ChunkRecord { text, ..chunk_of("blueprint_rows") };
            counter.begin(&code, &Default::default());
        }
        counter.begin(&ChunkRecord { text: "tz = timezone".into(), ..chunk_of("now") }, &Default::default());
        let table = counter.finish();
        let abbreviations = |word: &str| LearnedWords::new(std::slice::from_ref(&table)).abbreviations_of(word);
        assert_eq!(abbreviations("bp"), ["blueprint"]);
        assert_eq!(abbreviations("blueprint"), ["bp"]);
        // One chunk is not enough, and words that are used together are not abbreviations.
        assert_eq!((abbreviations("tz"), abbreviations("rows")), (vec![], vec![]));
        assert_eq!(learned(std::slice::from_ref(&table), "bp"), [] as [&str; 0]);
    }

    #[test]
    fn tables_of_a_scope_are_added() {
        let one = table(&[("zorbl_ledger", 2)]);
        let two = table(&[("zorblLedger", 1), ("zorbl_rows", 5)]);
        assert_eq!(learned(std::slice::from_ref(&one), "zorbl"), [] as [&str; 0]);
        assert_eq!(learned(&[one.clone(), two.clone()], "zorbl"), ["rows", "ledger"]);
        assert_eq!(learned(&[two, one], "zorbl"), ["rows", "ledger"]);
    }
}
