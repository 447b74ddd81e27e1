//! Parses tree objects in the format in which git stores them, without copying them.

use std::cmp::Ordering;

use git2::Oid;

/// One entry of a tree object.
pub(crate) struct Entry<'t> {
    pub(crate) mode: u32,
    pub(crate) name: &'t [u8],
    pub(crate) id: Oid,
}

impl Entry<'_> {
    pub(crate) fn is_directory(&self) -> bool {
        self.mode & 0o170_000 == 0o040_000
    }

    /// Git sorts a directory as if its name ended in a slash. No name contains a slash.
    pub(crate) fn order(&self, other: &Entry<'_>) -> Ordering {
        let common = self.name.len().min(other.name.len());
        let next = |entry: &Entry<'_>| entry.name.get(common).copied().or_else(|| entry.is_directory().then_some(b'/'));
        self.name[..common].cmp(&other.name[..common]).then_with(|| next(self).cmp(&next(other)))
    }
}

/// Iterates over the entries in the bytes of a tree object. Each entry consists of a mode, a name, a zero
/// byte and an id of twenty bytes. The iteration stops at a malformed entry.
pub(crate) struct Entries<'t>(&'t [u8]);

impl<'t> Entries<'t> {
    pub(crate) fn new(bytes: &'t [u8]) -> Self {
        Self(bytes)
    }

    /// The bytes that are not parsed yet. The result is empty after the last entry of a well-formed tree.
    pub(crate) fn rest(&self) -> &'t [u8] {
        self.0
    }
}

impl<'t> Iterator for Entries<'t> {
    type Item = Entry<'t>;

    fn next(&mut self) -> Option<Entry<'t>> {
        let space = self.0.iter().position(|byte| *byte == b' ')?;
        let mode = self.0[..space].iter().fold(0, |mode: u32, digit| (mode << 3) | u32::from(digit.wrapping_sub(b'0')));
        let rest = &self.0[space + 1..];
        let zero = rest.iter().position(|byte| *byte == 0)?;
        let (id, after) = rest[zero + 1..].split_at_checked(20)?;
        let id = Oid::from_bytes(id).ok()?;
        self.0 = after;
        Some(Entry { mode, name: &rest[..zero], id })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(mode: u32, name: &str) -> Entry<'_> {
        Entry { mode, name: name.as_bytes(), id: Oid::ZERO_SHA1 }
    }

    #[test]
    fn entries_are_ordered_as_in_git() {
        let (file, directory) = (0o100_644, 0o040_000);
        let sorted = [
            entry(file, "a"),
            entry(file, "a-b"),
            entry(file, "a.b"),
            entry(directory, "a"),
            entry(file, "a0"),
            entry(directory, "ab"),
            entry(file, "b"),
        ];
        for (left, first) in sorted.iter().enumerate() {
            for (right, second) in sorted.iter().enumerate() {
                assert_eq!(first.order(second), left.cmp(&right), "{left} {right}");
            }
        }
    }

    #[test]
    fn parsing_ends_at_a_malformed_entry() {
        let mut bytes = b"100644 a\0".to_vec();
        bytes.extend([7; 20]);
        bytes.extend(b"40000 b\0");
        bytes.extend([8; 20]);
        let mut entries = Entries::new(&bytes);
        let all: Vec<(u32, &[u8])> = entries.by_ref().map(|entry| (entry.mode, entry.name)).collect();
        assert_eq!(all, [(0o100_644, b"a".as_slice()), (0o040_000, b"b".as_slice())]);
        assert!(entries.rest().is_empty());
        for length in 0..bytes.len() {
            let mut entries = Entries::new(&bytes[..length]);
            assert_eq!(entries.by_ref().count(), usize::from(length >= 29), "{length}");
            assert_eq!(entries.rest().is_empty(), length == 0 || length == 29, "{length}");
        }
    }
}
