//! If no chunk contains a word of the question, this module finds similar words in the names in scope.

use std::collections::BTreeSet;

use cairn_domain::{Scope, View};
use cairn_name_match::bounded_distance;
use cairn_ports::NameMatch;
use cairn_ranking::words;
use futures::future::try_join_all;

use crate::{QueryError, Searcher};

/// Maximum number of absent words for which similar words are searched. Each word needs two calls to the
/// index of names.
const MAX_ABSENT: usize = 3;
/// Number of names that each of these calls returns.
const NUM_NAMES: usize = 20;
/// The lengths of the words that are compared. A shorter word is similar to too many words, and a longer text
/// is not a word.
const LETTERS: std::ops::RangeInclusive<usize> = 4..=40;
/// Words with fewer letters than this number may differ by one letter, and all other words by two letters.
const MIN_LETTERS_OF_TWO_EDITS: usize = 6;

impl Searcher {
    /// Pairs of an absent word and a similar word, nearest words first.
    pub(crate) async fn near_words(
        &self,
        view: &View,
        scope: &Scope,
        absent: &[&String],
    ) -> Result<Vec<(String, String)>, QueryError> {
        let absent = absent.iter().filter(|word| LETTERS.contains(&word.len())).take(MAX_ABSENT);
        let lookups = absent.map(|word| async move {
            let near = self.names.resolve(view, scope, word, &[], NUM_NAMES);
            let containing = self.names.symbols(view, scope, start_of(word), &[NameMatch::Contains], NUM_NAMES);
            let (near, containing) = tokio::try_join!(near, containing)?;
            Ok::<_, QueryError>((*word, near, containing))
        });
        let mut found: BTreeSet<(u32, String, String)> = BTreeSet::new();
        for (word, near, containing) in try_join_all(lookups).await? {
            let names = near.iter().map(|near| &near.symbol.name);
            for name in names.chain(containing.iter().map(|hit| &hit.symbol.name)) {
                words(name, |other| {
                    if let Some(difference) = difference(word, other) {
                        found.insert((difference, word.clone(), other.to_owned()));
                    }
                });
            }
        }
        Ok(found.into_iter().map(|(_, word, other)| (word, other)).collect())
    }
}

/// The first two thirds of a word. Similar words usually differ in the rest.
fn start_of(word: &str) -> &str {
    let num_letters = (2 * word.chars().count() / 3).max(*LETTERS.start());
    word.char_indices().nth(num_letters).map_or(word, |(end, _)| &word[..end])
}

/// How much two words differ: the number of edits. If there are too many edits, but one word contains the
/// other, the result is a higher number. `None` if the words are equal, or not similar.
fn difference(word: &str, other: &str) -> Option<u32> {
    if word == other || ![word, other].iter().all(|word| LETTERS.contains(&word.len())) {
        return None;
    }
    let (shorter, longer) = if word.len() < other.len() { (word, other) } else { (other, word) };
    let max_edits = if shorter.len() < MIN_LETTERS_OF_TWO_EDITS { 1 } else { 2 };
    let is_part = longer.contains(shorter) && 2 * shorter.len() >= longer.len();
    bounded_distance(word, other, max_edits).or(is_part.then_some(max_edits + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_few_edits_or_a_common_part_are_similar() {
        let check = |word: &str, other: &str, expect: Option<u32>| {
            assert_eq!(difference(word, other), expect, "{word} {other}");
        };
        check("webhookz", "webhook", Some(1));
        check("webhooking", "webhook", Some(3));
        check("shcedule", "schedule", Some(1));
        check("retrys", "retries", Some(2));
        check("hook", "webhook", Some(2));
        check("scheduling", "schedule", None);
        check("reschedule", "schedule", Some(2));
        check("cart", "card", Some(1));
        check("cart", "chart", Some(1));
        check("cart", "cord", None);
        check("hook", "hook", None);
        check("web", "webs", None);
        check("checkpointing", "point", None);
    }

    #[test]
    fn names_need_not_contain_the_end_of_a_word() {
        let check = |word: &str, expect: &str| assert_eq!(start_of(word), expect);
        check("webhookz", "webho");
        check("webhooking", "webhoo");
        check("carts", "cart");
        check("cart", "cart");
        check("größen", "größ");
    }
}
