//! Ids. Each id is a newtype. A derived id is a hash of the values that identify the object.

use std::fmt;

use crate::{ContentHash, Digester, Key128, RepoPath, RepositoryName, Tenant};

macro_rules! key {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub Key128);

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(formatter)
            }
        }
    };
}

key!(
    /// Identity of a repository: its tenant and name.
    RepositoryId
);
key!(
    /// Identity of a chunk: repository, path, content hash, and ordinal among the chunks with the same path
    /// and content.
    ChunkKey
);
key!(
    /// Identity of a node of the graph. For a symbol: repository, path, qualified name, kind, and ordinal
    /// among the symbols for which these four values are equal.
    NodeKey
);
key!(
    /// Identity of an edge: owner repository, source key, kind, target key, and ordinal among the edges for
    /// which these four values are equal.
    EdgeKey
);
key!(
    /// Identity of a pattern: its repository and its signature.
    PatternKey
);
key!(
    /// Identity of one version of a record: its key and the generation that wrote it (`gen_from`).
    RecordId
);
key!(
    /// Identity of the facts of one file: blob id, language, the repository's `secrets.ignore`, and the
    /// versions of redaction rules, grammar, query and chunker. The key does not depend on the path.
    FactsKey
);
key!(
    /// Identity of a message. For a part of a run: run, stage and part number.
    MessageId
);

impl RepositoryId {
    pub fn derive(tenant: &Tenant, name: &RepositoryName) -> Self {
        Self(Digester::new("repository").text(tenant.as_str()).text(name.as_str()).key())
    }
}

impl ChunkKey {
    /// `ordinal` is the zero-based position of the chunk among the chunks of the file that have the same
    /// content.
    pub fn derive(repository: RepositoryId, path: &RepoPath, content: ContentHash, ordinal: u32) -> Self {
        let digester = Digester::new("chunk").key_of(repository.0).text(path.as_str());
        Self(digester.bytes(&content.0).number(u64::from(ordinal)).key())
    }
}

impl RecordId {
    /// Derives the id as a UUIDv5 in a fixed namespace of Cairn, because some stores need UUIDs as ids.
    pub fn derive(key: Key128, gen_from: GenerationId) -> Self {
        const NAMESPACE: uuid::Uuid = uuid::Uuid::from_u128(0x6361_6972_6e00_5000_8000_7265_636f_7264);
        let mut name = [0; 24];
        name[..16].copy_from_slice(&key.0);
        name[16..].copy_from_slice(&gen_from.0.to_be_bytes());
        Self(Key128(*uuid::Uuid::new_v5(&NAMESPACE, &name).as_bytes()))
    }
}

/// A version of a repository. The catalogue numbers the generations of all repositories in one sequence,
/// starting at 1. A number is never reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct GenerationId(pub u64);

impl GenerationId {
    /// The `gen_to` of a record that no generation has retired.
    pub const OPEN: GenerationId = GenerationId(i64::MAX as u64);
}

impl fmt::Display for GenerationId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}
