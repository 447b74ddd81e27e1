//! Computes the similarity of words from the shipped table.

use cairn_ranking::{WordKey, WordSimilarity};

use crate::format::{InvalidModel, StaticModel};
use crate::sums::{DIMENSIONS, Dots};

/// A similarity of 1, in thousandths.
const EQUAL: u64 = 1_000;
/// A length is stored with this number of bits after the binary point.
const LENGTH_BITS: u32 = 10;

/// The vectors of words in the model that is part of the program. The table is used with every model that
/// embeds the chunks, so the similarity of two words does not depend on the provider of embeddings.
#[derive(Clone, Debug)]
pub struct WordTable {
    model: StaticModel<'static>,
    dots: Dots,
}

/// The vector of a word.
#[derive(Clone, Copy)]
struct WordVector {
    key: WordKey,
    row: usize,
    elements: &'static [u8; DIMENSIONS],
    /// The length of the vector, with [`LENGTH_BITS`] bits after the binary point.
    length: u64,
}

impl WordTable {
    pub fn shipped() -> Result<Self, InvalidModel> {
        Ok(Self { model: crate::shipped()?, dots: Dots::detect() })
    }

    fn vector(&self, key: WordKey) -> WordVector {
        let row = self.model.row_of(key);
        let elements = self.model.row(row);
        let square = self.dots.of(elements, elements).unsigned_abs();
        WordVector { key, row, elements, length: (u64::from(square) << (2 * LENGTH_BITS)).isqrt() }
    }

    /// The cosine of the angle between the vectors, in thousandths; 0 if it is negative. Many words outside
    /// the vocabulary share a row; the similarity of different words with the same row is 0.
    fn similarity(&self, left: WordVector, right: WordVector) -> u16 {
        if left.row == right.row {
            return if left.key == right.key { EQUAL as u16 } else { 0 };
        }
        let dot = u64::try_from(self.dots.of(left.elements, right.elements)).unwrap_or_default();
        let cosine = ((dot * EQUAL) << (2 * LENGTH_BITS)).checked_div(left.length * right.length);
        cosine.unwrap_or_default().min(EQUAL) as u16
    }
}

impl WordSimilarity for WordTable {
    fn similarities(&self, asked: &[WordKey], words: &[WordKey]) -> Vec<Vec<u16>> {
        let asked: Vec<WordVector> = asked.iter().map(|word| self.vector(*word)).collect();
        let mut similarities: Vec<Vec<u16>> = asked.iter().map(|_| Vec::with_capacity(words.len())).collect();
        // Each word is compared with all words of the question at once, because these words fit into the
        // processor's first-level cache.
        for word in words {
            let vector = self.vector(*word);
            for (asked, similarities) in asked.iter().zip(&mut similarities) {
                similarities.push(self.similarity(*asked, vector));
            }
        }
        similarities
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn similarity(left: &str, right: &str) -> u16 {
        WordTable::shipped()
            .expect("the shipped model is valid")
            .similarities(&[WordKey::of(left)], &[WordKey::of(right)])[0][0]
    }

    #[test]
    fn equal_words_have_the_highest_similarity() {
        for word in ["retry", "zyzzyvaish", "x"] {
            assert_eq!(similarity(word, word), 1_000, "{word}");
        }
    }

    #[test]
    fn unknown_words_with_the_same_row_are_not_similar() {
        let table = WordTable::shipped().expect("the shipped model is valid");
        let row = |word: &str| table.model.row_of(WordKey::of(word));
        let unknown: Vec<String> = (0..20_000).map(|number| format!("zyzzyvaish{number}")).collect();
        let shared = unknown[1..].iter().find(|word| row(word) == row(&unknown[0])).expect("there are 2,048 rows");
        assert_eq!(similarity(&unknown[0], shared), 0);
    }

    #[test]
    fn related_words_are_more_similar_than_unrelated_words() {
        for (word, near, far) in
            [("delete", "remove", "matrix"), ("folder", "directory", "socket"), ("retry", "attempts", "color")]
        {
            let (near_similarity, far_similarity) = (similarity(word, near), similarity(word, far));
            assert!(
                near_similarity > far_similarity + 100,
                "{word} {near}: {near_similarity}, {far}: {far_similarity}"
            );
            assert_eq!(near_similarity, similarity(near, word), "{word} {near}");
        }
    }

    #[test]
    fn all_pairs_are_compared() {
        let table = WordTable::shipped().expect("the shipped model is valid");
        let (asked, words) = (["open", "file"], ["file", "open", "directory"]);
        let found = table.similarities(&asked.map(WordKey::of), &words.map(WordKey::of));
        for (asked, similarities) in asked.iter().zip(&found) {
            let expect: Vec<u16> = words.iter().map(|word| similarity(asked, word)).collect();
            assert_eq!(*similarities, expect, "{asked}");
        }
        assert!(table.similarities(&[], &words.map(WordKey::of)).is_empty());
    }
}
