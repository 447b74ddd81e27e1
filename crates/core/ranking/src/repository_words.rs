//! Compares repositories by the keywords of a question that they contain.
//!
//! A single chunk with the right words can be in any repository. If a question is about one of many
//! repositories, this repository usually contains all keywords of the question.

use std::borrow::Borrow;
use std::collections::BTreeMap;

use cairn_domain::{RepositoryId, TermCounts};

use crate::fixed::{ONE, over};
use crate::priors::Prior;
use crate::terms::is_unspaced;
use crate::{ScopeFrequencies, StopWords, terms};

/// The factor for a repository that contains no keyword, in percent. The repository with the highest share of
/// the keywords has 100.
const LEAST_PERCENT: u64 = 60;
/// A repository is reported to contain a keyword if [`percent_contained`] returns at least this value.
const MIN_CONTAINED_PERCENT: u64 = 50;

/// A keyword of a question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QuestionWord {
    pub word: String,
    /// Words with the same meaning, such as `db` for `database`. A repository that contains one of them
    /// contains the keyword.
    pub other_forms: Vec<String>,
}

impl QuestionWord {
    fn forms(&self) -> impl Iterator<Item = &str> {
        [&self.word].into_iter().chain(&self.other_forms).map(String::as_str)
    }
}

/// The keywords of a question that each searched repository contains.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RepositoryWords {
    keywords: Vec<QuestionWord>,
    /// For each repository and each keyword, the percentage of the keyword that the repository contains.
    contained: BTreeMap<RepositoryId, Vec<u64>>,
}

impl RepositoryWords {
    /// The keywords of a question, before any repository is added.
    pub fn of(keywords: Vec<QuestionWord>) -> Self {
        Self { keywords, contained: BTreeMap::new() }
    }

    /// Adds a repository. The counts of the repository are the sums of the counts in `tables`.
    pub fn add(&mut self, repository: RepositoryId, tables: &[impl Borrow<TermCounts>]) {
        let has = |term: u32| tables.iter().map(|table| i64::from(table.borrow().count(term))).sum::<i64>() > 0;
        let percent = |word: &QuestionWord| word.forms().map(|form| percent_contained(form, has)).max();
        let contained = self.keywords.iter().map(|word| percent(word).unwrap_or_default()).collect();
        self.contained.insert(repository, contained);
    }

    pub fn num_keywords(&self) -> usize {
        self.keywords.len()
    }

    /// Returns the keywords that are contained in the repository to at least `MIN_CONTAINED_PERCENT` percent,
    /// in the order of the question.
    pub fn of_repository(&self, repository: RepositoryId) -> Vec<&str> {
        let contained = self.contained.get(&repository).map(Vec::as_slice).unwrap_or_default();
        let words = self.keywords.iter().zip(contained);
        words
            .filter(|(_, percent)| **percent >= MIN_CONTAINED_PERCENT)
            .map(|(keyword, _)| keyword.word.as_str())
            .collect()
    }

    /// The share of the keywords that each repository contains, relative to the highest share, in millionths.
    /// Each keyword is weighted by its rarity in all searched repositories. The result is empty if fewer than
    /// two repositories are compared, or if no repository contains a keyword.
    pub fn shares(&self, frequencies: &ScopeFrequencies) -> BTreeMap<RepositoryId, u64> {
        let rarities: Vec<u64> = self.keywords.iter().map(|word| rarity(word, frequencies)).collect();
        let sum = |contained: &Vec<u64>| {
            contained.iter().zip(&rarities).map(|(percent, rarity)| percent * rarity).sum::<u64>()
        };
        let sums: BTreeMap<RepositoryId, u64> =
            self.contained.iter().map(|(repository, contained)| (*repository, sum(contained))).collect();
        let highest = sums.values().copied().max().unwrap_or_default();
        if sums.len() < 2 || highest == 0 {
            return BTreeMap::new();
        }
        sums.into_iter().map(|(repository, sum)| (repository, over(sum, highest))).collect()
    }
}

/// The factor for the hits of a repository with this share of the keywords, in millionths. `None` for 100
/// percent.
pub(crate) fn prior_of_share(share: u64) -> Option<Prior> {
    let percent = LEAST_PERCENT + (100 - LEAST_PERCENT) * share.min(ONE) / ONE;
    (percent < 100).then_some(Prior { name: "repository_words", percent: percent as u32 })
}

/// The rarity of the rarest term of a word. If the word has several forms, the rarity of the most frequent
/// form is returned.
fn rarity(word: &QuestionWord, frequencies: &ScopeFrequencies) -> u64 {
    let of_form = |form: &str| {
        let mut highest = 0;
        terms(form, StopWords::Kept, |term| highest = highest.max(frequencies.inverse(term)));
        u64::from(highest)
    };
    word.forms().map(of_form).min().unwrap_or_default()
}

/// The percentage of a word that a repository with these terms contains. A word without terms is not
/// contained.
///
/// In a script without spaces between words, a run of several words is one keyword, whose terms are the pairs
/// of neighbouring characters. A repository may contain the words in different places, and then lacks the
/// pairs that consist of the end of one word and the beginning of the next. Therefore the share of the
/// characters that belong to any known pair is returned.
fn percent_contained(word: &str, has: impl Fn(u32) -> bool) -> u64 {
    let mut known = Vec::new();
    terms(word, StopWords::Kept, |term| known.push(has(term)));
    if known.is_empty() || !word.contains(is_unspaced) {
        let is_contained = !known.is_empty() && known.iter().all(|is_known| *is_known);
        return if is_contained { 100 } else { 0 };
    }
    let is_known = |pair: usize| known.get(pair).copied().unwrap_or_default();
    let is_covered = |character: &usize| is_known(*character) || character.checked_sub(1).is_some_and(is_known);
    let num_characters = known.len() + 1;
    let num_covered = (0..num_characters).filter(is_covered).count();
    (100 * num_covered / num_characters) as u64
}

#[cfg(test)]
mod tests {
    use cairn_domain::{RepositoryName, Tenant};

    use super::*;

    fn id(name: &str) -> RepositoryId {
        RepositoryId::derive(&Tenant::local(), &RepositoryName::new(name))
    }

    fn table(words: &[&str]) -> TermCounts {
        let mut counts = Vec::new();
        for word in words {
            terms(word, StopWords::Kept, |term| counts.push((term, 1)));
        }
        counts.sort_unstable();
        TermCounts { num_chunks: 10, terms: counts, pairs: Vec::new() }
    }

    fn words(repositories: &[(&str, &[&str])]) -> (RepositoryWords, ScopeFrequencies) {
        of_keywords(&[("retry", &[]), ("backoff", &[])], repositories)
    }

    /// Builds the words and frequencies for keywords with their other forms, and for repositories that
    /// contain the given words.
    fn of_keywords(
        keywords: &[(&str, &[&str])],
        repositories: &[(&str, &[&str])],
    ) -> (RepositoryWords, ScopeFrequencies) {
        let word = |(word, other_forms): &(&str, &[&str])| QuestionWord {
            word: (*word).to_owned(),
            other_forms: other_forms.iter().map(|form| (*form).to_owned()).collect(),
        };
        let keywords: Vec<QuestionWord> = keywords.iter().map(word).collect();
        let text = keywords.iter().flat_map(QuestionWord::forms).collect::<Vec<_>>().join(" ");
        let (mut words, mut frequencies) = (RepositoryWords::of(keywords), ScopeFrequencies::of(&text));
        for (name, contained) in repositories {
            words.add(id(name), &[table(contained)]);
            frequencies.add(&[table(contained)]);
        }
        (words, frequencies)
    }

    #[test]
    fn repository_with_all_keywords_has_the_highest_share() {
        let (words, frequencies) =
            words(&[("both", &["retry", "backoff"]), ("one", &["retries"]), ("none", &["other"])]);
        let shares = words.shares(&frequencies);
        assert_eq!(shares[&id("both")], 1_000_000);
        assert!((1..600_000).contains(&shares[&id("one")]), "{shares:?}");
        assert_eq!(shares[&id("none")], 0);
        assert_eq!(words.of_repository(id("both")), ["retry", "backoff"]);
        assert_eq!(words.of_repository(id("one")), ["retry"]);
        assert!(words.of_repository(id("unknown")).is_empty());
    }

    /// In a script without spaces, words may be in any order and at any distance.
    #[test]
    fn words_without_spaces_are_compared_by_their_pairs() {
        let keywords: &[(&str, &[&str])] = &[("用户登录验证", &[])];
        let repositories: &[(&str, &[&str])] = &[
            ("phrase", &["用户登录验证"]),
            ("apart", &["用户", "登录", "验证"]),
            ("one", &["登录"]),
            ("none", &["文件"]),
        ];
        let (words, frequencies) = of_keywords(keywords, repositories);
        let shares = words.shares(&frequencies);
        assert_eq!((shares[&id("phrase")], shares[&id("apart")]), (1_000_000, 1_000_000));
        assert_eq!((shares[&id("one")], shares[&id("none")]), (330_000, 0));
        assert_eq!(words.of_repository(id("apart")), ["用户登录验证"]);
        assert!(words.of_repository(id("one")).is_empty());
    }

    /// Abbreviations and configured synonyms are other forms of the same word.
    #[test]
    fn other_forms_of_a_word_count_as_the_word() {
        let keywords: &[(&str, &[&str])] = &[("authentication", &["auth"]), ("middleware", &[])];
        let repositories: &[(&str, &[&str])] =
            &[("long", &["authentication", "middleware"]), ("short", &["auth", "middleware"]), ("less", &["auth"])];
        let (words, frequencies) = of_keywords(keywords, repositories);
        let shares = words.shares(&frequencies);
        assert_eq!((shares[&id("long")], shares[&id("short")]), (1_000_000, 1_000_000));
        assert!((1..1_000_000).contains(&shares[&id("less")]), "{shares:?}");
        assert_eq!(words.of_repository(id("less")), ["authentication"]);
    }

    /// A word that is too long for the index has no terms, so no repository contains it.
    #[test]
    fn word_without_terms_is_not_contained() {
        let long = "x".repeat(65);
        let (words, frequencies) = of_keywords(&[(&long, &[])], &[("one", &["retry"]), ("two", &["backoff"])]);
        assert!(words.of_repository(id("one")).is_empty());
        assert!(words.shares(&frequencies).is_empty());
    }

    #[test]
    fn shares_are_empty_for_one_repository_or_without_keywords() {
        let (one, frequencies) = words(&[("one", &["retry"])]);
        assert!(one.shares(&frequencies).is_empty());
        let (none, frequencies) = words(&[("one", &["other"]), ("two", &["other"])]);
        assert!(none.shares(&frequencies).is_empty());
    }
}
