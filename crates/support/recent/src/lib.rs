//! A map that keeps the most recently used values, up to a total size.

use std::borrow::Borrow;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The most recently used values, up to a total size in bytes.
pub struct Recent<K, V> {
    max_bytes: usize,
    num_bytes: usize,
    clock: u64,
    values: HashMap<K, Used<V>>,
    /// Each key by a time that is not later than its last use. The times are updated when values are removed,
    /// because values are used much more often than they are removed.
    by_use: BTreeMap<u64, K>,
}

/// A [`Recent`] that several threads share.
pub struct SharedRecent<K, V>(Mutex<Recent<K, V>>);

impl<K: Clone + Eq + Hash, V: Clone> SharedRecent<K, V> {
    /// An empty map for at most `max_bytes`.
    pub fn new(max_bytes: usize) -> Self {
        Self(Mutex::new(Recent::new(max_bytes)))
    }

    /// Waits until no other thread uses the map.
    pub fn lock(&self) -> MutexGuard<'_, Recent<K, V>> {
        // No method leaves the map inconsistent, so the map can be used after another thread has panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Used<V> {
    value: V,
    size_bytes: usize,
    used: u64,
}

impl<K: Clone + Eq + Hash, V: Clone> Recent<K, V> {
    /// An empty map for at most `max_bytes`.
    pub fn new(max_bytes: usize) -> Self {
        Self { max_bytes, num_bytes: 0, clock: 0, values: HashMap::new(), by_use: BTreeMap::new() }
    }

    /// The value of a key. This value becomes the most recently used value.
    pub fn get<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.clock += 1;
        let found = self.values.get_mut(key)?;
        found.used = self.clock;
        Some(found.value.clone())
    }

    pub fn num_bytes(&self) -> usize {
        self.num_bytes
    }

    /// Adds a value, unless it is larger than the maximum size.
    pub fn add(&mut self, key: K, value: V, size_bytes: usize) {
        if size_bytes <= self.max_bytes {
            self.add_always(key, value, size_bytes);
        }
    }

    /// Adds a value of any size. If the value is larger than the maximum size, the map then contains only
    /// this value.
    pub fn add_always(&mut self, key: K, value: V, size_bytes: usize) {
        self.clock += 1;
        let used = self.clock;
        match self.values.insert(key.clone(), Used { value, size_bytes, used }) {
            Some(old) => self.num_bytes -= old.size_bytes,
            None => {
                self.by_use.insert(used, key);
            }
        }
        self.num_bytes += size_bytes;
        while self.num_bytes > self.max_bytes && self.values.len() > 1 {
            let Some((time, oldest)) = self.by_use.pop_first() else { return };
            match self.values.get(&oldest).map(|found| found.used) {
                Some(used) if used > time => {
                    self.by_use.insert(used, oldest);
                }
                _ => self.num_bytes -= self.values.remove(&oldest).map_or(0, |removed| removed.size_bytes),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_recently_used_values_are_dropped() {
        let mut recent = Recent::new(10);
        recent.add("a", 1, 4);
        recent.add("b", 2, 4);
        assert_eq!(recent.get(&"a"), Some(1));
        recent.add("c", 3, 4);
        assert_eq!(["a", "b", "c"].map(|key| recent.get(&key)), [Some(1), None, Some(3)]);
        recent.add("c", 4, 10);
        assert_eq!(["a", "c"].map(|key| recent.get(&key)), [None, Some(4)]);
        recent.add("d", 5, 11);
        assert_eq!(["c", "d"].map(|key| recent.get(&key)), [Some(4), None]);
        assert_eq!((recent.num_bytes, recent.values.len(), recent.by_use.len()), (10, 1, 1));
    }

    /// Compares the map with a list of keys that is sorted by the last use.
    #[test]
    fn values_are_dropped_in_the_order_of_their_last_use() {
        const MAX_BYTES: usize = 40;
        let (mut recent, mut expect, mut random) = (Recent::new(MAX_BYTES), Vec::<(u64, usize)>::new(), 1_u64);
        for _ in 0..20_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (key, size_bytes) = (random >> 60, (random >> 50 & 7) as usize);
            let place = expect.iter().position(|(known, _)| *known == key);
            if random >> 40 & 1 == 0 {
                assert_eq!(recent.get(&key), place.map(|_| key));
                if let Some(place) = place {
                    let used = expect.remove(place);
                    expect.push(used);
                }
            } else {
                recent.add(key, key, size_bytes);
                expect.retain(|(known, _)| *known != key);
                expect.push((key, size_bytes));
                while expect.iter().map(|(_, size_bytes)| size_bytes).sum::<usize>() > MAX_BYTES {
                    expect.remove(0);
                }
            }
            assert_eq!(recent.values.len(), expect.len());
            assert_eq!(recent.by_use.len(), expect.len());
        }
    }

    #[test]
    fn large_value_is_kept_alone() {
        let mut recent = Recent::new(10);
        recent.add("a", 1, 4);
        recent.add_always("b", 2, 11);
        assert_eq!(["a", "b"].map(|key| recent.get(&key)), [None, Some(2)]);
        recent.add_always("c", 3, 1);
        assert_eq!(["b", "c"].map(|key| recent.get(&key)), [None, Some(3)]);
    }
}
