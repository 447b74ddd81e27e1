//! Commands: each command is a value that describes one change to the documents. A store applies each command
//! in one transaction. `Command::apply` defines the effect of every command.

use std::collections::BTreeSet;

use cairn_domain::{
    ArtifactRef, GenerationId, Lane, PartEnd, PartId, PublishedSeq, RepositoryId, RunId, RunState, StageName,
    SyncProgress,
};

use crate::{
    Beginning, Documents, EndedPart, PostponedPart, Publication, Reach, Refusal, RepositoryDetails, RepositoryDocument,
    RepositoryState, RunDetails, RunDocument, RunLedger, SyncOutcome, Wanted,
};

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
    /// Records that the broker has confirmed the jobs of these parts.
    Sent {
        run: RunId,
        parts: Vec<PartId>,
    },
    SendAgain {
        run: RunId,
        /// Stages of which the broker still has all jobs; these jobs are not sent again.
        held: BTreeSet<StageName>,
        now_ms: i64,
    },
    /// Records that an attempt at a part failed and that the job of the part is delivered again later.
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
    /// Records that the broker has confirmed the job of the request.
    Dispatched {
        repository: RepositoryId,
        request: u64,
    },
    /// Records that an attempt at the requested sync ended with this outcome and that the next attempt starts
    /// at `until_ms`.
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
    /// Records that the sweep has removed from every store the records that the published run retired.
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

    /// Applies the command to the documents, or returns a refusal. If the command is refused, the store does
    /// not write the documents.
    pub fn apply(&self, documents: &mut Documents) -> Result<CommandReply, Refusal> {
        match self {
            Command::Register { repository, details, keeps_settings } => {
                Ok(register(documents, *repository, details, *keeps_settings))
            }
            Command::ChangeSettings { expected, settings, .. } => change_settings(documents, expected, settings),
            Command::Lease { now_ms, ttl_ms, .. } => {
                Ok(CommandReply::Epoch(state(documents)?.lease.take(*now_ms, *ttl_ms)?))
            }
            Command::Renew { epoch, now_ms, ttl_ms, progress, .. } => {
                state(documents)?.lease.renew(*epoch, *now_ms, *ttl_ms, *progress)?;
                Ok(CommandReply::Done)
            }
            Command::Begin { repository, beginning, details } => begin(documents, *repository, beginning, details),
            Command::EndPart { run, part, end, report, now_ms } => {
                let ended = EndedPart { run: *run, part: *part, end: end.clone(), report: report.clone() };
                end_part(documents, ended, *now_ms)
            }
            Command::Sent { parts, .. } => {
                ledger(documents)?.sent(parts);
                Ok(CommandReply::Done)
            }
            Command::SendAgain { held, now_ms, .. } => {
                ledger(documents)?.send_again(held, *now_ms);
                Ok(CommandReply::Done)
            }
            Command::PostponePart { postponed, .. } => {
                ledger(documents)?.postpone(postponed.clone());
                Ok(CommandReply::Done)
            }
            Command::Resume { .. } => {
                ledger(documents)?.resume();
                Ok(CommandReply::Done)
            }
            Command::Publish { publishing, .. } => publish(documents, publishing),
            Command::Abort { state, message, now_ms, .. } => abort(documents, *state, message, *now_ms),
            Command::Delete { repository, now_ms } => delete(documents, *repository, *now_ms),
            Command::Ask { lane, rebuild, now_ms, .. } => {
                Ok(CommandReply::Asked(registered(documents)?.requests.ask(*lane, *rebuild, *now_ms)))
            }
            Command::Schedule { now_ms, .. } => {
                Ok(CommandReply::Asked(registered(documents)?.requests.schedule(*now_ms)))
            }
            Command::Dispatch { now_ms, again_after_ms, .. } => {
                Ok(CommandReply::Dispatched(state(documents)?.dispatch(*now_ms, *again_after_ms)))
            }
            Command::Dispatched { request, .. } => {
                state(documents)?.requests.dispatched(*request);
                Ok(CommandReply::Done)
            }
            Command::Postpone { request, outcome, until_ms, .. } => {
                let repository = documents.repository.as_mut().ok_or(Refusal::NotFound)?;
                if repository.state.requests.postpone(*request, *until_ms) {
                    repository.last_sync = Some(outcome.clone());
                }
                Ok(CommandReply::Done)
            }
            Command::Answer { request, outcome, .. } => {
                let repository = documents.repository.as_mut().ok_or(Refusal::NotFound)?;
                repository.state.requests.answer(*request);
                repository.last_sync = Some(outcome.clone());
                Ok(CommandReply::Done)
            }
            Command::Cancel { outcome, .. } => cancel(documents, outcome),
            Command::MarkSwept { .. } => {
                let run = ledger(documents)?;
                run.is_swept |= run.published.is_some();
                Ok(CommandReply::Done)
            }
            Command::ForgetAborted { run, until_ms } => forget_aborted(documents, *run, *until_ms),
            Command::ForgetDeletion { repository, generation, until_ms } => {
                forget_deletion(documents, *repository, *generation, *until_ms)
            }
        }
    }
}

fn state(documents: &mut Documents) -> Result<&mut RepositoryState, Refusal> {
    documents.repository.as_mut().map(|document| &mut document.state).ok_or(Refusal::NotFound)
}

/// The state of a repository that is not deleted.
fn registered(documents: &mut Documents) -> Result<&mut RepositoryState, Refusal> {
    state(documents).and_then(|state| if state.is_deleted { Err(Refusal::NotFound) } else { Ok(state) })
}

fn ledger(documents: &mut Documents) -> Result<&mut RunLedger, Refusal> {
    documents.run.as_mut().map(|document| &mut document.ledger).ok_or(Refusal::NotFound)
}

fn register(
    documents: &mut Documents,
    id: RepositoryId,
    details: &RepositoryDetails,
    keeps_settings: bool,
) -> CommandReply {
    let repository = documents.repository.get_or_insert_with(|| RepositoryDocument {
        id,
        details: details.clone(),
        last_sync: None,
        state: RepositoryState::default(),
    });
    let mut aliases = repository.details.aliases.clone();
    aliases.extend(details.aliases.iter().cloned());
    aliases.sort();
    aliases.dedup();
    let mut details = RepositoryDetails { aliases, ..details.clone() };
    if keeps_settings && !repository.state.is_deleted {
        details.branch.clone_from(&repository.details.branch);
        details.settings.clone_from(&repository.details.settings);
    }
    repository.details = details;
    repository.state.register();
    CommandReply::Done
}

fn change_settings(documents: &mut Documents, expected: &str, settings: &str) -> Result<CommandReply, Refusal> {
    registered(documents)?;
    let repository = documents.repository.as_mut().ok_or(Refusal::NotFound)?;
    if repository.details.settings != expected {
        return Err(Refusal::Conflict(
            "another call has changed the settings; read the current settings and try again",
        ));
    }
    settings.clone_into(&mut repository.details.settings);
    Ok(CommandReply::Done)
}

fn begin(
    documents: &mut Documents,
    id: RepositoryId,
    beginning: &Beginning,
    details: &RunDetails,
) -> Result<CommandReply, Refusal> {
    let repository = documents.repository.as_mut().ok_or(Refusal::NotFound)?;
    let ledger = RunLedger::begin(&mut documents.registry, &mut repository.state, id, beginning)?;
    let run = ledger.id;
    let tenant = repository.details.tenant.clone();
    documents.run = Some(RunDocument { details: RunDetails { tenant, ..details.clone() }, ledger });
    Ok(CommandReply::Begun(run))
}

fn end_part(documents: &mut Documents, ended: EndedPart, now_ms: i64) -> Result<CommandReply, Refusal> {
    let failed = matches!(ended.end, PartEnd::Failed { .. });
    let end = ledger(documents)?.end_part(ended.part, failed, now_ms)?;
    if end.is_first {
        documents.ended = Some(ended);
    }
    Ok(CommandReply::Released(end.released))
}

fn publish(documents: &mut Documents, publishing: &Publishing) -> Result<CommandReply, Refusal> {
    let (Some(repository), Some(run)) = (documents.repository.as_mut(), documents.run.as_mut()) else {
        return Err(Refusal::NotFound);
    };
    let is_new = run.ledger.published.is_none();
    let (registry, earlier) = (&mut documents.registry, &documents.earlier);
    let seq = run.ledger.publish(registry, &mut repository.state, publishing.state, earlier, publishing.now_ms)?;
    if is_new {
        run.details.manifest = publishing.manifest.clone();
        run.details.revision.clone_from(&publishing.revision);
        run.details.branch.clone_from(&publishing.branch);
        run.details.model.clone_from(&publishing.model);
        run.details.result.clone_from(&publishing.result);
        supersede(documents.previous.as_mut(), publishing.now_ms);
        documents.publication = Some(Publication { view: documents.registry.view(), at_ms: publishing.now_ms });
    }
    Ok(CommandReply::Published(seq))
}

fn supersede(previous: Option<&mut RunDocument>, at_ms: i64) {
    if let Some(previous) = previous {
        previous.ledger.superseded_at_ms.get_or_insert(at_ms);
    }
}

fn abort(documents: &mut Documents, state: RunState, message: &str, now_ms: i64) -> Result<CommandReply, Refusal> {
    let (Some(repository), Some(run)) = (documents.repository.as_mut(), documents.run.as_mut()) else {
        return Err(Refusal::NotFound);
    };
    run.ledger.abort(&mut repository.state, state, now_ms)?;
    run.details.message = Some(message.to_owned());
    Ok(CommandReply::Done)
}

fn cancel(documents: &mut Documents, outcome: &SyncOutcome) -> Result<CommandReply, Refusal> {
    let repository = documents.repository.as_mut().ok_or(Refusal::NotFound)?;
    let was_asked_for = repository.state.cancel_requests(outcome.at_ms);
    if was_asked_for {
        repository.last_sync = Some(outcome.clone());
    }
    Ok(CommandReply::Cancelled(was_asked_for))
}

fn delete(documents: &mut Documents, id: RepositoryId, now_ms: i64) -> Result<CommandReply, Refusal> {
    let repository = documents.repository.as_mut().ok_or(Refusal::NotFound)?;
    let was_deleted = repository.state.is_deleted;
    let unfinished = documents.run.as_mut().filter(|run| Some(run.ledger.id.generation) == repository.state.unfinished);
    let mut unfinished = unfinished;
    let ledger = unfinished.as_mut().map(|run| &mut run.ledger);
    let generation = repository.state.delete(&mut documents.registry, id, ledger, now_ms)?;
    if let Some(run) = unfinished {
        run.details.message = Some("the repository was deleted".to_owned());
    }
    if !was_deleted {
        supersede(documents.previous.as_mut(), i64::MIN);
        documents.publication = Some(Publication { view: documents.registry.view(), at_ms: now_ms });
    }
    Ok(CommandReply::Deleted(generation))
}

fn forget_aborted(documents: &mut Documents, run: RunId, until_ms: i64) -> Result<CommandReply, Refusal> {
    let repository = documents.repository.as_mut().ok_or(Refusal::NotFound)?;
    let forgotten = repository.state.forget_aborted(&mut documents.registry, run.generation, until_ms);
    if let Some(run) = documents.run.as_mut().filter(|_| forgotten) {
        run.ledger.is_swept = true;
    }
    documents.is_removed = repository.state.is_removed();
    Ok(CommandReply::Forgotten(forgotten))
}

fn forget_deletion(
    documents: &mut Documents,
    id: RepositoryId,
    generation: GenerationId,
    until_ms: i64,
) -> Result<CommandReply, Refusal> {
    let Some(repository) = documents.repository.as_mut() else { return Ok(CommandReply::Forgotten(false)) };
    let forgotten = repository.state.forget_deletion(&mut documents.registry, id, generation, until_ms);
    if forgotten {
        documents.forgotten_until = Some(generation);
        documents.is_removed = repository.state.is_removed();
    }
    Ok(CommandReply::Forgotten(forgotten))
}
