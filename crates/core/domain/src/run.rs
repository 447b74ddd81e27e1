//! Runs. A run is one attempt to index a snapshot of a repository. When a run begins, its plan already lists
//! all its parts.

use std::fmt;

use crate::facts::words;
use crate::{Digester, FailureCode, GenerationId, MessageId, RepositoryId};

words! {
    /// The stages of a run, in the order in which they can start.
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
    /// The stages whose parts must all have ended before a part of this stage can start.
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

/// Id of a run: the repository, and the generation that the run builds.
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

/// Id of a part. A part is a unit of work of a run, and one job processes it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PartId {
    pub stage: StageName,
    /// Zero-based number of the part within the stage.
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

    /// Derives the id of the message for a sync request. `request` is the sequence number of the request
    /// within its repository.
    pub fn derive_sync(repository: RepositoryId, request: u64) -> Self {
        Self(Digester::new("sync message").key_of(repository.0).number(request).key())
    }
}

words! {
    /// The lane of a request or run. Interactive requests come before bulk work.
    Lane {
        Interactive = "interactive",
        Bulk = "bulk",
    }
}

words! {
    RunState {
        /// The run has not ended.
        Running = "running",
        /// Every part succeeded, and the run is published.
        Published = "published",
        /// The run is published, but some parts failed. The files of the failed parts are missing from the
        /// index. The result of the run lists these files.
        Partial = "partial",
        /// The run ended without a publication. The old generation stays published.
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
    /// The code of the failure, and the chain of its causes.
    Failed {
        code: FailureCode,
        message: String,
    },
}

/// Progress of a sync.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SyncProgress {
    /// Bytes received from a remote.
    pub fetched_bytes: u64,
    /// Files whose content was read. Unchanged files are not read.
    pub num_files_read: u64,
}
