//! Converts passages and questions to weighted terms: BM25 in integers.
//!
//! The weights of a passage contain BM25's saturated term frequency, with constants that are part of the
//! program. The weights of a question contain the rarity of its terms. The score of a passage is the sum of
//! the products of these weights. Even the largest possible score, for 64 terms with the largest weights, is
//! below 2^24. Therefore stores that add `f32` values also compute the exact score.

use cairn_domain::SparseVector;

use crate::terms::distinct_terms;
use crate::{ScopeFrequencies, StopWords, terms};

/// The maximum number of terms of a question. If a question has more terms, the terms with the largest
/// weights are used.
pub const MAX_QUERY_TERMS: usize = 64;

/// The weight of a synonym, in percent of the weight that it would have as a word of the question.
const SYNONYM_PERCENT: u32 = 30;

/// The number of units for one occurrence in the text. The constants below are in the same units.
const TEXT: u32 = 4;
/// One occurrence in the name of the symbol counts as much as four occurrences in the text. This value gave
/// the best ranking.
const NAME: u32 = 16;
/// The number of units for one occurrence in the names of the enclosing symbols.
const CONTAINERS: u32 = 4;
const FILE_STEM: u32 = 4;
const DIRECTORIES: u32 = 2;
/// The header contains the class, the signature and the imports. A word in the header counts less than a word
/// in the text, because most other chunks of the file contain the same names.
const HEADER: u32 = 2;

/// The mean length of a passage in units, measured on functions of public code. Every stored weight depends
/// on this constant.
const AVERAGE_LENGTH: u64 = 4 * 100;

/// The number of units that represent a weight of 1. BM25's factor is at most k1 + 1 = 2.5, and 2.5 · 102 =
/// 255 is the largest value of a byte.
const UNITS_PER_ONE: u64 = 102;

/// The fields of a passage in which the words of a question are searched. Absent fields are empty.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PassageFields<'a> {
    /// The short name of the symbol, e.g. `parse_file`. For a section, its heading.
    pub name: &'a str,
    /// The qualified name of the symbol, e.g. `Parser.parse_file`. For a section, the headings of the
    /// enclosing sections and its own heading.
    pub symbol_path: &'a str,
    pub file_path: &'a str,
    pub header: &'a str,
    pub text: &'a str,
}

/// The weighted terms of a passage.
pub fn passage_terms(fields: &PassageFields<'_>) -> SparseVector {
    let mut counts = TermCounts::default();
    let containers = fields.symbol_path.strip_suffix(fields.name).unwrap_or(fields.symbol_path);
    let (directories, stem, extension) = path_parts(fields.file_path);
    counts.add(fields.name, StopWords::Kept, NAME);
    counts.add(containers, StopWords::Kept, CONTAINERS);
    counts.add(stem, StopWords::Kept, FILE_STEM);
    counts.add(directories, StopWords::Dropped, DIRECTORIES);
    counts.add(extension, StopWords::Dropped, DIRECTORIES);
    counts.add(fields.header, StopWords::Dropped, HEADER);
    counts.add(fields.text, StopWords::Dropped, TEXT);
    counts.weigh()
}

/// The terms of a question, sorted by term, each with its rarity in the searched repositories. At most
/// [`MAX_QUERY_TERMS`] terms are returned.
///
/// If a question contains only stop words, such as "with", the stop words are used as terms. Such a question
/// can only ask for a name.
pub fn query_terms(text: &str, frequencies: &ScopeFrequencies) -> Vec<(u32, u32)> {
    let mut found = distinct_terms(text, StopWords::Dropped);
    if found.is_empty() {
        found = distinct_terms(text, StopWords::Kept);
    }
    let mut weighted: Vec<(u32, u32)> = found.into_iter().map(|term| (term, frequencies.inverse(term))).collect();
    if weighted.len() > MAX_QUERY_TERMS {
        weighted.sort_unstable_by_key(|(term, weight)| (u32::MAX - weight, *term));
        weighted.truncate(MAX_QUERY_TERMS);
        weighted.sort_unstable();
    }
    weighted
}

/// Adds the terms of synonyms. The weight of each term is [`SYNONYM_PERCENT`] of its rarity. Terms of the
/// question keep their weights. The result has at most [`MAX_QUERY_TERMS`] terms.
pub fn add_synonyms(terms: &mut Vec<(u32, u32)>, synonyms: &str, frequencies: &ScopeFrequencies) {
    let asked: Vec<u32> = terms.iter().map(|(term, _)| *term).collect();
    let num_free = MAX_QUERY_TERMS.saturating_sub(terms.len());
    let new = query_terms(synonyms, frequencies).into_iter().filter(|(term, _)| !asked.contains(term));
    terms.extend(new.take(num_free).map(|(term, weight)| (term, (weight * SYNONYM_PERCENT / 100).max(1))));
    terms.sort_unstable();
}

/// Splits a path such as `src/net/http_client.rs` into directories, stem and extension.
fn path_parts(path: &str) -> (&str, &str, &str) {
    let (directories, file) = path.rsplit_once('/').unwrap_or(("", path));
    match file.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => (directories, stem, extension),
        _ => (directories, file, ""),
    }
}

/// Occurrences of terms. Each occurrence is packed as `term << 32 | units`, so that equal terms are adjacent
/// after sorting.
#[derive(Default)]
struct TermCounts {
    occurrences: Vec<u64>,
}

impl TermCounts {
    fn add(&mut self, text: &str, stop_words: StopWords, units: u32) {
        terms(text, stop_words, |term| self.occurrences.push(u64::from(term) << 32 | u64::from(units)));
    }

    fn weigh(mut self) -> SparseVector {
        self.occurrences.sort_unstable();
        let units_of = |occurrence: &u64| occurrence & u64::from(u32::MAX);
        let length: u64 = self.occurrences.iter().map(units_of).sum();
        let same_term = |left: &u64, right: &u64| left >> 32 == right >> 32;
        let mut weighted = Vec::with_capacity(self.occurrences.len() / 2);
        for group in self.occurrences.chunk_by(same_term) {
            let units = group.iter().map(units_of).sum();
            weighted.push(((group[0] >> 32) as u32, weight(units, length)));
        }
        SparseVector(weighted)
    }
}

/// BM25's `tf · (k1 + 1) / (tf + k1 · (1 - b + b · length / average))` with k1 = 1.5 and b = 0.75. The
/// numerator and the denominator are multiplied by eight times the average length. `units` and `length` are
/// in quarters of an occurrence.
fn weight(units: u64, length: u64) -> u8 {
    let numerator = UNITS_PER_ONE * 20 * units * AVERAGE_LENGTH;
    let denominator = 8 * units * AVERAGE_LENGTH + u64::from(TEXT) * (3 * AVERAGE_LENGTH + 9 * length);
    ((numerator + denominator / 2) / denominator).clamp(1, 255) as u8
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn score(question: &str, fields: &PassageFields<'_>) -> u32 {
        let passage = passage_terms(fields);
        let of_term = |(term, weight): (u32, u32)| {
            let found = passage.0.binary_search_by_key(&term, |(term, _)| *term);
            found.map_or(0, |index| weight * u32::from(passage.0[index].1))
        };
        query_terms(question, &ScopeFrequencies::default()).into_iter().map(of_term).sum()
    }

    #[test]
    fn weights_are_bm25() {
        let check = |occurrences: u64, length: u64| {
            let (tf, relative) = (occurrences as f64, length as f64 * 4.0 / AVERAGE_LENGTH as f64);
            let exact = tf * 2.5 / (tf + 1.5 * (0.25 + 0.75 * relative)) * UNITS_PER_ONE as f64;
            let found = f64::from(weight(4 * occurrences, 4 * length));
            assert!((found - exact.max(1.0)).abs() <= 0.5, "{occurrences} of {length}: {found}, not {exact}");
        };
        for occurrences in [1, 2, 5, 50] {
            for length in [50, 150, 500, 5000] {
                check(occurrences, length);
            }
        }
        assert_eq!(weight(u64::from(u32::MAX), 0), 255);
    }

    #[test]
    fn name_outweighs_file_and_file_outweighs_text() {
        let body = "value other thing here body words".repeat(10);
        let named = PassageFields { name: "retry_request", text: &body, ..PassageFields::default() };
        let in_file = PassageFields { file_path: "net/retry_request.go", text: &body, ..PassageFields::default() };
        let in_header = PassageFields { header: "retry_request", text: &body, ..PassageFields::default() };
        let question = "how are requests retried";
        let scores = [named, in_file, in_header, PassageFields::default()].map(|fields| score(question, &fields));
        assert!(scores.is_sorted_by(|left, right| left > right), "{scores:?}");
    }

    #[test]
    fn names_that_are_stop_words_are_found() {
        let fields = PassageFields { name: "with", text: "fn with() {}", ..PassageFields::default() };
        assert!(score("with", &fields) > 0);
    }

    #[test]
    fn containers_do_not_repeat_the_name() {
        let fields = |symbol_path| PassageFields { name: "open", symbol_path, ..PassageFields::default() };
        assert_eq!(passage_terms(&fields("open")), passage_terms(&fields("")));
        assert_ne!(passage_terms(&fields("Store.open")), passage_terms(&fields("")));
    }

    #[test]
    fn long_questions_keep_their_rarest_terms() {
        let mut question: String = (0..100).map(|number| format!("zyx{number}q ")).collect();
        question.push_str("return");
        let shipped = ScopeFrequencies::default();
        let found = query_terms(&question, &shipped);
        assert_eq!(found.len(), MAX_QUERY_TERMS);
        assert!(!found.contains(&query_terms("return", &shipped)[0]));
    }

    #[test]
    fn synonyms_weigh_less_than_words_of_the_question() {
        let shipped = ScopeFrequencies::default();
        let mut found = query_terms("fetch user", &shipped);
        let before = found.clone();
        add_synonyms(&mut found, "user retrieve", &shipped);
        let retrieve = query_terms("retrieve", &shipped)[0];
        let expect = (retrieve.0, retrieve.1 * SYNONYM_PERCENT / 100);
        assert!(found.contains(&expect) && before.iter().all(|term| found.contains(term)));
        assert_eq!((found.len(), found.is_sorted()), (3, true));
    }

    proptest! {
        #[test]
        fn vectors_are_sorted_and_exact_in_floats(text in "[a-zA-Z_ ]{0,300}", question in "\\PC{0,200}") {
            let fields = PassageFields { name: "name", text: &text, ..PassageFields::default() };
            let passage = passage_terms(&fields);
            prop_assert!(passage.0.is_sorted_by(|left, right| left.0 < right.0));
            prop_assert!(passage.0.iter().all(|(_, weight)| *weight > 0));
            let most: u32 = query_terms(&question, &ScopeFrequencies::default()).iter().map(|(_, weight)| weight * 255).sum();
            prop_assert!(most < 1 << 24);
        }
    }
}
