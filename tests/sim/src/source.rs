//! The content of repositories at their source, and the plan that a sync creates from it.

use std::collections::{BTreeMap, BTreeSet};

use cairn_domain::{ArtifactRef, PartId, StageName};

/// The files of a repository, with the version of each file.
pub type Content = BTreeMap<u32, u64>;

/// The source that a sync has read, and the work that results from it.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    pub read_at_ms: i64,
    /// The epoch of the lease under which the source was read.
    pub epoch: u64,
    pub content: Content,
    /// The files of each pack. Each pack has a parse part and an embed part.
    pub packs: Vec<Vec<u32>>,
    pub gone: Vec<u32>,
}

impl Plan {
    pub fn parts(&self) -> Vec<PartId> {
        let part = |stage, number| PartId { stage, number };
        let packs = 0..self.packs.len() as u32;
        let mut parts: Vec<_> = packs.clone().map(|number| part(StageName::Parse, number)).collect();
        parts.extend(packs.map(|number| part(StageName::Embed, number)));
        parts.extend([StageName::Retire, StageName::Link, StageName::Publish].map(|stage| part(stage, 0)));
        parts
    }

    /// Compares the source with the published content. None if there is nothing to do.
    pub fn new(published: &Manifest, content: Content, read_at_ms: i64, epoch: u64) -> Option<Self> {
        let is_new = |(file, version): &(&u32, &u64)| published.content.get(*file) != Some(*version);
        let changed: Vec<u32> = content.iter().filter(is_new).map(|(file, _)| *file).collect();
        let gone: Vec<u32> = published.content.keys().filter(|file| !content.contains_key(file)).copied().collect();
        if published.is_some && changed.is_empty() && gone.is_empty() && published.failed.is_empty() {
            return None;
        }
        let packs = changed.chunks(2).map(<[u32]>::to_vec).collect();
        Some(Self { read_at_ms, epoch, content, packs, gone })
    }
}

/// The content of a published generation. Files that failed are missing, and the next sync tries them again.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Manifest {
    pub is_some: bool,
    pub content: Content,
    pub failed: BTreeSet<u32>,
}

pub fn artifact(key: &str) -> ArtifactRef {
    ArtifactRef { key: key.to_owned(), size_bytes: 0, hash: [0; 32] }
}
