//! The shipped tables of words: abbreviations, synonyms, spellings, and words that carry little meaning in a
//! name.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::distance::{Signature, bounded_distance};

/// The groups of words of a table, and for each word the groups that contain it.
struct Groups {
    groups: Vec<Vec<&'static str>>,
    of_word: FxHashMap<&'static str, Vec<u16>>,
}

impl Groups {
    fn parse(text: &'static str) -> Self {
        let mut table = Self { groups: Vec::new(), of_word: FxHashMap::default() };
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let number = table.groups.len() as u16;
            let words: Vec<&str> = line.split_whitespace().collect();
            for word in &words {
                table.of_word.entry(word).or_default().push(number);
            }
            table.groups.push(words);
        }
        table
    }

    /// The other words of all groups that contain a word.
    fn others(&self, word: &str) -> impl Iterator<Item = &'static str> + use<'_> {
        let word = word.to_owned();
        let groups = self.of_word.get(word.as_str()).into_iter().flatten();
        groups.flat_map(|group| &self.groups[usize::from(*group)]).copied().filter(move |other| *other != word)
    }
}

static ABBREVIATIONS: LazyLock<Groups> = LazyLock::new(|| Groups::parse(include_str!("../data/abbreviations.txt")));
static SYNONYMS: LazyLock<Groups> = LazyLock::new(|| Groups::parse(include_str!("../data/synonyms.txt")));
static SPELLINGS: LazyLock<Groups> = LazyLock::new(|| Groups::parse(include_str!("../data/spellings.txt")));

struct Lists {
    fill: FxHashSet<&'static str>,
    noise: FxHashSet<&'static str>,
    affix: FxHashSet<&'static str>,
    keyword: FxHashSet<&'static str>,
}

static LISTS: LazyLock<Lists> = LazyLock::new(|| {
    let mut lists: FxHashMap<&'static str, FxHashSet<&'static str>> = FxHashMap::default();
    let mut name = "";
    for line in include_str!("../data/words.txt").lines().filter(|line| !line.starts_with('#')) {
        let mut words = line;
        if let Some((start, rest)) = line.split_once(':') {
            (name, words) = (start, rest);
        }
        lists.entry(name).or_default().extend(words.split_whitespace());
    }
    let mut take = |name: &str| lists.remove(name).unwrap_or_default();
    Lists { fill: take("fill"), noise: take("noise"), affix: take("affix"), keyword: take("keyword") }
});

/// The relation between a word and its replacement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Replacement {
    Abbreviation,
    Synonym,
    Spelling,
}

/// The abbreviations of a word, and the words that it abbreviates.
pub(crate) fn abbreviations(word: &str) -> Vec<&'static str> {
    ABBREVIATIONS.others(word).collect()
}

/// The words that may replace a word. The closest replacements come first.
pub(crate) fn replacements(word: &str) -> Vec<(&'static str, Replacement)> {
    let tables: [(&Groups, Replacement); 3] = [
        (&SPELLINGS, Replacement::Spelling),
        (&ABBREVIATIONS, Replacement::Abbreviation),
        (&SYNONYMS, Replacement::Synonym),
    ];
    let mut found: Vec<(&'static str, Replacement)> = Vec::new();
    for (table, replacement) in tables {
        for other in table.others(word) {
            if found.iter().all(|(known, _)| *known != other) {
                found.push((other, replacement));
            }
        }
    }
    found
}

/// The other spellings of a word in the shipped table.
pub(crate) fn spellings(word: &str) -> impl Iterator<Item = &'static str> {
    SPELLINGS.others(word)
}

/// Every word of the tables, with the signature of its letters. Short words are omitted, because a typing
/// error often changes a short word into a different word.
static KNOWN_WORDS: LazyLock<Vec<(&'static str, Signature)>> = LazyLock::new(|| {
    let tables = [&*SPELLINGS, &*ABBREVIATIONS, &*SYNONYMS];
    let words: BTreeSet<&'static str> = tables.iter().flat_map(|table| table.of_word.keys().copied()).collect();
    let long = words.into_iter().filter(|word| word.len() >= MIN_MISSPELLED);
    long.map(|word| (word, Signature::of(word.chars()))).collect()
});

/// Minimum number of letters of a word that may be considered misspelled.
const MIN_MISSPELLED: usize = 4;
/// Maximum number of replacements of a misspelled word.
const MAX_MISSPELLED: usize = 24;

/// The replacements of the known words that differ from an unknown word by one edit, or by at most two edits
/// if the unknown word is long.
pub(crate) fn replacements_of_misspelled(word: &str) -> Vec<(&'static str, Replacement)> {
    let num_characters = word.chars().count();
    let is_known = [&*SPELLINGS, &*ABBREVIATIONS, &*SYNONYMS].iter().any(|table| table.of_word.contains_key(word));
    if is_known || num_characters < MIN_MISSPELLED {
        return Vec::new();
    }
    let edits = if num_characters < 7 { 1 } else { 2 };
    let signature = Signature::of(word.chars());
    let near = KNOWN_WORDS.iter().filter(|(known, letters)| {
        signature.may_be_within(*letters, edits) && bounded_distance(word, known, edits).is_some()
    });
    let mut found: Vec<(&'static str, Replacement)> = Vec::new();
    for (other, kind) in near.flat_map(|(known, _)| replacements(known)) {
        if found.iter().all(|(word, _)| *word != other) {
            found.push((other, kind));
        }
    }
    found.truncate(MAX_MISSPELLED);
    found
}

/// Weight of an ordinary word.
pub(crate) const FULL_WEIGHT: u32 = 8;

/// The weight of a word in a name. Words that carry little meaning have a low weight.
pub(crate) fn weight(word: &str) -> u32 {
    if LISTS.fill.contains(word) {
        return 2;
    }
    if word.bytes().all(|byte| byte.is_ascii_digit()) {
        return 5;
    }
    let by_length = match word.chars().count() {
        0 | 1 => 3,
        2 => 5,
        3 => 7,
        4..=6 => FULL_WEIGHT,
        _ => FULL_WEIGHT + 1,
    };
    if LISTS.affix.contains(word) { by_length.min(5) } else { by_length }
}

/// Whether a word only describes or links the other words of a phrase, such as "the", "function" and "that"
/// in "the function that opens".
pub(crate) fn is_noise(word: &str) -> bool {
    LISTS.noise.contains(word) || LISTS.fill.contains(word)
}

/// Whether the word is a keyword that programming languages write before the name in a definition.
pub(crate) fn is_keyword(word: &str) -> bool {
    LISTS.keyword.contains(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_relate_words() {
        let check = |word: &str, other: &str, expect: Option<Replacement>| {
            let found = replacements(word).into_iter().find(|(found, _)| *found == other).map(|(_, kind)| kind);
            assert_eq!(found, expect, "{word} {other}");
        };
        check("cfg", "config", Some(Replacement::Abbreviation));
        check("config", "cfg", Some(Replacement::Abbreviation));
        check("get", "fetch", Some(Replacement::Synonym));
        check("colour", "color", Some(Replacement::Spelling));
        check("get", "delete", None);
        check("nothing", "anything", None);
    }

    #[test]
    fn tables_contain_folded_words() {
        for table in [&*ABBREVIATIONS, &*SYNONYMS, &*SPELLINGS] {
            for word in table.groups.iter().flatten() {
                assert!(word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()), "{word}");
            }
        }
        assert!(is_noise("the") && weight("invoice") > weight("of"));
    }
}
