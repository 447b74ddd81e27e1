//! `cairn dead-letters`: jobs that were given up, until somebody decides about them.
//!
//! A letter leaves its queue only after what replaces it is there: whoever dies in between has handed a job out twice,
//! which every stage bears, and has lost none.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::process::ExitCode;

use anyhow::Context;
use cairn_domain::{Key128, MessageId, RepositoryId, RepositoryName, Scope, StageName, Tenant};
use cairn_metastore::Metastore;
use cairn_pipeline::StageError;
use cairn_ports::{Broker, Catalogue, Clock, DeadLetter, DeadLetters, ErrorKind, LedgerRead, Requests, Sought};
use cairn_search::{QueryError, QueryErrorCode};
use cairn_wire::Job;
use serde_json::{Value, json};

use super::arguments::{ChosenLetters, DeadLettersCommand, LetterFilter};
use super::wrong;
use crate::commands::{Outcome, code_and_message, print_dead_letters};
use crate::output;

/// Letters that leave their queue in one walk: whoever dies has handed out no more than so many twice.
const TAKEN_AT_ONCE: usize = 100;

/// Where letters are, and what is needed to decide about them.
pub(crate) struct Letters<'a> {
    pub kept: &'a dyn DeadLetters,
    pub broker: &'a dyn Broker,
    /// None if it is not needed, or only for names and not there.
    pub ledger: Option<Decider<'a>>,
    /// Only those of its repositories, if it is named.
    pub tenant: Option<&'a Tenant>,
}

/// Knows what is still awaited, and what repositories are called.
pub(crate) struct Decider<'a> {
    pub runs: &'a Metastore,
    pub clock: &'a dyn Clock,
}

/// What a command needs of catalogue and ledger.
pub(crate) enum Need {
    Nothing,
    /// Names of repositories, if they are to be had.
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

/// What became of a letter.
enum Decision {
    PublishedAgain,
    /// Number of the request for a sync.
    Asked(u64),
    Dropped,
}

pub(crate) async fn run(letters: &Letters<'_>, command: DeadLettersCommand, json: bool) -> Outcome {
    match command {
        DeadLettersCommand::List { limit, filter } => list(letters, limit, &filter, json).await,
        DeadLettersCommand::Show { id } => show(letters, &id, json).await,
        DeadLettersCommand::Replay(chosen) => decide(letters, &chosen, replay, json).await,
        DeadLettersCommand::Drop(chosen) => decide(letters, &chosen, forget, json).await,
    }
}

async fn list(letters: &Letters<'_>, limit: usize, filter: &LetterFilter, json: bool) -> Outcome {
    let mut found = filtered(letters, filter, limit.saturating_add(1)).await?;
    let has_more = found.len() > limit;
    found.truncate(limit);
    let mut answers = Vec::with_capacity(found.len());
    for letter in &found {
        answers.push(as_json(letters, letter).await?);
    }
    let answer = json!({ "dead_letters": answers, "has_more": has_more });
    output::answer(&answer, json, print_dead_letters::list);
    Ok(ExitCode::SUCCESS)
}

async fn show(letters: &Letters<'_>, id: &str, json: bool) -> Outcome {
    let (id, found) = (parse_id(id)?, letters.kept.dead_letters(usize::MAX).await?);
    let letter = found.into_iter().find(|letter| letter.id == id).ok_or_else(|| unknown(id))?;
    let mut answer = as_json(letters, &letter).await?;
    answer["body"] = json!(letter.body);
    output::answer(&answer, json, print_dead_letters::one);
    Ok(ExitCode::SUCCESS)
}

/// The letters that a filter lets through, oldest first; at least as many as are wanted, if there are so many.
async fn filtered(letters: &Letters<'_>, filter: &LetterFilter, wanted: usize) -> anyhow::Result<Vec<DeadLetter>> {
    let LetterFilter { code, stage, repository } = filter;
    let is_open = code.is_none() && stage.is_none() && repository.is_none() && letters.tenant.is_none();
    let stage = stage.as_deref().map(parse_stage).transpose()?;
    let mut found = letters.kept.dead_letters(if is_open { wanted } else { usize::MAX }).await?;
    found.retain(|letter| stage.is_none_or(|stage| letter.stage == stage));
    found.retain(|letter| code.as_ref().is_none_or(|code| letter.code == *code));
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
        anyhow::bail!(wrong(format!("`{word}` is more than one repository: {all}; name one whole, and its tenant")));
    }
    Ok(kept)
}

fn is_called(name: &RepositoryName, word: &str) -> bool {
    name.as_str() == word || name.as_str().rsplit('/').next() == Some(word)
}

fn parse_stage(word: &str) -> Result<StageName, QueryError> {
    let found = StageName::ALL.iter().find(|stage| stage.as_str() == word);
    let names = || StageName::ALL.iter().map(|stage| stage.as_str()).collect::<Vec<_>>().join(", ");
    found.copied().ok_or_else(|| wrong(format!("no stage is called `{word}`; there are: {}", names())))
}

/// Decides about each; one that fails does not keep the others.
async fn decide<'a>(
    letters: &'a Letters<'a>,
    chosen: &ChosenLetters,
    decision: impl AsyncFn(&'a Letters<'a>, &DeadLetter) -> anyhow::Result<Decision>,
    json: bool,
) -> Outcome {
    let found = filtered(letters, &chosen.filter, usize::MAX).await?;
    let mut wanted = Vec::new();
    for id in &chosen.ids {
        let id = parse_id(id)?;
        // A job may have been given up more than once.
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
                Ok(decided) => tell(letter, &decided, json),
                Err(error) => {
                    tell_failure(letter, &error, json);
                    code = ExitCode::FAILURE;
                }
            }
        }
    }
    Ok(code)
}

/// Takes out those about which the decision could be carried out.
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
            // Somebody else was faster, or it could not be taken.
            Ok(false) => *outcome = Err(unknown(letter.id).into()),
            Err(error) => *outcome = Err(anyhow::anyhow!("it stays a dead letter: {error}")),
        }
    }
    decided
}

/// That it is taken is all.
async fn forget(_: &Letters<'_>, _: &DeadLetter) -> anyhow::Result<Decision> {
    Ok(Decision::Dropped)
}

async fn replay(letters: &Letters<'_>, letter: &DeadLetter) -> anyhow::Result<Decision> {
    let Some(job) = &letter.job else {
        anyhow::bail!(wrong("its body is no job that this build can read; `show` prints it, `drop` forgets it"));
    };
    let ledger = letters.ledger.as_ref().context("replaying needs the ledger")?;
    if is_awaited(ledger.runs, job).await? {
        letters.broker.publish(letter.lane, vec![job.clone()]).await?;
        Ok(Decision::PublishedAgain)
    } else {
        ask(ledger, letter, job.repository()).await.map(Decision::Asked)
    }
}

/// Whether the end of the job would still be taken down.
async fn is_awaited(runs: &Metastore, job: &Job) -> anyhow::Result<bool> {
    match job {
        Job::Sync(job) => Ok(runs.asked(job.repository, job.request).await?.is_some()),
        Job::Part(job) => match runs.part_status(job.run, job.part).await {
            Ok(standing) => Ok(!standing.state.is_finished() && !standing.is_ended),
            // It was swept.
            Err(error) if error.kind == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error.into()),
        },
    }
}

/// The files that failed count as changed in the next run.
async fn ask(ledger: &Decider<'_>, letter: &DeadLetter, repository: RepositoryId) -> anyhow::Result<u64> {
    match ledger.runs.ask(repository, letter.lane, false, ledger.clock.now_ms()).await {
        Err(error) if error.kind == ErrorKind::NotFound => {
            anyhow::bail!(wrong("its repository was removed, so nobody waits for it: `drop` forgets it"))
        }
        asked => Ok(asked?),
    }
}

fn tell(letter: &DeadLetter, decided: &Decision, json: bool) {
    let (outcome, request) = match decided {
        Decision::PublishedAgain => ("published_again", None),
        Decision::Asked(request) => ("sync_requested", Some(*request)),
        Decision::Dropped => ("dropped", None),
    };
    let answer = json!({ "id": letter.id.to_string(), "outcome": outcome, "request": request });
    output::answer(&answer, json, print_dead_letters::decided);
}

fn tell_failure(letter: &DeadLetter, error: &anyhow::Error, json: bool) {
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
    id.ok_or_else(|| wrong(format!("`{text}` is no id of a dead letter; `cairn dead-letters list` shows them")))
}

fn unknown(id: MessageId) -> QueryError {
    let message = format!("there is no dead letter {id}; `cairn dead-letters list` shows those that there are");
    QueryError::new(QueryErrorCode::NotFound, message)
}

async fn as_json(letters: &Letters<'_>, letter: &DeadLetter) -> anyhow::Result<Value> {
    let name = match &letter.job {
        Some(job) => name_of(letters, job).await?,
        None => None,
    };
    let (part, generation, request) = match &letter.job {
        Some(Job::Part(job)) => (Some(job.part.number), Some(job.run.generation.0), None),
        Some(Job::Sync(job)) => (None, None, Some(job.request)),
        None => (None, None, None),
    };
    Ok(json!({
        "id": letter.id.to_string(),
        "stage": letter.stage.as_str(),
        "part": part,
        "generation": generation,
        "request": request,
        "tenant": letter.job.as_ref().map(|job| job.tenant().as_str()),
        "repository_id": letter.job.as_ref().map(|job| job.repository().to_string()),
        "repository": name.as_ref().map(RepositoryName::as_str),
        "lane": letter.lane.as_str(),
        "code": letter.code,
        "message": letter.message,
        "num_failed_attempts": letter.num_failed_attempts,
    }))
}

/// None for a repository that was removed, or if names are not to be had.
async fn name_of(letters: &Letters<'_>, job: &Job) -> anyhow::Result<Option<RepositoryName>> {
    let Some(ledger) = &letters.ledger else { return Ok(None) };
    let found = ledger.runs.repositories(&Scope::only(job.tenant().clone(), [job.repository()])).await?;
    Ok(found.into_iter().next().map(|record| record.name))
}
