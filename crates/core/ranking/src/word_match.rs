//! Measures how well each word of a question matches the nearest word of a chunk.
//!
//! The vector of a chunk is the sum of the vectors of all its words, so the many words of a long function
//! hide the two words that answer the question. Here each word of the question is compared with each word of
//! the chunk, and the most similar word counts. The similarities are standardised among the chunks,
//! separately for each word of the question. So a word that all chunks match equally contributes nothing, and
//! a word that only few chunks match contributes most. The effect is like that of a higher weight for rare
//! words, but rarity is measured by meaning and needs no table of frequencies.

use rustc_hash::FxHashMap;

use crate::WordKey;
use crate::standard::above_median;
use crate::text_facts::{TextWord, is_short};

/// A similarity of 1, in thousandths.
const EQUAL: u16 = 1_000;
/// Added to the standard deviation of the similarities, in thousandths. If all chunks match a word almost
/// equally, the standard deviation is small, and without this constant small differences would count in full.
const SLACK: i64 = 20;

/// The similarity of the meanings of words.
pub trait WordSimilarity: Send + Sync {
    /// For each word of `asked`, the similarity to each word of `words`, in thousandths from 0 to 1,000.
    /// Equal words have the similarity 1,000.
    fn similarities(&self, asked: &[WordKey], words: &[WordKey]) -> Vec<Vec<u16>>;
}

/// Treats equal words as similar, and all other words as not similar.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EqualWords;

impl WordSimilarity for EqualWords {
    fn similarities(&self, asked: &[WordKey], words: &[WordKey]) -> Vec<Vec<u16>> {
        let similarity = |asked: WordKey, word: WordKey| if asked == word { EQUAL } else { 0 };
        asked.iter().map(|asked| words.iter().map(|word| similarity(*asked, *word)).collect()).collect()
    }
}

/// The distinct words of texts. Each word has a number, so that it is compared with the question only once.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    /// Short words that are not ignored, because the question contains them.
    short: Vec<WordKey>,
    numbers: FxHashMap<WordKey, u32>,
    /// The words in the order of their numbers.
    words: Vec<TextWord>,
    /// For each word, the number of the last text in which it was found.
    last_text: Vec<u32>,
    num_texts: u32,
}

impl Vocabulary {
    /// A vocabulary for a comparison with these words of a question. Short words of the question, such as
    /// `db`, are not ignored in chunks.
    pub(crate) fn for_words(asked: &[String]) -> Self {
        let short = asked.iter().filter(|word| is_short(word)).map(|word| WordKey::of(word)).collect();
        Self { short, ..Self::default() }
    }

    /// Whether the word is ignored because it is short.
    pub(crate) fn is_too_short(&self, word: &str) -> bool {
        is_short(word) && !self.short.contains(&WordKey::of(word))
    }

    /// The numbers of the distinct words of a text that consists of several parts.
    pub(crate) fn read(&mut self, parts: &[&[TextWord]]) -> Vec<u32> {
        self.num_texts += 1;
        let mut found = Vec::with_capacity(parts.iter().map(|part| part.len()).sum());
        for word in parts.iter().copied().flatten() {
            if !word.is_short || self.short.contains(&word.key) {
                self.add(*word, &mut found);
            }
        }
        found
    }

    fn add(&mut self, word: TextWord, found: &mut Vec<u32>) {
        let number = *self.numbers.entry(word.key).or_insert_with(|| {
            self.words.push(word);
            self.last_text.push(0);
            self.words.len() as u32 - 1
        });
        let last = &mut self.last_text[number as usize];
        if *last != self.num_texts {
            *last = self.num_texts;
            found.push(number);
        }
    }

    /// The words in the order of their numbers.
    pub(crate) fn words(&self) -> &[TextWord] {
        &self.words
    }

    /// The keys of the words in the order of their numbers.
    pub(crate) fn keys(&self) -> Vec<WordKey> {
        self.words.iter().map(|word| word.key).collect()
    }
}

/// The match of each text, in thousandths of a standard deviation: the mean over the words of the question.
/// `similarities` contains one list for each word of the question, with the similarity to each word of the
/// vocabulary. `texts` contains the numbers of the words of each text.
pub(crate) fn matches(similarities: &[Vec<u16>], texts: &[Vec<u32>]) -> Vec<i64> {
    let mut sums = vec![0; texts.len()];
    for of_word in similarities {
        let nearest = |text: &Vec<u32>| {
            let similarities = text.iter().map(|number| of_word.get(*number as usize).copied().unwrap_or_default());
            i64::from(similarities.max().unwrap_or_default())
        };
        let nearest: Vec<i64> = texts.iter().map(nearest).collect();
        for (sum, value) in sums.iter_mut().zip(above_median(&nearest, SLACK)) {
            *sum += value;
        }
    }
    let num_words = similarities.len().max(1) as i64;
    sums.iter().map(|sum| sum / num_words).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text_facts::distinct_words;

    fn keys(words: &[&str]) -> Vec<WordKey> {
        words.iter().map(|word| WordKey::of(word)).collect()
    }

    /// Matches the texts with words that are similar only to themselves.
    fn check(asked: &[&str], texts: &[&str], expect: &[i64]) {
        let mut vocabulary = Vocabulary::default();
        let read: Vec<Vec<u32>> = texts.iter().map(|text| vocabulary.read(&[&distinct_words(text)])).collect();
        let similarities = EqualWords.similarities(&keys(asked), &vocabulary.keys());
        assert_eq!(matches(&similarities, &read), expect, "{asked:?} {texts:?}");
    }

    #[test]
    fn word_that_few_texts_contain_decides() {
        // The median is 0. The standard deviation of 1000, 0 and 0 is 471.404, and 20 is added to it.
        check(&["retry"], &["retry()", "send()", "send"], &[2_034, 0, 0]);
        // All texts contain the second word, so this word only halves the mean.
        check(&["retry", "send"], &["retrySend", "send", "to send"], &[1_017, 0, 0]);
        check(&["send"], &["send", "send"], &[0, 0]);
        // The match of the first text with the common word is -1, because the text lacks this word. The rare
        // word counts as 1000 / 453.012.
        check(&["retry", "send"], &["retry", "send", "send", "send"], &[603, 0, 0, 0]);
        check(&["a", "b"], &["x", "y"], &[0, 0]);
        check(&[], &["send", "retry"], &[0, 0]);
        check(&["send"], &[], &[]);
    }

    #[test]
    fn words_of_a_text_are_distinct() {
        let read = |vocabulary: &mut Vocabulary, parts: &[&str]| {
            let parts: Vec<Vec<TextWord>> = parts.iter().map(|part| distinct_words(part)).collect();
            vocabulary.read(&parts.iter().map(Vec::as_slice).collect::<Vec<_>>())
        };
        let mut vocabulary = Vocabulary::default();
        assert_eq!(read(&mut vocabulary, &["openFile", "the open file of it"]), [0, 1]);
        assert_eq!(read(&mut vocabulary, &["x file close_file"]), [1, 2]);
        assert_eq!(vocabulary.keys(), keys(&["open", "file", "close"]));
        assert_eq!(read(&mut vocabulary, &["open"]), [0]);
        let mut vocabulary = Vocabulary::for_words(&["db".to_owned(), "open".to_owned()]);
        assert_eq!(read(&mut vocabulary, &["open db of io"]), [0, 1]);
    }

    #[test]
    fn nearest_word_counts() {
        let similarities = [vec![100, 900, 300]];
        // The nearest similarities are 300, 900 and 0, and their standard deviation is 374.165.
        assert_eq!(matches(&similarities, &[vec![0, 2], vec![1, 2], vec![]]), [0, 1_522, -761]);
    }
}
