//! Commands: each command is a value that describes one change to the documents. A store applies each command
//! in one transaction. `Command::apply` defines the effect of every command.

use std::collections::BTreeSet;

use cairn_domain::{
    ArtifactRef, GenerationId, Lane, PartEnd, PartId, PublishedSeq, RepositoryId, RunId, RunState, StageName,
    SyncProgress,
};

use crate::{Beginning, PostponedPart, Reach, RepositoryDetails, RunDetails, SyncOutcome, Wanted};

/// One change to the catalogue or the ledger.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Command {
    Register {
        repository: RepositoryId,
        details: Box<RepositoryDetails>,
        /// Whether a repository that is already registered keeps its branch and settings.
        keeps_settings: bool,
    },
    /// Replaces the settings if the stored settings are equal to `expected`. The address, the name and the
    /// branch are not changed.
    ChangeSettings {
        repository: RepositoryId,
        expected: String,
        settings: String,
    },
    Lease {
        repository: RepositoryId,
        now_ms: i64,
        ttl_ms: i64,
    },
    Renew {
        repository: RepositoryId,
        epoch: u64,
        now_ms: i64,
        ttl_ms: i64,
        progress: SyncProgress,
    },
    Begin {
        repository: RepositoryId,
        beginning: Box<Beginning>,
        details: Box<RunDetails>,
    },
    EndPart {
        run: RunId,
        part: PartId,
        end: PartEnd,
        report: String,
        now_ms: i64,
    },
    /// Marks the jobs of these parts as confirmed by the broker.
    Sent {
        run: RunId,
        parts: Vec<PartId>,
    },
    SendAgain {
        run: RunId,
        /// Stages whose jobs the broker still has; these jobs are not sent again.
        held: BTreeSet<StageName>,
        now_ms: i64,
    },
    /// Stores the failure of an attempt at a part. The job of the part is delivered again later.
    PostponePart {
        run: RunId,
        postponed: PostponedPart,
    },
    /// Immediately starts the parts that wait for their next attempt.
    Resume {
        run: RunId,
    },
    Publish {
        run: RunId,
        publishing: Box<Publishing>,
    },
    Abort {
        run: RunId,
        state: RunState,
        message: String,
        now_ms: i64,
    },
    Delete {
        repository: RepositoryId,
        now_ms: i64,
    },
    Ask {
        repository: RepositoryId,
        lane: Lane,
        rebuild: bool,
        now_ms: i64,
    },
    /// Requests a sync because the schedule requires it.
    Schedule {
        repository: RepositoryId,
        now_ms: i64,
    },
    Dispatch {
        repository: RepositoryId,
        now_ms: i64,
        again_after_ms: i64,
    },
    /// Marks the job of the request as confirmed by the broker.
    Dispatched {
        repository: RepositoryId,
        request: u64,
    },
    /// Stores the outcome of a failed attempt at the requested sync. The next attempt starts at `until_ms`.
    Postpone {
        repository: RepositoryId,
        request: u64,
        outcome: SyncOutcome,
        until_ms: i64,
    },
    Answer {
        repository: RepositoryId,
        request: u64,
        outcome: SyncOutcome,
    },
    /// Cancels the pending sync requests of the repository and stores this outcome as the outcome of the last
    /// sync. After this command, a sync in progress cannot begin a run.
    Cancel {
        repository: RepositoryId,
        outcome: SyncOutcome,
    },
    /// Marks the published run as swept: the records that it retired are removed from every store.
    MarkSwept {
        run: RunId,
    },
    ForgetAborted {
        run: RunId,
        until_ms: i64,
    },
    ForgetDeletion {
        repository: RepositoryId,
        generation: GenerationId,
        until_ms: i64,
    },
}

/// The data that is stored when a run is published.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Publishing {
    /// `Published` or `Partial`.
    pub state: RunState,
    pub manifest: ArtifactRef,
    pub revision: String,
    pub branch: Option<String>,
    pub model: String,
    pub result: String,
    pub now_ms: i64,
}

/// The result of a command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CommandReply {
    Done,
    Epoch(u64),
    Begun(RunId),
    Released(Vec<PartId>),
    Published(PublishedSeq),
    Deleted(GenerationId),
    Asked(u64),
    Dispatched(Option<Wanted>),
    /// True if a request existed.
    Cancelled(bool),
    Forgotten(bool),
}

impl Command {
    /// The name of the command in logs, errors and fail points.
    pub fn name(&self) -> &'static str {
        match self {
            Command::Register { .. } => "register",
            Command::ChangeSettings { .. } => "change_settings",
            Command::Lease { .. } => "lease",
            Command::Renew { .. } => "renew",
            Command::Begin { .. } => "begin",
            Command::EndPart { .. } => "end_part",
            Command::Sent { .. } => "sent",
            Command::SendAgain { .. } => "send_again",
            Command::PostponePart { .. } => "postpone_part",
            Command::Resume { .. } => "resume",
            Command::Publish { .. } => "publish",
            Command::Abort { .. } => "abort",
            Command::Delete { .. } => "delete",
            Command::Ask { .. } => "ask",
            Command::Schedule { .. } => "schedule",
            Command::Dispatch { .. } => "dispatch",
            Command::Dispatched { .. } => "dispatched",
            Command::Postpone { .. } => "postpone",
            Command::Answer { .. } => "answer",
            Command::Cancel { .. } => "cancel",
            Command::MarkSwept { .. } => "mark_swept",
            Command::ForgetAborted { .. } => "forget_aborted",
            Command::ForgetDeletion { .. } => "forget_deletion",
        }
    }

    /// The documents that the command needs.
    pub fn reach(&self) -> Reach {
        let repository = |id: &RepositoryId| Reach { registry: false, repository: Some(*id), run: None };
        let run = |id: &RunId| Reach { registry: false, repository: None, run: Some(*id) };
        let everything = |repository: RepositoryId, run| Reach { registry: true, repository: Some(repository), run };
        match self {
            Command::Register { repository: id, .. }
            | Command::ChangeSettings { repository: id, .. }
            | Command::Lease { repository: id, .. }
            | Command::Renew { repository: id, .. }
            | Command::Ask { repository: id, .. }
            | Command::Schedule { repository: id, .. }
            | Command::Dispatch { repository: id, .. }
            | Command::Dispatched { repository: id, .. }
            | Command::Postpone { repository: id, .. }
            | Command::Answer { repository: id, .. }
            | Command::Cancel { repository: id, .. } => repository(id),
            Command::EndPart { run: id, .. }
            | Command::Sent { run: id, .. }
            | Command::SendAgain { run: id, .. }
            | Command::PostponePart { run: id, .. }
            | Command::Resume { run: id }
            | Command::MarkSwept { run: id } => run(id),
            Command::Abort { run, .. } => Reach { registry: false, ..everything(run.repository, Some(*run)) },
            Command::Publish { run, .. } | Command::ForgetAborted { run, .. } => everything(run.repository, Some(*run)),
            Command::Begin { repository, .. }
            | Command::Delete { repository, .. }
            | Command::ForgetDeletion { repository, .. } => everything(*repository, None),
        }
    }
}
