//! The keys that one file requests from the environment, and the queries whose results are remembered.

use crate::Name;
use crate::names::FileId;
use crate::referents::{Ask, Want};

/// The kind of a query.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Topic {
    /// A name at the top of the file or of an inline module, seen from inside.
    Visible,
    /// The same, seen from other files.
    Exported,
    /// The same without wildcard imports, seen from inside.
    Own,
    /// The same without wildcard imports, seen from other files.
    OwnExported,
    /// An inline module of Rust.
    Module,
    /// A name from a wildcard import; the index of the import takes the place of the name.
    Wildcard,
    /// A member written in a class itself.
    OwnMember,
    /// A member of a class or of its bases; the index of the class takes the place of the holder.
    Member,
    /// A member of the bases of a class.
    Inherited,
    /// A name at the top of a package.
    Package,
    /// The file that represents a package.
    Face,
    /// A name in any file.
    Global,
    /// A macro in any file.
    Macro,
    /// The only type of a name in any file.
    OnlyType,
    /// A type of a name in any file.
    AnyType,
}

/// A query whose result does not change within one environment.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct LinkQuery {
    pub(crate) topic: Topic,
    /// The queried file, or the family.
    pub(crate) of: FileId,
    /// The container of the name.
    pub(crate) holder: Name,
    pub(crate) name: Name,
    pub(crate) want: Want,
    pub(crate) num_arguments: Option<u8>,
}

impl LinkQuery {
    pub(crate) fn new(topic: Topic, of: FileId, holder: Name, name: Name, ask: Ask) -> Self {
        Self { topic, of, holder, name, want: ask.want, num_arguments: ask.num_arguments }
    }
}

/// The keys that a file requested. Files request the same keys again and again, so duplicates are removed as
/// the list grows.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    keys: Vec<u64>,
    /// Number of distinct keys at the beginning of the list.
    num_distinct: usize,
}

/// Shorter lists keep their duplicates.
const FEW_KEYS: usize = 4_096;

impl Asked {
    pub(crate) fn add(&mut self, key: u64) {
        self.keys.push(key);
        if self.keys.len() > FEW_KEYS.max(2 * self.num_distinct) {
            self.tidy();
        }
    }

    /// The keys, sorted and without duplicates.
    pub(crate) fn into_keys(mut self) -> Vec<u64> {
        self.tidy();
        self.keys
    }

    fn tidy(&mut self) {
        self.keys.sort_unstable();
        self.keys.dedup();
        self.num_distinct = self.keys.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_kept_once() {
        let mut asked = Asked::default();
        for round in 0..100 {
            (0..1_000).for_each(|key| asked.add(key * 7 + round % 2));
            assert!(asked.keys.len() <= FEW_KEYS);
        }
        let mut expect: Vec<u64> = (0..1_000).flat_map(|key| [key * 7, key * 7 + 1]).collect();
        expect.sort_unstable();
        assert_eq!(asked.into_keys(), expect);
    }
}
