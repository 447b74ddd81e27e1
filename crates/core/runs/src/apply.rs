//! The effect of every command.

use cairn_domain::{FailureCode, GenerationId, Lane, PartEnd, RepositoryId, RunId, RunState, SyncProgress};

use crate::{
    Beginning, Command, CommandReply, Documents, EndedPart, Publication, Publishing, Refusal, RepositoryDetails,
    RepositoryDocument, RepositoryState, RunDetails, RunDocument, RunLedger, SyncOutcome,
};

impl Command {
    /// Applies the command to the documents, or returns a refusal. If the command is refused, the store does
    /// not write the documents.
    pub fn apply(&self, documents: &mut Documents) -> Result<CommandReply, Refusal> {
        match self {
            Command::Register { repository, details, keeps_settings } => {
                Ok(register(documents, *repository, details, *keeps_settings))
            }
            Command::ChangeSettings { expected, settings, .. } => change_settings(documents, expected, settings),
            Command::Lease { now_ms, ttl_ms, .. } => lease(documents, *now_ms, *ttl_ms),
            Command::Renew { epoch, now_ms, ttl_ms, progress, .. } => {
                renew(documents, *epoch, *now_ms, *ttl_ms, *progress)
            }
            Command::Begin { repository, beginning, details } => begin(documents, *repository, beginning, details),
            Command::EndPart { run, part, end, report, now_ms } => {
                let ended = EndedPart { run: *run, part: *part, end: end.clone(), report: report.clone() };
                end_part(documents, ended, *now_ms)
            }
            Command::Sent { parts, .. } => change_run(documents, |run| run.sent(parts)),
            Command::SendAgain { held, now_ms, .. } => change_run(documents, |run| run.send_again(held, *now_ms)),
            Command::PostponePart { postponed, .. } => change_run(documents, |run| run.postpone(postponed.clone())),
            Command::Resume { .. } => change_run(documents, RunLedger::resume),
            Command::Publish { publishing, .. } => publish(documents, publishing),
            Command::Abort { state, message, now_ms, .. } => abort(documents, *state, message, *now_ms),
            Command::Delete { repository, now_ms } => delete(documents, *repository, *now_ms),
            Command::Ask { lane, rebuild, now_ms, .. } => ask(documents, *lane, *rebuild, *now_ms),
            Command::Schedule { now_ms, .. } => schedule(documents, *now_ms),
            Command::Dispatch { now_ms, again_after_ms, .. } => dispatch(documents, *now_ms, *again_after_ms),
            Command::Dispatched { request, .. } => dispatched(documents, *request),
            Command::Postpone { request, outcome, until_ms, .. } => postpone(documents, *request, outcome, *until_ms),
            Command::Answer { request, outcome, .. } => answer(documents, *request, outcome),
            Command::Cancel { outcome, .. } => cancel(documents, outcome),
            Command::MarkSwept { .. } => change_run(documents, |run| run.is_swept |= run.published.is_some()),
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

/// Changes the ledger of a run.
fn change_run(documents: &mut Documents, change: impl FnOnce(&mut RunLedger)) -> Result<CommandReply, Refusal> {
    change(ledger(documents)?);
    Ok(CommandReply::Done)
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

fn lease(documents: &mut Documents, now_ms: i64, ttl_ms: i64) -> Result<CommandReply, Refusal> {
    Ok(CommandReply::Epoch(state(documents)?.lease.take(now_ms, ttl_ms)?))
}

fn renew(
    documents: &mut Documents,
    epoch: u64,
    now_ms: i64,
    ttl_ms: i64,
    progress: SyncProgress,
) -> Result<CommandReply, Refusal> {
    state(documents)?.lease.renew(epoch, now_ms, ttl_ms, progress)?;
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
    if state == RunState::Failed {
        // The sync began this run, so the sync has failed too.
        repository.last_sync = Some(SyncOutcome { at_ms: now_ms, failure: Some(failure_in(message)) });
    }
    Ok(CommandReply::Done)
}

/// The failure in the message of a run: `over_budget: …` or `publish-0 failed with over_budget: …`.
fn failure_in(message: &str) -> (FailureCode, String) {
    let is_in_code = |sign: char| sign.is_ascii_lowercase() || sign == '_';
    let code = message.split(|sign| !is_in_code(sign)).find_map(FailureCode::parse).unwrap_or(FailureCode::Unknown);
    let reason = message.split_once(code.as_str()).map_or(message, |(_, rest)| rest);
    (code, reason.trim_start_matches([':', ' ']).to_owned())
}

fn ask(documents: &mut Documents, lane: Lane, rebuild: bool, now_ms: i64) -> Result<CommandReply, Refusal> {
    Ok(CommandReply::Asked(registered(documents)?.requests.ask(lane, rebuild, now_ms)))
}

fn schedule(documents: &mut Documents, now_ms: i64) -> Result<CommandReply, Refusal> {
    Ok(CommandReply::Asked(registered(documents)?.requests.schedule(now_ms)))
}

fn dispatch(documents: &mut Documents, now_ms: i64, again_after_ms: i64) -> Result<CommandReply, Refusal> {
    Ok(CommandReply::Dispatched(state(documents)?.dispatch(now_ms, again_after_ms)))
}

fn dispatched(documents: &mut Documents, request: u64) -> Result<CommandReply, Refusal> {
    state(documents)?.requests.dispatched(request);
    Ok(CommandReply::Done)
}

fn postpone(
    documents: &mut Documents,
    request: u64,
    outcome: &SyncOutcome,
    until_ms: i64,
) -> Result<CommandReply, Refusal> {
    let repository = documents.repository.as_mut().ok_or(Refusal::NotFound)?;
    if repository.state.requests.postpone(request, until_ms) {
        repository.last_sync = Some(outcome.clone());
    }
    Ok(CommandReply::Done)
}

fn answer(documents: &mut Documents, request: u64, outcome: &SyncOutcome) -> Result<CommandReply, Refusal> {
    let repository = documents.repository.as_mut().ok_or(Refusal::NotFound)?;
    repository.state.requests.answer(request);
    repository.last_sync = Some(outcome.clone());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failure_is_read_from_the_message_of_a_run() {
        let check = |message: &str, code: FailureCode, reason: &str| {
            assert_eq!(failure_in(message), (code, reason.to_owned()), "{message}");
        };
        check("over_budget: 9 chunks; the limit is 5", FailureCode::OverBudget, "9 chunks; the limit is 5");
        check("publish-0 failed with over_budget: 9 chunks", FailureCode::OverBudget, "9 chunks");
        check("embed-3 failed with timeout", FailureCode::Timeout, "");
        check("ended by the reaper", FailureCode::Unknown, "ended by the reaper");
    }
}
