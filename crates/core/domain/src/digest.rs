//! Hashes of fields. Different field values never produce the same hash input: texts and lists are prefixed
//! with their length, and the input begins with the purpose of the hash.

use std::fmt;

use crate::Key128;

/// blake3 of all fields of a record that a reader can see. A record is *unchanged* if its two versions have
/// equal keys and equal digests.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Digest(pub [u8; 32]);

impl fmt::Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.0 {
            write!(formatter, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// Builds keys and digests field by field.
#[derive(Clone)]
pub struct Digester(blake3::Hasher);

impl Digester {
    /// `purpose` separates the hashes of different kinds of records.
    pub fn new(purpose: &str) -> Self {
        Self(blake3::Hasher::new()).text(purpose)
    }

    #[must_use]
    pub fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    #[must_use]
    pub fn text(self, text: &str) -> Self {
        self.bytes(text.as_bytes())
    }

    #[must_use]
    pub fn number(mut self, number: u64) -> Self {
        self.0.update(&number.to_le_bytes());
        self
    }

    #[must_use]
    pub fn key_of(mut self, key: Key128) -> Self {
        self.0.update(&key.0);
        self
    }

    #[must_use]
    pub fn flag(self, flag: bool) -> Self {
        self.number(u64::from(flag))
    }

    /// Adds the length of a list, then adds each element with `each`.
    #[must_use]
    pub fn list<T>(self, items: &[T], each: impl Fn(Self, &T) -> Self) -> Self {
        items.iter().fold(self.number(items.len() as u64), each)
    }

    /// Adds a flag for the presence of an optional field, and then its value if it is present.
    #[must_use]
    pub fn option<T>(self, value: Option<T>, add: impl FnOnce(Self, T) -> Self) -> Self {
        match value {
            Some(value) => add(self.flag(true), value),
            None => self.flag(false),
        }
    }

    pub fn digest(&self) -> Digest {
        Digest(*self.0.finalize().as_bytes())
    }

    pub fn key(&self) -> Key128 {
        let mut key = [0; 16];
        key.copy_from_slice(&self.0.finalize().as_bytes()[..16]);
        Key128(key)
    }
}

/// A digest of a set of records that does not depend on their order: the sum of their digests modulo 2^256.
///
/// Duplicates change the digest. With XOR, a pair of duplicates would have no effect.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SetDigest {
    pub count: u64,
    sum: [u64; 4],
}

impl SetDigest {
    pub fn add(&mut self, digest: Digest) {
        self.count += 1;
        let mut carry = false;
        for (limb, bytes) in self.sum.iter_mut().zip(digest.0.chunks_exact(8)) {
            let mut addend = [0; 8];
            addend.copy_from_slice(bytes);
            let (sum, first) = limb.overflowing_add(u64::from_le_bytes(addend));
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            *limb = sum;
            carry = first | second;
        }
    }

    pub fn digest(&self) -> Digest {
        let digester = Digester::new("set").number(self.count);
        self.sum.iter().fold(digester, |digester, limb| digester.number(*limb)).digest()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjacent_fields_have_distinct_digests() {
        assert_ne!(Digester::new("t").text("ab").text("c").digest(), Digester::new("t").text("a").text("bc").digest());
        assert_ne!(
            Digester::new("t").option(None::<u64>, Digester::number).digest(),
            Digester::new("t").option(Some(0), Digester::number).digest()
        );
    }

    #[test]
    fn set_digest_ignores_order_but_counts_copies() {
        let digests: Vec<Digest> = (0..5).map(|number| Digester::new("t").number(number).digest()).collect();
        let of = |order: &[usize]| {
            let mut set = SetDigest::default();
            for index in order {
                set.add(digests[*index]);
            }
            set.digest()
        };
        assert_eq!(of(&[0, 1, 2, 3, 4]), of(&[4, 2, 0, 1, 3]));
        assert_ne!(of(&[0, 1]), of(&[0, 1, 1]));
        assert_ne!(of(&[0, 1, 1, 1]), of(&[0, 1]));
    }
}
