//! Decides whether the results of a search are relevant to the question.
//!
//! A search always finds the nearest chunks, even for nonsense. A question is refused only if three
//! conditions hold: at least one of its keywords is in no chunk of the searched repositories; these
//! repositories contain no definition, file or edge that the question names; and the other evidence is weak.
//! The other evidence is the share of missing keywords, the terms of the best chunk, and the vectors. The
//! weights come from a logistic regression on the tuning questions; see
//! `docs/decisions/0030-nothing-relevant.md`.

use crate::subjects::{Subject, subject_of};
use crate::{ScopeFrequencies, StopWords, shipped_frequencies, terms};

/// Minimum score of a question that is not refused, in thousandths of the natural logarithm of the odds.
const MIN_SCORE: i64 = -250;
/// Replaces [`MIN_SCORE`] for a question with two keywords if the searched chunks contain only one of them.
/// This minimum is lower, because the missing keyword may be an unusual word for something that the code
/// names differently.
const MIN_SCORE_OF_TWO: i64 = -3_000;
/// A question is refused regardless of its score if at least this share of its keywords is missing and does
/// not occur in public code. The share is in percent; keywords are weighted by rarity.
const GIBBERISH_PERCENT: i64 = 75;
/// A question is not refused if less than this share of its keywords is missing. The share is in percent;
/// keywords are weighted by rarity. This limit does not apply if a missing keyword names a technology or is
/// an everyday word.
const MIN_MISSING_PERCENT: i64 = 25;
/// A common word may be missing because the code uses a different word for the same thing. This minimum
/// applies if public code contains all missing keywords, and none of them names a technology or is an
/// everyday word. The question is then refused only if the rarity of at least one missing keyword is at least
/// this value, in sixteenths of a bit.
const MIN_RARITY: u32 = 160;
/// A name with at least this number of changes between letters and digits looks random.
const RANDOM_CHANGES: usize = 4;
const INTERCEPT: i64 = -14_494;
/// The weight of the share of missing keywords that public code does not contain.
const UNKNOWN: i64 = -3_547;
/// The weight of the score of the best chunk in the list of terms.
const BEST_TERMS: i64 = 1_356;
const DENSE_MEAN: i64 = 5_676;
const DENSE_SPREAD: i64 = 4_119;
const DENSE_OF_TERMS: i64 = 2_496;
/// The weight of each keyword of the question. The weight is positive: a question with many keywords
/// describes its subject in more detail, so its results are more often relevant.
const EACH_KEYWORD: i64 = 1_514;
const MAX_KEYWORDS: i64 = 7;
/// The weight of a technology that no chunk mentions.
const MISSING_TECHNOLOGY: i64 = -4_322;
/// The weight of each missing everyday word.
const MISSING_EVERYDAY: i64 = -2_405;
const MAX_EVERYDAY: i64 = 2;

/// The weight of a term that occurs once in a chunk of mean length, see `sparse.rs`.
const UNITS_PER_TERM: i64 = 102;
/// The dot product that corresponds to a similarity of 1. The vectors of the shipped model have this scale.
const DENSE_ONE: i64 = 65_536;

/// A keyword of a question, with its frequencies in the searched repositories and in public code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeywordEvidence {
    pub word: String,
    /// Number of chunks that contain the word. If more chunks contain one of its abbreviations or long forms,
    /// the number of these chunks is used instead. Inflections are included.
    pub num_chunks: u64,
    /// Whether the word does not describe the subject of the question. Such a word is never counted as
    /// missing.
    pub is_stop_word: bool,
    /// The rarity of the word in public code, in sixteenths of a bit.
    rarity: u32,
    /// Whether public code contains the word.
    is_known: bool,
    subject: Option<Subject>,
}

/// The part of the evidence that comes from vectors. The values are dot products.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DenseEvidence {
    /// The mean of the first five scores in the list of vectors.
    pub mean: i64,
    /// The difference between the first and the last score in the list of vectors.
    pub spread: i64,
    /// The highest dot product of the first three chunks in the list of terms.
    pub of_best_terms: i64,
}

/// The facts from which the relevance of the results of a question is computed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Evidence {
    pub keywords: Vec<KeywordEvidence>,
    /// Whether the question names a definition, file, relation or pattern that exists.
    pub is_direct: bool,
    /// The question, if it is one word that looks random, such as a hash.
    pub random_name: Option<String>,
    /// Whether the question contains no letter and no digit.
    pub is_without_words: bool,
    /// The score of the best chunk in the list of terms.
    pub best_terms: i64,
    /// The sum of the weights of the question's terms.
    pub sum_of_weights: i64,
    /// `None` if the scores of the embedding model are not calibrated.
    pub dense: Option<DenseEvidence>,
}

/// Whether the results of a search are relevant to the question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AnswerRelevance {
    pub is_relevant: bool,
    /// In thousandths of the natural logarithm of the odds. `None` if the decision did not need a score.
    pub score: Option<i64>,
    /// The keywords that no chunk contains, in the order of the question.
    pub missing: Vec<String>,
    /// The number of best hits whose texts were searched for `missing`. `None` if the counts of all chunks
    /// were used.
    pub num_compared: Option<usize>,
}

impl AnswerRelevance {
    /// The relevance of results that are shown without a score.
    pub const SHOWN: Self = Self { is_relevant: true, score: None, missing: Vec::new(), num_compared: None };

    /// The relevance of results that are not shown, because no chunk contains the words `missing`.
    pub const fn without_words(missing: Vec<String>, num_compared: Option<usize>) -> Self {
        Self { is_relevant: false, score: None, missing, num_compared }
    }
}

impl DenseEvidence {
    /// The evidence of a typical relevant question. This evidence is used if the scores of the embedding
    /// model are not calibrated.
    const TYPICAL: Self =
        Self { mean: DENSE_ONE * 9 / 10, spread: DENSE_ONE * 55 / 100, of_best_terms: DENSE_ONE * 8 / 10 };
}

impl KeywordEvidence {
    /// The evidence of a keyword. `others` contains its abbreviations and the words that it abbreviates.
    pub fn of(word: &str, others: &[String], is_stop_word: bool, frequencies: &ScopeFrequencies) -> Self {
        let of_word = terms_of(word);
        let shipped = shipped_frequencies();
        let rarity = of_word.iter().map(|term| shipped.inverse(*term)).max().unwrap_or_default();
        let count = |word: &str| frequencies.num_chunks_with(word);
        Self {
            word: word.to_owned(),
            num_chunks: others.iter().map(|other| count(other)).fold(count(word), u64::max),
            is_stop_word,
            rarity,
            is_known: of_word.iter().any(|term| shipped.count(*term) > 0),
            subject: of_word.iter().find_map(|term| subject_of(*term)),
        }
    }

    fn is_missing(&self) -> bool {
        self.num_chunks == 0 && !self.is_stop_word
    }
}

impl Evidence {
    pub fn relevance(&self, frequencies: &ScopeFrequencies) -> AnswerRelevance {
        let can_be_refused = !self.is_direct && frequencies.num_chunks() > 0;
        if let Some(name) = self.random_name.as_ref().filter(|name| can_be_refused && self.is_absent(name)) {
            return AnswerRelevance::without_words(vec![name.clone()], None);
        }
        if can_be_refused && self.is_without_words {
            return AnswerRelevance::without_words(Vec::new(), None);
        }
        let missing: Vec<&KeywordEvidence> = self.keywords.iter().filter(|keyword| keyword.is_missing()).collect();
        let has_subject = missing.iter().any(|keyword| keyword.subject.is_some());
        let share = weighted(100, rarity_of(missing.iter().copied()), self.rarity());
        let is_telling = |keyword: &&KeywordEvidence| !keyword.is_known || keyword.rarity >= MIN_RARITY;
        let is_enough = has_subject || (share >= MIN_MISSING_PERCENT && missing.iter().any(is_telling));
        if !can_be_refused || !is_enough {
            return AnswerRelevance::SHOWN;
        }
        let unknown = rarity_of(missing.iter().copied().filter(|keyword| !keyword.is_known));
        let is_gibberish = weighted(100, unknown, self.rarity()) >= GIBBERISH_PERCENT;
        let score = self.score(&missing);
        let num_keywords = self.keywords.iter().filter(|keyword| !keyword.is_stop_word).count();
        let is_half = num_keywords == 2 && missing.len() == 1 && !has_subject;
        let is_relevant = score >= if is_half { MIN_SCORE_OF_TWO } else { MIN_SCORE } && !is_gibberish;
        let missing = missing.iter().map(|keyword| keyword.word.clone()).collect();
        AnswerRelevance { is_relevant, score: Some(score), missing, num_compared: None }
    }

    /// Whether a name that looks random is assumed to be in no chunk. Two conditions must hold: the words of
    /// the name that chunks contain make up less than half of the name, and no chunk contains most of the
    /// terms of the name. Short words and numbers in the name are ignored, because they occur in every text.
    fn is_absent(&self, name: &str) -> bool {
        let existing = self.keywords.iter().filter(|keyword| keyword.num_chunks > 0 && is_piece(&keyword.word));
        let num_existing: usize = existing.map(|keyword| keyword.word.chars().count()).sum();
        let all_terms = self.sum_of_weights * UNITS_PER_TERM;
        // Single letters and digits occur everywhere, so a chunk that contains most of them means nothing.
        let has_few_terms =
            if num_existing == 0 { self.best_terms < all_terms } else { 2 * self.best_terms < all_terms };
        2 * num_existing < name.chars().count() && has_few_terms
    }

    /// The sum of the rarities of the keywords that are not stop words.
    fn rarity(&self) -> i64 {
        rarity_of(self.keywords.iter().filter(|keyword| !keyword.is_stop_word))
    }

    fn score(&self, missing: &[&KeywordEvidence]) -> i64 {
        let unknown = rarity_of(missing.iter().copied().filter(|keyword| !keyword.is_known));
        let has_technology = missing.iter().any(|keyword| keyword.subject == Some(Subject::Technology));
        let num_everyday = missing.iter().filter(|keyword| keyword.subject == Some(Subject::Everyday)).count() as i64;
        let dense = self.dense.unwrap_or(DenseEvidence::TYPICAL);
        INTERCEPT
            + weighted(UNKNOWN, unknown, self.rarity())
            + weighted(BEST_TERMS, self.best_terms, self.sum_of_weights * UNITS_PER_TERM)
            + weighted(DENSE_MEAN, dense.mean, DENSE_ONE)
            + weighted(DENSE_SPREAD, dense.spread, DENSE_ONE)
            + weighted(DENSE_OF_TERMS, dense.of_best_terms, DENSE_ONE)
            + EACH_KEYWORD * (self.keywords.len() as i64).min(MAX_KEYWORDS)
            + if has_technology { MISSING_TECHNOLOGY } else { 0 }
            + MISSING_EVERYDAY * num_everyday.min(MAX_EVERYDAY)
    }
}

fn rarity_of<'a>(keywords: impl Iterator<Item = &'a KeywordEvidence>) -> i64 {
    keywords.map(|keyword| i64::from(keyword.rarity)).sum()
}

/// `weight · part / whole`, or 0 if `whole` is not positive.
fn weighted(weight: i64, part: i64, whole: i64) -> i64 {
    if whole <= 0 { 0 } else { weight.saturating_mul(part) / whole }
}

/// The keywords that are used as evidence. Single characters and numbers are omitted, because almost every
/// chunk contains them. If the question is one name, words of two characters are also omitted. If no keyword
/// remains, all keywords are returned.
pub fn keywords_for_relevance(keywords: &[String], is_name: bool) -> Vec<String> {
    let min_length = if is_name { 3 } else { 2 };
    let counts = |word: &&String| {
        word.chars().count() >= min_length && !word.chars().all(|character| character.is_ascii_digit())
    };
    let found: Vec<String> = keywords.iter().filter(counts).cloned().collect();
    if found.is_empty() { keywords.to_vec() } else { found }
}

/// Whether a part of a name is specific to this name. Words of one or two characters and numbers are not
/// specific.
fn is_piece(word: &str) -> bool {
    word.chars().count() >= 3 && !word.chars().all(|character| character.is_ascii_digit())
}

/// Whether a name looks random: letters and digits alternate often, as in a hash.
pub fn looks_random(name: &str) -> bool {
    let kinds: Vec<bool> =
        name.chars().filter(|character| character.is_alphanumeric()).map(|character| character.is_numeric()).collect();
    kinds.windows(2).filter(|pair| pair[0] != pair[1]).count() >= RANDOM_CHANGES
}

/// Whether one word abbreviates the other, such as `db` for `database` and `auth` for `authentication`: the
/// letters of the shorter word occur in the longer word in this order, and both words begin with the same
/// letter.
pub fn is_abbreviation(left: &str, right: &str) -> bool {
    let (short, long) = if left.len() <= right.len() { (left, right) } else { (right, left) };
    let mut rest = long.chars();
    short.len() >= 2
        && short.chars().next() == long.chars().next()
        && short.chars().all(|wanted| rest.any(|character| character == wanted))
}

fn terms_of(word: &str) -> Vec<u32> {
    let mut found = Vec::new();
    terms(word, StopWords::Kept, |term| found.push(term));
    found
}

#[cfg(test)]
mod tests {
    use cairn_domain::TermCounts;

    use super::*;
    use crate::query_terms;

    /// The counts for a thousand chunks. Each of these words is in ten of the chunks.
    fn frequencies(question: &str, words: &str) -> ScopeFrequencies {
        let mut terms: Vec<(u32, i32)> = terms_of(words).into_iter().map(|term| (term, 10)).collect();
        terms.sort_unstable();
        terms.dedup();
        let mut found = ScopeFrequencies::of(question);
        found.add(&[TermCounts { num_chunks: 1_000, terms, ..TermCounts::default() }]);
        found
    }

    /// The evidence of a question whose best chunk contains this share of its terms, in percent. `dense` is
    /// the mean of the best dot products, in percent.
    fn evidence(question: &str, frequencies: &ScopeFrequencies, share: i64, dense: i64) -> Evidence {
        let sum_of_weights: i64 = query_terms(question, frequencies).iter().map(|(_, weight)| i64::from(*weight)).sum();
        let dense = DENSE_ONE * dense / 100;
        let keyword = |word: &String| KeywordEvidence::of(word, &[], false, frequencies);
        Evidence {
            keywords: crate::keywords(question).iter().map(keyword).collect(),
            is_direct: false,
            random_name: looks_random(question).then(|| question.to_owned()),
            is_without_words: !question.contains(char::is_alphanumeric),
            best_terms: sum_of_weights * UNITS_PER_TERM * share / 100,
            sum_of_weights,
            dense: Some(DenseEvidence { mean: dense, spread: dense / 2, of_best_terms: dense }),
        }
    }

    #[track_caller]
    fn check(question: &str, words: &str, share: i64, dense: i64, is_relevant: bool, missing: &[&str]) {
        let frequencies = frequencies(question, words);
        let found = evidence(question, &frequencies, share, dense).relevance(&frequencies);
        assert_eq!(found.is_relevant, is_relevant, "{question}: {found:?}");
        assert_eq!(found.missing, missing, "{question}");
    }

    #[test]
    fn question_with_missing_keywords_and_weak_evidence_is_refused() {
        let code = "consumer group parse header connection retry wait server worker task process failed crash orphaned";
        check("where is the kafka consumer group rebalanced", code, 30, 65, false, &["kafka", "rebalanced"]);
        check("???", code, 0, 60, false, &[]);
        check("flurbish qwonkle vextra", code, 0, 60, false, &["flurbish", "qwonkle", "vextra"]);
        check(
            "how long should sourdough rest before baking",
            code,
            20,
            65,
            false,
            &["long", "should", "sourdough", "rest", "before", "baking"],
        );
        // A paraphrase shares few words with its answer, but its vector is near the vector of the answer.
        let question = "a worker crashed in the midst of its work, which process picks the orphaned task up again";
        check(question, code, 40, 95, true, &["midst", "work", "picks", "up", "again"]);
    }

    #[test]
    fn results_are_shown_if_no_keyword_is_missing() {
        check("consumer group", "consumer group", 20, 30, true, &[]);
        check("parsing headers", "parse header", 20, 30, true, &[]);
    }

    #[test]
    fn results_are_shown_if_only_common_words_are_missing() {
        check("part that turns incoming text into a tree", "part text tree", 20, 40, true, &[]);
        check("part that transmogrifies incoming text", "part text", 20, 40, false, &["transmogrifies", "incoming"]);
    }

    #[test]
    fn random_name_is_refused_if_no_chunk_contains_it() {
        let hash = "57cdb8dd750a136df3d6b7c31";
        check(hash, "cdb df dd parser", 20, 90, false, &[hash]);
        check("da8be1e484c45b04", "da be 1 8 484 45 04", 30, 90, false, &["da8be1e484c45b04"]);
        // One chunk contains all parts of the name.
        check(hash, hash, 90, 90, true, &[]);
        let check = |name, expect| assert_eq!(looks_random(name), expect, "{name}");
        check(hash, true);
        check("c3950f60ef2aa57e", true);
        check("sha256sum", false);
        check("x86_64", false);
        check("base64url2", false);
        check("parse_http_date", false);
    }

    #[test]
    fn direct_hits_or_missing_term_counts_prevent_a_refusal() {
        let question = "flurbish qwonkle";
        let counted = frequencies(question, "parser");
        let weak = evidence(question, &counted, 0, 40);
        assert!(!weak.relevance(&counted).is_relevant);
        assert_eq!(Evidence { is_direct: true, ..weak.clone() }.relevance(&counted), AnswerRelevance::SHOWN);
        assert_eq!(weak.relevance(&ScopeFrequencies::of(question)), AnswerRelevance::SHOWN);
    }

    #[test]
    fn words_decide_if_vectors_are_not_calibrated() {
        let gibberish = "flurbish qwonkle vextra";
        let counted = frequencies(gibberish, "parser");
        let unknown_model = Evidence { dense: None, ..evidence(gibberish, &counted, 0, 0) };
        assert!(!unknown_model.relevance(&counted).is_relevant);
    }

    #[test]
    fn word_is_not_missing_if_its_abbreviation_exists() {
        let abbreviations = ["db".to_owned()];
        let counted = frequencies("database db", "db");
        assert!(KeywordEvidence::of("database", &[], false, &counted).is_missing());
        assert_eq!(KeywordEvidence::of("database", &abbreviations, false, &counted).num_chunks, 10);
        let check = |left, right, expect| assert_eq!(is_abbreviation(left, right), expect, "{left} {right}");
        check("database", "db", true);
        check("auth", "authentication", true);
        check("kafka", "queue", false);
        check("error", "exception", false);
        check("a", "api", false);
    }

    #[test]
    fn single_characters_and_numbers_are_no_evidence() {
        let check = |words: &[&str], is_name: bool, expect: &[&str]| {
            let words: Vec<String> = words.iter().map(ToString::to_string).collect();
            assert_eq!(keywords_for_relevance(&words, is_name), expect);
        };
        check(&["6", "z", "tcd"], false, &["tcd"]);
        check(&["6", "z"], false, &["6", "z"]);
        check(&["ip", "address"], false, &["ip", "address"]);
        check(&["50", "sw", "jhfb", "cp"], true, &["jhfb"]);
    }
}
