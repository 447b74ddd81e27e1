//! A request may fail although some of its batches succeeded. This module stores the vectors of these
//! batches. These vectors are already paid for, so the next attempt takes them from this store.

use std::collections::{HashMap, VecDeque};

use cairn_domain::DenseVector;

/// Maximum number of stored vectors. This number of vectors uses a few megabytes. The oldest vectors are
/// removed first.
const MAX_VECTORS: usize = 8192;

type Key = [u8; 32];

/// Vectors by text. A vector is removed when it is returned, because the caller stores it.
#[derive(Default, Debug)]
pub(super) struct Kept {
    vectors: HashMap<Key, DenseVector>,
    /// Keys in order of insertion. The queue may contain keys that are already removed from `vectors`.
    order: VecDeque<Key>,
}

impl Kept {
    pub(super) fn keep(&mut self, text: &str, vector: DenseVector) {
        let key = key_of(text);
        self.vectors.insert(key, vector);
        self.order.push_back(key);
        if self.order.len() > MAX_VECTORS
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
    fn number_of_kept_vectors_is_bounded() {
        let mut kept = Kept::default();
        for number in 0..=MAX_VECTORS {
            kept.keep(&number.to_string(), DenseVector(vec![1]));
        }
        assert_eq!((kept.vectors.len(), kept.order.len()), (MAX_VECTORS, MAX_VECTORS));
        assert_eq!((kept.find("0"), kept.find("1")), (None, Some(DenseVector(vec![1]))));
        kept.forget("1");
        assert_eq!(kept.find("1"), None);
    }
}
