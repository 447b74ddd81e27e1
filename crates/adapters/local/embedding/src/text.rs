//! Computes the sum of the rows of a text's words.

use cairn_domain::DenseVector;
use cairn_ranking::{WordKey, words};

use crate::format::StaticModel;
use crate::head::head;
use crate::sums::{DIMENSIONS, Sum, prefetch};
use crate::vector::quantize;

/// Maximum number of words that are read from a text. The training uses the same limit.
const MAX_WORDS: usize = 1_200;
/// Maximum number of distinct rows that are counted for a text. With this limit, the sum fits in 32 bits.
const MAX_ROWS: usize = 512;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    Query,
    Passage,
}

/// Counts the words of texts, one text at a time. The struct has a counter for each row of the model. So
/// counting a word is one addition, and a text needs no allocation.
pub(crate) struct WordCounter<'m> {
    model: &'m StaticModel<'m>,
    /// The count of each row. All counts are zero between two texts.
    counts: Vec<u8>,
    in_head: Vec<bool>,
    /// The rows that occur in the text, without duplicates.
    found: Vec<u32>,
    shares: Vec<i32>,
    rows: Vec<&'m [u8; DIMENSIONS]>,
    sum: Sum,
}

impl<'m> WordCounter<'m> {
    pub(crate) fn new(model: &'m StaticModel<'m>) -> Self {
        Self {
            model,
            counts: vec![0; model.num_rows()],
            in_head: vec![false; model.num_rows()],
            found: Vec::with_capacity(MAX_ROWS),
            shares: Vec::with_capacity(MAX_ROWS),
            rows: Vec::with_capacity(MAX_ROWS),
            sum: Sum::detect(),
        }
    }

    pub(crate) fn embed(&mut self, text: &str, side: Side) -> DenseVector {
        self.count(text);
        if side == Side::Passage {
            self.mark_head(text);
        }
        self.shares.clear();
        self.rows.clear();
        for row in self.found.drain(..) {
            let row = row as usize;
            let weights = self.model.weights(row);
            let weight = match side {
                Side::Query => weights.query,
                Side::Passage => weights.passage,
            };
            let mut share = (i32::from(weight) * i32::from(self.model.damped(self.counts[row]))) >> 8;
            if self.in_head[row] {
                share += i32::from(weights.head);
            }
            self.counts[row] = 0;
            self.in_head[row] = false;
            self.shares.push(share);
            self.rows.push(self.model.row(row));
        }
        let mut sum = self.sum.of(&self.shares, &self.rows);
        if sum == [0; DIMENSIONS] {
            // A text without words gets the row of the hash of its bytes, because no vector may be zero.
            let row = self.model.bucket(WordKey::of(text));
            sum = self.sum.of(&[1], &[self.model.row(row)]);
        }
        quantize(&sum)
    }

    fn count(&mut self, text: &str) {
        let mut num_words = 0;
        words(text, |word| {
            num_words += 1;
            if num_words > MAX_WORDS {
                return;
            }
            let row = self.model.row_of(WordKey::of(word));
            let count = &mut self.counts[row];
            if *count == 0 {
                if self.found.len() == MAX_ROWS {
                    return;
                }
                prefetch(self.model.row(row));
                self.found.push(row as u32);
            }
            *count = count.saturating_add(1);
        });
    }

    fn mark_head(&mut self, text: &str) {
        let range = head(text.as_bytes());
        // A boundary of the head may be inside a character. Such a character is not part of a word, so it is
        // skipped.
        let (start, end) = (text.ceil_char_boundary(range.start), text.floor_char_boundary(range.end));
        words(text.get(start..end).unwrap_or_default(), |word| {
            let row = self.model.row_of(WordKey::of(word));
            self.in_head[row] = self.counts[row] > 0;
        });
    }
}
