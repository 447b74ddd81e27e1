//! The keys that one file requests from the environment, and the queries whose results are remembered.

use crate::Name;
use crate::names::FileId;
use crate::referents::{Ask, Want};

/// The kind of a query.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Topic {
    /// A name at the top level of a file or of an inline module, looked up from inside the file.
    Visible,
    /// A name at the top level of a file or of an inline module, looked up from another file.
    Exported,
    /// Like `Visible`, but without wildcard imports.
    Own,
    /// Like `Exported`, but without wildcard imports.
    OwnExported,
    /// An inline Rust module.
    Module,
    /// A name from a wildcard import. The field `name` contains the index of the import.
    Wildcard,
    /// A member that is defined in the class itself.
    OwnMember,
    /// A member of a class or of its bases. The field `holder` contains the index of the class.
    Member,
    /// A member of the bases of a class.
    Inherited,
    /// A name at the top level of a package.
    Package,
    /// The file that represents a package.
    Face,
    /// A name in any file.
    Global,
    /// A macro with this name in any file.
    Macro,
    /// The only type with this name in the repository.
    OnlyType,
    /// Any type with this name in the repository.
    AnyType,
}

/// A query whose result does not change within one environment.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct LinkQuery {
    pub(crate) topic: Topic,
    /// The file or family to which the query applies.
    pub(crate) of: FileId,
    /// The name of the container in which `name` is searched.
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

/// The keys that a file requested. Files request the same keys many times, so duplicates are removed while
/// the list grows.
#[derive(Debug, Default)]
pub(crate) struct RequestedKeys {
    keys: Vec<u64>,
    /// The number of distinct keys at the beginning of the list.
    num_distinct: usize,
}

/// Duplicates are removed only from lists that contain more than this number of keys.
const FEW_KEYS: usize = 4_096;

impl RequestedKeys {
    pub(crate) fn add(&mut self, key: u64) {
        self.keys.push(key);
        if self.keys.len() > FEW_KEYS.max(2 * self.num_distinct) {
            self.tidy();
        }
    }

    /// Returns the keys, sorted and without duplicates.
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
        let mut asked = RequestedKeys::default();
        for round in 0..100 {
            (0..1_000).for_each(|key| asked.add(key * 7 + round % 2));
            assert!(asked.keys.len() <= FEW_KEYS);
        }
        let mut expect: Vec<u64> = (0..1_000).flat_map(|key| [key * 7, key * 7 + 1]).collect();
        expect.sort_unstable();
        assert_eq!(asked.into_keys(), expect);
    }
}
