//! Jobs that were given up: looked at, tried again, or dropped.

use std::process::ExitCode;

use anyhow::{Context, bail};
use cairn_domain::{Key128, Lane, MessageId, RunState};
use cairn_ports::{Broker, Clock, DeadLetter, DeadLetters, ErrorKind, LedgerRead, Requests};
use cairn_wire::Job;
use cairn_wiring::Cluster;

use crate::cli::DeadLettersCommand;
use crate::output::{self, FAINT, NAME, styled};

pub(super) async fn run(cluster: &Cluster, command: DeadLettersCommand, json: bool) -> anyhow::Result<ExitCode> {
    match command {
        DeadLettersCommand::List { limit } => list(cluster, limit, json).await,
        DeadLettersCommand::Show { id } => show(cluster, &id, json).await,
        DeadLettersCommand::Replay { id } => replay(cluster, &id, json).await,
        DeadLettersCommand::Drop { id } => {
            let letter = take(cluster, &id).await?;
            say(json, &letter, "dropped");
            Ok(ExitCode::SUCCESS)
        }
    }
}

async fn list(cluster: &Cluster, limit: usize, json: bool) -> anyhow::Result<ExitCode> {
    for letter in cluster.broker.dead_letters(limit).await? {
        if json {
            output::json(&value(&letter));
        } else {
            let job = letter.job.as_ref().map_or_else(|| "not a job".to_owned(), ToString::to_string);
            let id = styled(FAINT, letter.id);
            output::line(&format!("{id}  {}  {job}: {}", styled(NAME, &letter.code), letter.message));
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn show(cluster: &Cluster, id: &str, json: bool) -> anyhow::Result<ExitCode> {
    let id = message_id(id)?;
    let letters = cluster.broker.dead_letters(usize::MAX).await?;
    let letter = letters.into_iter().find(|letter| letter.id == id).context("there is no such dead letter")?;
    let value = value(&letter);
    if json {
        output::json(&value);
    } else {
        output::line(&serde_json::to_string_pretty(&value)?);
    }
    Ok(ExitCode::SUCCESS)
}

/// Tries again: the job itself while its run waits for it, else a sync of its repository, which makes up for what failed.
async fn replay(cluster: &Cluster, id: &str, json: bool) -> anyhow::Result<ExitCode> {
    let wanted = message_id(id)?;
    let letters = cluster.broker.dead_letters(usize::MAX).await?;
    let letter = letters.iter().find(|letter| letter.id == wanted).context("there is no such dead letter")?;
    let Some(job) = letter.job.clone() else {
        bail!("its body is no job, so there is nothing to do again; `cairn dead-letters show` prints it");
    };
    let done = if is_awaited(cluster, &job).await? {
        cluster.broker.publish(letter.lane, vec![job]).await?;
        "published again"
    } else {
        cluster.runs.ask(job.repository(), Lane::Interactive, false, cluster.clock.now_ms()).await?;
        "its run is over: a sync of its repository was asked for"
    };
    let letter = take(cluster, id).await?;
    say(json, &letter, done);
    Ok(ExitCode::SUCCESS)
}

async fn is_awaited(cluster: &Cluster, job: &Job) -> anyhow::Result<bool> {
    let Job::Part(job) = job else { return Ok(false) };
    match cluster.runs.standing(job.run, job.part).await {
        Err(error) if error.kind == ErrorKind::NotFound => Ok(false),
        standing => {
            let standing = standing?;
            Ok(standing.state == RunState::Running && !standing.is_ended)
        }
    }
}

async fn take(cluster: &Cluster, id: &str) -> anyhow::Result<DeadLetter> {
    Ok(cluster.broker.take(message_id(id)?).await?)
}

fn message_id(text: &str) -> anyhow::Result<MessageId> {
    let id = Key128::parse(text).with_context(|| format!("`{text}` is no id: `cairn dead-letters list` prints them"))?;
    Ok(MessageId(id))
}

fn say(json: bool, letter: &DeadLetter, what: &str) {
    if json {
        output::json(&serde_json::json!({ "id": letter.id.to_string(), "done": what }));
    } else {
        output::line(&format!("{}: {what}", letter.id));
    }
}

fn value(letter: &DeadLetter) -> serde_json::Value {
    serde_json::json!({
        "id": letter.id.to_string(),
        "stage": letter.stage.as_str(),
        "lane": letter.lane.as_str(),
        "job": letter.job.as_ref().map(ToString::to_string),
        "code": letter.code,
        "message": letter.message,
        "failed_attempts": letter.num_failed_attempts,
        "body": letter.body,
    })
}
