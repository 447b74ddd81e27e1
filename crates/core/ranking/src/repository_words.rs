//! Compares repositories by the keywords of a question that they contain.
//!
//! A single chunk with the right words can be in any repository. If a question is about one of many
//! repositories, this repository usually contains all of its keywords.

use std::borrow::Borrow;
use std::collections::BTreeMap;

use cairn_domain::{RepositoryId, TermCounts};

use crate::fixed::{ONE, over};
use crate::priors::Prior;
use crate::{ScopeFrequencies, StopWords, terms};

/// The factor for a repository that contains no keyword, in percent. The repository with the highest share of
/// the keywords has 100.
const LEAST_PERCENT: u64 = 60;

/// The keywords of a question that each searched repository contains.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RepositoryWords {
    keywords: Vec<String>,
    /// For each repository, whether it contains each keyword.
    contained: BTreeMap<RepositoryId, Vec<bool>>,
}

impl RepositoryWords {
    /// The keywords of a question, before any repository is added.
    pub fn of(keywords: &[String]) -> Self {
        Self { keywords: keywords.to_vec(), contained: BTreeMap::new() }
    }

    /// Adds a repository. Its counts are the sums of the counts in its tables.
    pub fn add(&mut self, repository: RepositoryId, tables: &[impl Borrow<TermCounts>]) {
        let count = |term: u32| tables.iter().map(|table| i64::from(table.borrow().count(term))).sum::<i64>();
        let contains = |word: &String| {
            let mut all = true;
            terms(word, StopWords::Kept, |term| all &= count(term) > 0);
            all
        };
        self.contained.insert(repository, self.keywords.iter().map(contains).collect());
    }

    pub fn num_keywords(&self) -> usize {
        self.keywords.len()
    }

    /// The keywords that a repository contains, in the order of the question.
    pub fn of_repository(&self, repository: RepositoryId) -> Vec<&str> {
        let contained = self.contained.get(&repository).map(Vec::as_slice).unwrap_or_default();
        self.keywords
            .iter()
            .zip(contained)
            .filter(|(_, is_contained)| **is_contained)
            .map(|(word, _)| word.as_str())
            .collect()
    }

    /// The share of the keywords that each repository contains, relative to the highest share, in millionths.
    /// Each keyword is weighted by its rarity in all searched repositories. The result is empty if fewer than
    /// two repositories are compared, or if no repository contains a keyword.
    pub fn shares(&self, frequencies: &ScopeFrequencies) -> BTreeMap<RepositoryId, u64> {
        let rarities: Vec<u64> = self.keywords.iter().map(|word| rarity(word, frequencies)).collect();
        let sum = |contained: &Vec<bool>| {
            contained.iter().zip(&rarities).filter(|(is_contained, _)| **is_contained).map(|(_, rarity)| rarity).sum()
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

/// The rarity of the rarest term of a word.
fn rarity(word: &str, frequencies: &ScopeFrequencies) -> u64 {
    let mut highest = 0;
    terms(word, StopWords::Kept, |term| highest = highest.max(frequencies.inverse(term)));
    u64::from(highest)
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
        let keywords = ["retry", "backoff"].map(str::to_owned);
        let (mut words, mut frequencies) = (RepositoryWords::of(&keywords), ScopeFrequencies::of("retry backoff"));
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

    #[test]
    fn shares_are_empty_for_one_repository_or_without_keywords() {
        let (one, frequencies) = words(&[("one", &["retry"])]);
        assert!(one.shares(&frequencies).is_empty());
        let (none, frequencies) = words(&[("one", &["other"]), ("two", &["other"])]);
        assert!(none.shares(&frequencies).is_empty());
    }
}
