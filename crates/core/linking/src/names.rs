//! Hashed names, and the keys of the environment.
//!
//! The linker compares names a few million times in one run. Therefore the linker compares 64-bit hashes of
//! the names, not the texts. In a repository with a million names, the probability that two of these names
//! have the same hash is about 1 in 40 million. Two names with the same hash would cause one wrong edge. Keys
//! are stored, so the hash is the same on every platform. Therefore the wrong edge would be the same on every
//! machine.

use cairn_languages::Family;

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// The hash (FNV-1a) of a name, a dotted name or a path. If a hash is extended with a text, the result is the
/// hash of the extended name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Name(pub u64);

impl Name {
    /// The hash of the empty text. The empty text represents the top level of a file, or the root folder.
    pub const EMPTY: Name = Name(OFFSET);

    pub fn of(text: &str) -> Name {
        Name::EMPTY.then(text)
    }

    /// The hash of this name's text followed by `text`.
    #[must_use]
    pub fn then(self, text: &str) -> Name {
        Name(text.bytes().fold(self.0, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME)))
    }

    /// Joins two names: `a` and `b` become `a.b`; the empty name and `b` become `b`.
    #[must_use]
    pub fn dot(self, part: &str) -> Name {
        if self == Name::EMPTY { Name::of(part) } else { self.then(".").then(part) }
    }

    /// The representation of a family in a key.
    pub(crate) fn of_family(family: Family) -> Name {
        Name(mix(family as u64 + 1))
    }

    pub fn is_empty(self) -> bool {
        self == Name::EMPTY
    }
}

/// The index of a file in the environment, in which files are sorted by path.
pub(crate) type FileId = u32;

/// The kind of a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Space {
    /// The file at a path.
    File = 1,
    /// Files whose path ends with this suffix. The parts that imports of the language omit are removed from
    /// the path first.
    Suffix,
    /// Definitions in a container of a file. The empty container is the file itself.
    Member,
    /// Files that belong to a package or namespace.
    Package,
    /// Definitions at the top level of a package or namespace.
    PackageMember,
    /// All definitions of a name in the repository.
    Named,
    /// Definitions in containers with this name, in the whole repository. The name does not include the
    /// package.
    Method,
    /// Types with this name, in the whole repository. The name does not include the package.
    Type,
    /// Imports of a file that bind a name.
    Binding,
    /// Imports of a file that make all names visible.
    Wildcard,
    /// Fields of all classes with this name.
    Field,
    /// Packages that the repository declares in one ecosystem.
    Manifests,
}

/// A key of the environment. The bits of a key are mixed, because FNV hashes of similar names differ in only
/// a few bits.
pub(crate) fn key(space: Space, parts: [Name; 3]) -> u64 {
    let seed = (space as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    parts.iter().fold(seed, |hash, part| mix(hash.rotate_left(23) ^ part.0))
}

/// The finaliser of splitmix64.
pub(crate) fn mix(mut hash: u64) -> u64 {
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extended_hash_equals_hash_of_the_whole() {
        assert_eq!(Name::of("a").dot("b").dot("c"), Name::of("a.b.c"));
        assert_eq!(Name::EMPTY.dot("a"), Name::of("a"));
        assert_eq!(Name::of("src").then("/lib.rs"), Name::of("src/lib.rs"));
        assert_ne!(Name::of("ab").dot("c"), Name::of("a").dot("bc"));
    }

    #[test]
    fn keys_depend_on_their_kind_and_the_order_of_names() {
        let (a, b, none) = (Name::of("a"), Name::of("b"), Name::EMPTY);
        assert_ne!(key(Space::File, [a, none, none]), key(Space::Suffix, [a, none, none]));
        assert_ne!(key(Space::Member, [a, b, none]), key(Space::Member, [b, a, none]));
    }
}
