//! What one file asks of the environment: the keys, and the answers that it need not find twice.

use crate::Name;
use crate::environment::FileId;
use crate::places::{Ask, Want};

/// What is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Topic {
    /// A name at the top of the file or of an inline module, seen from inside.
    Visible,
    /// The same as others see it.
    Exported,
    /// The same without what all of a module brings in, as the file itself sees it.
    Own,
    /// And as others see it.
    OwnExported,
    /// An inline module of Rust.
    Module,
    /// What a wildcard import brings in; the index of the import stands for the name.
    Wildcard,
    /// A member that stands in a class itself.
    OwnMember,
    /// A member of a class or of its bases; the index of the class stands for the holder.
    Member,
    /// A member of the bases of a class.
    Inherited,
    /// A name at the top of a package.
    Package,
    /// The file that stands for a package.
    Face,
    /// A name of any file.
    Global,
    /// A macro of any file.
    Macro,
    /// The only type of a name in any file.
    OnlyType,
    /// A type of a name in any file.
    AnyType,
}

/// A question whose answer stays the same while one environment is asked.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Question {
    pub(crate) topic: Topic,
    /// The file that is asked, or the family.
    pub(crate) of: FileId,
    /// What holds the name.
    pub(crate) holder: Name,
    pub(crate) name: Name,
    pub(crate) want: Want,
    pub(crate) num_arguments: Option<u8>,
}

impl Question {
    pub(crate) fn new(topic: Topic, of: FileId, holder: Name, name: Name, ask: Ask) -> Self {
        Self { topic, of, holder, name, want: ask.want, num_arguments: ask.num_arguments }
    }
}

/// The keys that a file asked for: the same again and again, so that repetitions go as the list grows.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    keys: Vec<u64>,
    /// Keys that differ from each other at the beginning of the list.
    num_distinct: usize,
}

/// Shorter lists are not looked through.
const FEW_KEYS: usize = 4_096;

impl Asked {
    pub(crate) fn add(&mut self, key: u64) {
        self.keys.push(key);
        if self.keys.len() > FEW_KEYS.max(2 * self.num_distinct) {
            self.tidy();
        }
    }

    /// Sorted, each once.
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
    fn keys_are_kept_once_however_often_they_are_asked() {
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
