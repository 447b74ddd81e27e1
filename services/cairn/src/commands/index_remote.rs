//! `cairn index` at a server: asks, waits for the run, and shows what the command shows on this machine.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use cairn_gateway::questions::{IndexQuestion, ProgressQuestion, Question};
use serde_json::Value;

use super::field::text;
use super::print_index::{self, Ended};
use super::{CANCELLED, Outcome, RUN_INCOMPLETE};
use crate::cli::IndexArguments;
use crate::operate::wrong;
use crate::output;
use crate::remote::Remote;
use crate::stop::Stop;

const ASK_AGAIN_AFTER: Duration = Duration::from_millis(500);

pub(super) async fn run(remote: &Remote, arguments: &IndexArguments, json: bool) -> Outcome {
    let mut stop = Stop::listen()?;
    let asked = remote.ask(&question(arguments)?).await?;
    let name = text(&asked, "repository").to_owned();
    output::note(&format!("{name}: asked for; Ctrl-C ends the waiting, and the run goes on"));
    let answer = tokio::select! {
        ended = until_ended(remote, asked) => ended?,
        () = stop.asked() => {
            output::note(&format!("`cairn runs --repo {name}` follows the run, `cairn runs cancel {name}` ends it"));
            return Ok(ExitCode::from(CANCELLED));
        }
    };
    let ended: Ended = serde_json::from_value(answer).context("reading the server's answer")?;
    print_index::ended(&ended, json);
    Ok(match ended.state.as_str() {
        "published" => ExitCode::SUCCESS,
        "cancelled" => ExitCode::from(CANCELLED),
        _ => ExitCode::from(RUN_INCOMPLETE),
    })
}

/// A server indexes what it can fetch by URL, by the settings of whoever runs it.
fn question(arguments: &IndexArguments) -> anyhow::Result<Question> {
    if arguments.hosting.organisation.is_some() {
        bail!(wrong("whoever runs the server names its organisations, in `[[organisations]]` of its settings"));
    }
    let Some(target) = arguments.target.clone() else {
        bail!(wrong("say what the server is to index: `cairn index URL`, or the name of a repository it has"));
    };
    let is_plain = arguments.include_override.is_empty() && arguments.name.is_none() && arguments.branch.is_none();
    if !is_plain || arguments.rebuild {
        bail!(wrong("--include-override, --name, --branch and --rebuild are for an index of this machine"));
    }
    Ok(Question::Index(IndexQuestion {
        target,
        include_patterns: arguments.include.clone(),
        exclude_patterns: arguments.exclude.clone(),
        max_file_size: arguments.max_size,
        changed_files: Vec::new(),
    }))
}

async fn until_ended(remote: &Remote, asked: Value) -> anyhow::Result<Value> {
    let Some(request) = asked["request"].as_u64() else { return Ok(asked) };
    let progress = Question::Progress(ProgressQuestion {
        repository: text(&asked, "repository").to_owned(),
        request,
        previous_run_id: asked["previous_run_id"].as_str().map(str::to_owned),
    });
    loop {
        let answer = remote.ask(&progress).await?;
        if !matches!(text(&answer, "state"), "requested" | "running") {
            return Ok(answer);
        }
        tokio::time::sleep(ASK_AGAIN_AFTER).await;
    }
}
