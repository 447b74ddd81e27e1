//! Vectors of batches whose fellows have failed: they are paid for, and the next attempt takes them from here.

use std::collections::{HashMap, VecDeque};

use cairn_domain::DenseVector;

/// At most; the oldest go first. A few megabytes.
const MOST: usize = 8192;

type Key = [u8; 32];

/// By text. What was handed over is forgotten: its keeping is the caller's affair.
#[derive(Default, Debug)]
pub(super) struct Kept {
    vectors: HashMap<Key, DenseVector>,
    /// In the order in which they came; some are forgotten since.
    order: VecDeque<Key>,
}

impl Kept {
    pub(super) fn keep(&mut self, text: &str, vector: DenseVector) {
        let key = key_of(text);
        self.vectors.insert(key, vector);
        self.order.push_back(key);
        if self.order.len() > MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.vectors.remove(&oldest);
        }
    }

    pub(super) fn find(&self, text: &str) -> Option<DenseVector> {
        self.vectors.get(&key_of(text)).cloned()
    }

    pub(super) fn forget(&mut self, text: &str) {
        self.vectors.remove(&key_of(text));
    }
}

fn key_of(text: &str) -> Key {
    *blake3::hash(text.as_bytes()).as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_bounded() {
        let mut kept = Kept::default();
        for number in 0..=MOST {
            kept.keep(&number.to_string(), DenseVector(vec![1]));
        }
        assert_eq!((kept.vectors.len(), kept.order.len()), (MOST, MOST));
        assert_eq!((kept.find("0"), kept.find("1")), (None, Some(DenseVector(vec![1]))));
        kept.forget("1");
        assert_eq!(kept.find("1"), None);
    }
}
