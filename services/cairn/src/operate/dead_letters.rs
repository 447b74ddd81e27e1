//! `cairn dead-letters`: lists abandoned jobs, and replays or drops the jobs that the operator selects.
//!
//! A letter is removed from its queue only after its job was published again or a sync was requested. If the
//! process dies between these two steps, no job is lost. A job may be published twice, which every stage
//! tolerates.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::process::ExitCode;

use anyhow::Context;
use cairn_domain::{Key128, MessageId, RepositoryId, RepositoryName, Scope, StageName, Tenant};
use cairn_metastore::Metastore;
use cairn_pipeline::StageError;
use cairn_ports::{Broker, Catalogue, Clock, DeadLetter, DeadLetters, ErrorKind, LedgerRead, Requests, Sought};
use cairn_redaction::Own;
use cairn_search::{QueryError, QueryErrorCode};
use cairn_wire::Job;
use serde_json::json;

use super::arguments::{ChosenLetters, DeadLettersCommand, LetterFilter};
use super::letter_report::{DecisionName, DecisionReport, LetterList, LetterReport};
use super::print_dead_letters;
use crate::exit::{CommandReply, code_and_message, wrong};
use crate::output;

/// Number of letters that are removed from their queue together. If the process dies before the removal, at
/// most this many jobs are published twice.
const TAKEN_AT_ONCE: usize = 100;

/// The dead letters, and the ports that the commands need.
pub(crate) struct Letters<'a> {
    pub kept: &'a dyn DeadLetters,
    pub broker: &'a dyn Broker,
    /// `None` if the command does not need the ledger, or if it needs only names of repositories and the
    /// names are not available.
    pub ledger: Option<Decider<'a>>,
    /// If set, only letters of this tenant.
    pub tenant: Option<&'a Tenant>,
}

/// Provides the names of repositories, and finds out which jobs are still needed.
pub(crate) struct Decider<'a> {
    pub runs: &'a Metastore,
    pub clock: &'a dyn Clock,
}

/// The data that a command needs from the catalogue and the ledger.
pub(crate) enum Need {
    Nothing,
    /// The command shows names of repositories if the catalogue is available.
    Names,
    Ledger,
}

impl DeadLettersCommand {
    pub fn need(&self) -> Need {
        match self {
            DeadLettersCommand::List { filter, .. } if filter.repository.is_none() => Need::Names,
            DeadLettersCommand::Show { .. } => Need::Names,
            DeadLettersCommand::Drop(chosen) if chosen.filter.repository.is_none() => Need::Nothing,
            DeadLettersCommand::List { .. } | DeadLettersCommand::Drop(_) | DeadLettersCommand::Replay(_) => {
                Need::Ledger
            }
        }
    }
}

/// The action that was taken for a letter.
enum Decision {
    PublishedAgain,
    /// Number of the sync request.
    Requested(u64),
    Dropped,
}

pub(crate) async fn run(letters: &Letters<'_>, command: DeadLettersCommand, json: bool) -> CommandReply {
    match command {
        DeadLettersCommand::List { limit, filter } => list(letters, limit, &filter, json).await,
        DeadLettersCommand::Show { id } => show(letters, &id, json).await,
        DeadLettersCommand::Replay(chosen) => decide(letters, &chosen, replay, json).await,
        DeadLettersCommand::Drop(chosen) => decide(letters, &chosen, forget, json).await,
    }
}

async fn list(letters: &Letters<'_>, limit: usize, filter: &LetterFilter, json: bool) -> CommandReply {
    let mut found = filtered(letters, filter, limit.saturating_add(1)).await?;
    let has_more = found.len() > limit;
    found.truncate(limit);
    let mut answers = Vec::with_capacity(found.len());
    for letter in &found {
        answers.push(report(letters, letter).await?);
    }
    let answer = LetterList { dead_letters: answers, has_more };
    output::answer(&answer, json, print_dead_letters::list);
    Ok(ExitCode::SUCCESS)
}

async fn show(letters: &Letters<'_>, id: &str, json: bool) -> CommandReply {
    let (id, found) = (parse_id(id)?, letters.kept.dead_letters(usize::MAX).await?);
    let letter = found.into_iter().find(|letter| letter.id == id).ok_or_else(|| unknown(id))?;
    let mut answer = report(letters, &letter).await?;
    answer.body = Some(letter.body.clone());
    output::answer(&answer, json, print_dead_letters::one);
    Ok(ExitCode::SUCCESS)
}

/// The letters that match a filter, oldest first. If `wanted` or more letters match, the result may be
/// incomplete, but contains at least `wanted` letters.
async fn filtered(letters: &Letters<'_>, filter: &LetterFilter, wanted: usize) -> anyhow::Result<Vec<DeadLetter>> {
    let LetterFilter { code, stage, repository } = filter;
    let is_open = code.is_none() && stage.is_none() && repository.is_none() && letters.tenant.is_none();
    let stage = stage.as_deref().map(parse_stage).transpose()?;
    let mut found = letters.kept.dead_letters(if is_open { wanted } else { usize::MAX }).await?;
    found.retain(|letter| stage.is_none_or(|stage| letter.stage == stage));
    found.retain(|letter| code.as_ref().is_none_or(|code| letter.code.as_str() == code.as_str()));
    if let Some(tenant) = letters.tenant {
        found.retain(|letter| letter.job.as_ref().is_some_and(|job| job.tenant() == tenant));
    }
    let Some(word) = repository else { return Ok(found) };
    let (mut names, mut kept) = (BTreeMap::<RepositoryId, Option<RepositoryName>>::new(), Vec::new());
    for letter in found {
        let Some(job) = &letter.job else { continue };
        let name = match names.entry(job.repository()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => unknown.insert(name_of(letters, job).await?.filter(|name| is_called(name, word))),
        };
        if name.is_some() {
            kept.push(letter);
        }
    }
    let meant: Vec<&str> = names.values().flatten().map(RepositoryName::as_str).collect();
    if meant.len() > 1 {
        let all = meant.join(", ");
        anyhow::bail!(wrong(format!(
            "`{word}` matches several repositories: {all}; give the full name of one of them, and its tenant"
        )));
    }
    Ok(kept)
}

fn is_called(name: &RepositoryName, word: &str) -> bool {
    name.as_str() == word || name.as_str().rsplit('/').next() == Some(word)
}

fn parse_stage(word: &str) -> Result<StageName, QueryError> {
    let found = StageName::ALL.iter().find(|stage| stage.as_str() == word);
    let names = || StageName::ALL.iter().map(|stage| stage.as_str()).collect::<Vec<_>>().join(", ");
    found.copied().ok_or_else(|| wrong(format!("`{word}` is not a stage; the stages are {}", names())))
}

/// Replays or drops each letter that the command line selects. `decision` is the function that does this for
/// one letter. If it fails for one letter, the other letters are still processed.
async fn decide<'a>(
    letters: &'a Letters<'a>,
    chosen: &ChosenLetters,
    decision: impl AsyncFn(&'a Letters<'a>, &DeadLetter) -> anyhow::Result<Decision>,
    json: bool,
) -> CommandReply {
    let found = filtered(letters, &chosen.filter, usize::MAX).await?;
    let mut wanted = Vec::new();
    for id in &chosen.ids {
        let id = parse_id(id)?;
        // Several letters may have the same id, because a job may have been abandoned more than once.
        let before = wanted.len();
        wanted.extend(found.iter().filter(|letter| letter.id == id));
        anyhow::ensure!(wanted.len() > before, unknown(id));
    }
    if chosen.ids.is_empty() {
        wanted = found.iter().collect();
    }
    let mut code = ExitCode::SUCCESS;
    for some in wanted.chunks(TAKEN_AT_ONCE) {
        for (letter, decided) in decide_of(letters, some, &decision).await {
            match decided {
                Ok(decided) => print_decision(letter, &decided, json),
                Err(error) => {
                    print_failure(letter, &error, json);
                    code = ExitCode::FAILURE;
                }
            }
        }
    }
    Ok(code)
}

/// Calls `decision` for some letters. If the call for a letter succeeds, the letter is removed from its
/// queue.
async fn decide_of<'a, 'l>(
    letters: &'a Letters<'a>,
    some: &[&'l DeadLetter],
    decision: &impl AsyncFn(&'a Letters<'a>, &DeadLetter) -> anyhow::Result<Decision>,
) -> Vec<(&'l DeadLetter, anyhow::Result<Decision>)> {
    let mut decided = Vec::with_capacity(some.len());
    for letter in some {
        decided.push((*letter, decision(letters, letter).await));
    }
    let ids: Vec<MessageId> =
        decided.iter().filter(|(_, outcome)| outcome.is_ok()).map(|(letter, _)| letter.id).collect();
    let taken = match letters.kept.take(&ids).await {
        Ok(taken) => Ok(taken.into_iter().map(|letter| letter.id).collect::<Vec<MessageId>>()),
        Err(error) => Err(StageError::from(error).chain()),
    };
    let mut taken = taken.map(|taken| Sought::new(&taken));
    for (letter, outcome) in decided.iter_mut().filter(|(_, outcome)| outcome.is_ok()) {
        match taken.as_mut().map(|taken| taken.found(letter.id)) {
            Ok(true) => {}
            // Another process removed the letter first, or the letter could not be removed.
            Ok(false) => *outcome = Err(unknown(letter.id).into()),
            Err(error) => {
                *outcome = Err(anyhow::anyhow!("the dead letter could not be removed from its queue: {error}"));
            }
        }
    }
    decided
}

/// Does nothing: `decide_of` then removes the letter from its queue.
async fn forget(_: &Letters<'_>, _: &DeadLetter) -> anyhow::Result<Decision> {
    Ok(Decision::Dropped)
}

async fn replay(letters: &Letters<'_>, letter: &DeadLetter) -> anyhow::Result<Decision> {
    let Some(job) = &letter.job else {
        anyhow::bail!(wrong(
            "this version of Cairn cannot read the body as a job; `show` prints the body, and `drop` removes the letter"
        ));
    };
    let ledger =
        letters.ledger.as_ref().context("cannot replay the dead letter, because the ledger is not available")?;
    if is_needed(ledger.runs, job).await? {
        letters.broker.publish(letter.lane, vec![job.clone()]).await?;
        Ok(Decision::PublishedAgain)
    } else {
        request_sync(ledger, letter, job.repository()).await.map(Decision::Requested)
    }
}

/// Whether the result of the job would still be recorded.
async fn is_needed(runs: &Metastore, job: &Job) -> anyhow::Result<bool> {
    match job {
        Job::Sync(job) => Ok(runs.asked(job.repository, job.request).await?.is_some()),
        Job::Part(job) => match runs.part_status(job.run, job.part).await {
            Ok(status) => Ok(!status.state.is_finished() && !status.is_ended),
            // The run does not exist any more, because the sweep has removed it.
            Err(error) if error.kind == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error.into()),
        },
    }
}

/// Requests a sync. The next run treats the files of the failed job as changed.
async fn request_sync(ledger: &Decider<'_>, letter: &DeadLetter, repository: RepositoryId) -> anyhow::Result<u64> {
    match ledger.runs.ask(repository, letter.lane, false, ledger.clock.now_ms()).await {
        Err(error) if error.kind == ErrorKind::NotFound => {
            anyhow::bail!(wrong(
                "the repository was removed, so the job is no longer needed; `drop` removes the letter"
            ))
        }
        asked => Ok(asked?),
    }
}

fn print_decision(letter: &DeadLetter, decided: &Decision, json: bool) {
    let (outcome, request) = match decided {
        Decision::PublishedAgain => (DecisionName::PublishedAgain, None),
        Decision::Requested(request) => (DecisionName::SyncRequested, Some(*request)),
        Decision::Dropped => (DecisionName::Dropped, None),
    };
    let answer = DecisionReport { id: letter.id.to_string(), outcome, request };
    output::answer(&answer, json, print_dead_letters::decided);
}

fn print_failure(letter: &DeadLetter, error: &anyhow::Error, json: bool) {
    let (code, message) = code_and_message(error);
    if json {
        let error = json!({ "code": code, "message": message });
        output::json(&json!({ "id": letter.id.to_string(), "error": error }));
    } else {
        output::error(&format!("{}: {message}", letter.id));
    }
}

fn parse_id(text: &str) -> Result<MessageId, QueryError> {
    let id = Key128::parse(text).map(MessageId);
    id.ok_or_else(|| wrong(format!("`{text}` is not the id of a dead letter; `cairn dead-letters list` shows the ids")))
}

fn unknown(id: MessageId) -> QueryError {
    let message = Own(format!("the dead letter {id} does not exist; `cairn dead-letters list` shows all"));
    QueryError::new(QueryErrorCode::NotFound, message)
}

async fn report(letters: &Letters<'_>, letter: &DeadLetter) -> anyhow::Result<LetterReport> {
    let name = match &letter.job {
        Some(job) => name_of(letters, job).await?,
        None => None,
    };
    Ok(LetterReport::of(letter, name.as_ref()))
}

/// The name of the job's repository. `None` if the repository was removed, or if the catalogue is not
/// available.
async fn name_of(letters: &Letters<'_>, job: &Job) -> anyhow::Result<Option<RepositoryName>> {
    let Some(ledger) = &letters.ledger else { return Ok(None) };
    let found = ledger.runs.repositories(&Scope::only(job.tenant().clone(), [job.repository()])).await?;
    Ok(found.into_iter().next().map(|record| record.name))
}
