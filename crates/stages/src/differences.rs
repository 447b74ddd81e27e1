//! The changes between two sets of records. A record is *unchanged* if its key and its digest are equal in
//! both sets.

use cairn_domain::{Digest, Key128};
use rustc_hash::FxHashMap;

/// The records that begin with a generation, and the keys of the records that end with this generation.
pub struct Difference<T> {
    pub begun: Vec<T>,
    pub ended: Vec<Key128>,
}

pub fn difference<T>(before: &[T], now: Vec<T>, identity: impl Fn(&T) -> (Key128, Digest)) -> Difference<T> {
    if before.is_empty() {
        return Difference { begun: now, ended: Vec::new() };
    }
    let mut old: FxHashMap<Key128, Digest> = before.iter().map(&identity).collect();
    let mut begun = Vec::new();
    let mut ended = Vec::new();
    for record in now {
        let (key, digest) = identity(&record);
        match old.remove(&key) {
            Some(same) if same == digest => {}
            Some(_) => {
                ended.push(key);
                begun.push(record);
            }
            None => begun.push(record),
        }
    }
    ended.extend(old.into_keys());
    ended.sort();
    Difference { begun, ended }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_key_and_digest_is_unchanged() {
        let identity = |(key, value): &(u8, u8)| (Key128([*key; 16]), Digest([*value; 32]));
        let check = |before: &[(u8, u8)], now: &[(u8, u8)], begun: &[(u8, u8)], ended: &[u8]| {
            let found = difference(before, now.to_vec(), identity);
            assert_eq!(found.begun, begun);
            assert_eq!(found.ended, ended.iter().map(|key| Key128([*key; 16])).collect::<Vec<_>>());
        };
        check(&[], &[(1, 1)], &[(1, 1)], &[]);
        check(&[(1, 1), (2, 2), (3, 3)], &[(1, 1), (2, 9), (4, 4)], &[(2, 9), (4, 4)], &[2, 3]);
        check(&[(1, 1)], &[], &[], &[1]);
    }
}
