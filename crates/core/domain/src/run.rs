//! Runs: one attempt to bring a repository to a snapshot, made of parts that a plan lists from the start.

use std::fmt;

use crate::facts::words;
use crate::{Digester, GenerationId, MessageId, RepositoryId};

words! {
    /// The stages of a run, in the order in which they become possible.
    StageName {
        Sync = "sync",
        Parse = "parse",
        Embed = "embed",
        Retire = "retire",
        Link = "link",
        Aggregate = "aggregate",
        EmbedPatterns = "embed_patterns",
        Publish = "publish",
        Sweep = "sweep",
    }
}

impl StageName {
    /// The stages whose parts must all have ended before a part of this stage may start.
    pub fn waits_for(self) -> &'static [StageName] {
        match self {
            StageName::Sync | StageName::Parse => &[],
            StageName::Embed | StageName::Retire | StageName::Link | StageName::Aggregate => &[StageName::Parse],
            StageName::EmbedPatterns => &[StageName::Aggregate],
            StageName::Publish => &[
                StageName::Parse,
                StageName::Embed,
                StageName::Retire,
                StageName::Link,
                StageName::Aggregate,
                StageName::EmbedPatterns,
            ],
            StageName::Sweep => &[StageName::Publish],
        }
    }
}

/// A run is the repository and the generation that it builds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RunId {
    pub repository: RepositoryId,
    pub generation: GenerationId,
}

impl fmt::Display for RunId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.generation)
    }
}

/// One unit of fan-out of a run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PartId {
    pub stage: StageName,
    /// From 0 within the stage.
    pub number: u32,
}

impl fmt::Display for PartId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.stage.as_str(), self.number)
    }
}

impl MessageId {
    pub fn derive(run: RunId, part: PartId) -> Self {
        let digester = Digester::new("message").key_of(run.repository.0).number(run.generation.0);
        Self(digester.text(part.stage.as_str()).number(u64::from(part.number)).key())
    }

    /// Of a request to sync a repository, by its number among those of the repository.
    pub fn derive_sync(repository: RepositoryId, request: u64) -> Self {
        Self(Digester::new("sync message").key_of(repository.0).number(request).key())
    }
}

words! {
    /// Interactive requests pass bulk work.
    Lane {
        Interactive = "interactive",
        Bulk = "bulk",
    }
}

words! {
    RunState {
        /// Parts are open.
        Running = "running",
        /// Published, every part done.
        Published = "published",
        /// Published, some parts failed; the files concerned are absent and listed.
        Partial = "partial",
        /// Ended before publishing; the old generation stays.
        Failed = "failed",
        Cancelled = "cancelled",
    }
}

impl RunState {
    pub fn is_finished(self) -> bool {
        self != RunState::Running
    }
}

/// How a part ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PartEnd {
    Done,
    /// A code that has a page in `runbooks/`, and what happened.
    Failed {
        code: String,
        message: String,
    },
}

/// How far a sync is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SyncProgress {
    /// That came from a remote.
    pub fetched_bytes: u64,
    /// Whose content was read; what is the same as before is not read.
    pub num_files_read: u64,
}
