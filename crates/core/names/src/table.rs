//! The names of an index, in the form that the search for near names reads.

use std::collections::BTreeMap;

use crate::fold::fold_words;
use crate::wanted::MAX_WORDS;

/// Distinct names, and the distinct words of all names. Names and words are numbered from zero; words are
/// numbered in ascending order of their texts.
pub trait NameTable {
    fn num_names(&self) -> u32;
    fn num_words(&self) -> u32;
    fn word(&self, word: u32) -> &str;
    /// The words of a name, in order.
    fn words_of(&self, name: u32) -> impl Iterator<Item = u32>;
    /// The names that contain a word, in ascending order.
    fn names_with(&self, word: u32) -> impl Iterator<Item = u32>;
}

/// The number of the first word that is equal to `text` or comes after `text`; if there is no such word, the
/// number of words in the table.
pub(crate) fn first_word(table: &impl NameTable, text: &str) -> u32 {
    let (mut low, mut high) = (0, table.num_words());
    while low < high {
        let middle = low + (high - low) / 2;
        if table.word(middle) < text { low = middle + 1 } else { high = middle }
    }
    low
}

pub(crate) fn find_word(table: &impl NameTable, text: &str) -> Option<u32> {
    let word = first_word(table, text);
    (word < table.num_words() && table.word(word) == text).then_some(word)
}

/// A [`NameTable`] in memory.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MemoryTable {
    /// The distinct words in ascending order.
    pub words: Vec<String>,
    /// The words of each name.
    pub names: Vec<Vec<u32>>,
    /// The names that contain each word, in ascending order.
    pub postings: Vec<Vec<u32>>,
}

impl MemoryTable {
    /// Builds the table of some names. The number of a name is its position in `names`.
    pub fn of<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
        let mut texts: Vec<Vec<String>> = Vec::new();
        for name in names {
            let mut words = Vec::new();
            fold_words(name, |word| words.push(word.to_owned()));
            words.truncate(MAX_WORDS);
            for word in &words {
                numbers.entry(word.clone()).or_default();
            }
            texts.push(words);
        }
        (0..).zip(numbers.values_mut()).for_each(|(number, value)| *value = number);
        let mut postings = vec![Vec::new(); numbers.len()];
        let mut names = Vec::with_capacity(texts.len());
        for (name, words) in (0..).zip(texts) {
            let words: Vec<u32> = words.iter().map(|word| numbers[word]).collect();
            for word in &words {
                let posting: &mut Vec<u32> = &mut postings[*word as usize];
                if posting.last() != Some(&name) {
                    posting.push(name);
                }
            }
            names.push(words);
        }
        Self { words: numbers.into_keys().collect(), names, postings }
    }
}

impl NameTable for MemoryTable {
    fn num_names(&self) -> u32 {
        self.names.len() as u32
    }

    fn num_words(&self) -> u32 {
        self.words.len() as u32
    }

    fn word(&self, word: u32) -> &str {
        &self.words[word as usize]
    }

    fn words_of(&self, name: u32) -> impl Iterator<Item = u32> {
        self.names[name as usize].iter().copied()
    }

    fn names_with(&self, word: u32) -> impl Iterator<Item = u32> {
        self.postings[word as usize].iter().copied()
    }
}
