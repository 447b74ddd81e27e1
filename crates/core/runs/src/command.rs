//! Changes as data: what a store is asked to do in one transaction, and the one function that decides what it means.

use std::collections::BTreeSet;

use cairn_domain::{
    ArtifactRef, GenerationId, Lane, PartEnd, PartId, PublishedSeq, RepositoryId, RunId, RunState, StageName,
    SyncProgress,
};

use crate::{
    Beginning, Documents, EndedPart, Publication, Reach, Refusal, RepositoryDetails, RepositoryDocument,
    RepositoryState, RunDetails, RunDocument, RunLedger, SyncOutcome, Wanted,
};

/// One change of the catalogue or the ledger.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Command {
    Register {
        repository: RepositoryId,
        details: Box<RepositoryDetails>,
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
    /// The broker has the jobs of these parts.
    Sent {
        run: RunId,
        parts: Vec<PartId>,
    },
    SendAgain {
        run: RunId,
        /// Stages whose jobs the broker has.
        held: BTreeSet<StageName>,
        now_ms: i64,
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
    /// A sync is due.
    Schedule {
        repository: RepositoryId,
        now_ms: i64,
    },
    Dispatch {
        repository: RepositoryId,
        now_ms: i64,
        again_after_ms: i64,
    },
    /// The broker has the job of the request.
    Dispatched {
        repository: RepositoryId,
        request: u64,
    },
    /// An attempt at the request came to this, and the next one is made then.
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
    /// Nobody waits for a sync any more: what was asked for is answered with this, and a sync under way begins no run.
    Cancel {
        repository: RepositoryId,
        outcome: SyncOutcome,
    },
    /// What a published run retired is out of every store.
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

/// What a run is published with.
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

/// What a change came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    Done,
    Epoch(u64),
    Begun(RunId),
    Released(Vec<PartId>),
    Published(PublishedSeq),
    Deleted(GenerationId),
    Asked(u64),
    Dispatched(Option<Wanted>),
    /// Whether there was anything to cancel.
    Cancelled(bool),
    Forgotten(bool),
}

impl Command {
    /// For logs, errors and fail points.
    pub fn name(&self) -> &'static str {
        match self {
            Command::Register { .. } => "register",
            Command::Lease { .. } => "lease",
            Command::Renew { .. } => "renew",
            Command::Begin { .. } => "begin",
            Command::EndPart { .. } => "end_part",
            Command::Sent { .. } => "sent",
            Command::SendAgain { .. } => "send_again",
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

    /// The documents that the change needs.
    pub fn reach(&self) -> Reach {
        let repository = |id: &RepositoryId| Reach { registry: false, repository: Some(*id), run: None };
        let run = |id: &RunId| Reach { registry: false, repository: None, run: Some(*id) };
        let everything = |repository: RepositoryId, run| Reach { registry: true, repository: Some(repository), run };
        match self {
            Command::Register { repository: id, .. }
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
            | Command::MarkSwept { run: id } => run(id),
            Command::Abort { run, .. } => Reach { registry: false, ..everything(run.repository, Some(*run)) },
            Command::Publish { run, .. } | Command::ForgetAborted { run, .. } => everything(run.repository, Some(*run)),
            Command::Begin { repository, .. }
            | Command::Delete { repository, .. }
            | Command::ForgetDeletion { repository, .. } => everything(*repository, None),
        }
    }

    /// Changes the documents, or refuses and leaves them as they are to be kept: a refused change is not written.
    pub fn apply(&self, documents: &mut Documents) -> Result<Answer, Refusal> {
        match self {
            Command::Register { repository, details } => Ok(register(documents, *repository, details)),
            Command::Lease { now_ms, ttl_ms, .. } => Ok(Answer::Epoch(state(documents)?.lease.take(*now_ms, *ttl_ms)?)),
            Command::Renew { epoch, now_ms, ttl_ms, progress, .. } => {
                state(documents)?.lease.renew(*epoch, *now_ms, *ttl_ms, *progress)?;
                Ok(Answer::Done)
            }
            Command::Begin { repository, beginning, details } => begin(documents, *repository, beginning, details),
            Command::EndPart { run, part, end, report, now_ms } => {
                let ended = EndedPart { run: *run, part: *part, end: end.clone(), report: report.clone() };
                end_part(documents, ended, *now_ms)
            }
            Command::Sent { parts, .. } => {
                ledger(documents)?.sent(parts);
                Ok(Answer::Done)
            }
            Command::SendAgain { held, now_ms, .. } => {
                ledger(documents)?.send_again(held, *now_ms);
                Ok(Answer::Done)
            }
            Command::Publish { publishing, .. } => publish(documents, publishing),
            Command::Abort { state, message, now_ms, .. } => abort(documents, *state, message, *now_ms),
            Command::Delete { repository, now_ms } => delete(documents, *repository, *now_ms),
            Command::Ask { lane, rebuild, now_ms, .. } => {
                Ok(Answer::Asked(registered(documents)?.requests.ask(*lane, *rebuild, *now_ms)))
            }
            Command::Schedule { now_ms, .. } => Ok(Answer::Asked(registered(documents)?.requests.schedule(*now_ms))),
            Command::Dispatch { now_ms, again_after_ms, .. } => {
                Ok(Answer::Dispatched(state(documents)?.dispatch(*now_ms, *again_after_ms)))
            }
            Command::Dispatched { request, .. } => {
                state(documents)?.requests.dispatched(*request);
                Ok(Answer::Done)
            }
            Command::Postpone { request, outcome, until_ms, .. } => {
                let repository = documents.repository.as_mut().ok_or(Refusal::NotFound)?;
                if repository.state.requests.postpone(*request, *until_ms) {
                    repository.last_sync = Some(outcome.clone());
                }
                Ok(Answer::Done)
            }
            Command::Answer { request, outcome, .. } => {
                let repository = documents.repository.as_mut().ok_or(Refusal::NotFound)?;
                repository.state.requests.answer(*request);
                repository.last_sync = Some(outcome.clone());
                Ok(Answer::Done)
            }
            Command::Cancel { outcome, .. } => cancel(documents, outcome),
            Command::MarkSwept { .. } => {
                let run = ledger(documents)?;
                run.is_swept |= run.published.is_some();
                Ok(Answer::Done)
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

fn register(documents: &mut Documents, id: RepositoryId, details: &RepositoryDetails) -> Answer {
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
    repository.details = RepositoryDetails { aliases, ..details.clone() };
    repository.state.register();
    Answer::Done
}

fn begin(
    documents: &mut Documents,
    id: RepositoryId,
    beginning: &Beginning,
    details: &RunDetails,
) -> Result<Answer, Refusal> {
    let repository = documents.repository.as_mut().ok_or(Refusal::NotFound)?;
    let ledger = RunLedger::begin(&mut documents.registry, &mut repository.state, id, beginning)?;
    let run = ledger.id;
    let tenant = repository.details.tenant.clone();
    documents.run = Some(RunDocument { details: RunDetails { tenant, ..details.clone() }, ledger });
    Ok(Answer::Begun(run))
}

fn end_part(documents: &mut Documents, ended: EndedPart, now_ms: i64) -> Result<Answer, Refusal> {
    let failed = matches!(ended.end, PartEnd::Failed { .. });
    let end = ledger(documents)?.end_part(ended.part, failed, now_ms)?;
    if end.is_first {
        documents.ended = Some(ended);
    }
    Ok(Answer::Released(end.released))
}

fn publish(documents: &mut Documents, publishing: &Publishing) -> Result<Answer, Refusal> {
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
    Ok(Answer::Published(seq))
}

fn supersede(previous: Option<&mut RunDocument>, at_ms: i64) {
    if let Some(previous) = previous {
        previous.ledger.superseded_at_ms.get_or_insert(at_ms);
    }
}

fn abort(documents: &mut Documents, state: RunState, message: &str, now_ms: i64) -> Result<Answer, Refusal> {
    let (Some(repository), Some(run)) = (documents.repository.as_mut(), documents.run.as_mut()) else {
        return Err(Refusal::NotFound);
    };
    run.ledger.abort(&mut repository.state, state, now_ms)?;
    run.details.message = Some(message.to_owned());
    Ok(Answer::Done)
}

fn cancel(documents: &mut Documents, outcome: &SyncOutcome) -> Result<Answer, Refusal> {
    let repository = documents.repository.as_mut().ok_or(Refusal::NotFound)?;
    let was_asked_for = repository.state.cancel_requests(outcome.at_ms);
    if was_asked_for {
        repository.last_sync = Some(outcome.clone());
    }
    Ok(Answer::Cancelled(was_asked_for))
}

fn delete(documents: &mut Documents, id: RepositoryId, now_ms: i64) -> Result<Answer, Refusal> {
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
    Ok(Answer::Deleted(generation))
}

fn forget_aborted(documents: &mut Documents, run: RunId, until_ms: i64) -> Result<Answer, Refusal> {
    let repository = documents.repository.as_mut().ok_or(Refusal::NotFound)?;
    let forgotten = repository.state.forget_aborted(&mut documents.registry, run.generation, until_ms);
    if let Some(run) = documents.run.as_mut().filter(|_| forgotten) {
        run.ledger.is_swept = true;
    }
    documents.is_gone = repository.state.is_gone();
    Ok(Answer::Forgotten(forgotten))
}

fn forget_deletion(
    documents: &mut Documents,
    id: RepositoryId,
    generation: GenerationId,
    until_ms: i64,
) -> Result<Answer, Refusal> {
    let Some(repository) = documents.repository.as_mut() else { return Ok(Answer::Forgotten(false)) };
    let forgotten = repository.state.forget_deletion(&mut documents.registry, id, generation, until_ms);
    if forgotten {
        documents.forgotten_until = Some(generation);
        documents.is_gone = repository.state.is_gone();
    }
    Ok(Answer::Forgotten(forgotten))
}
