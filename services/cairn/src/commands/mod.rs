//! What each command does.

mod ask;
mod index;
mod report;
mod watch;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use cairn_config::Operator;
use cairn_pipeline::StageError;
use cairn_search::{SearchError, SearchErrorCode};
use clap::CommandFactory;

use crate::cli::{Arguments, Command};
use crate::local::{Local, find_home};
use crate::output;

/// Exit codes, as the help lists them.
pub const NOTHING_FOUND: u8 = 3;
pub const INVALID_SETTINGS: u8 = 4;
pub const RUN_INCOMPLETE: u8 = 5;
pub const CANCELLED: u8 = 130;

/// What a command ends with.
pub type Outcome = anyhow::Result<ExitCode>;

pub async fn run(arguments: Arguments) -> ExitCode {
    let json = arguments.json;
    match dispatch(arguments).await {
        Ok(code) => code,
        Err(error) => report_error(&error, json),
    }
}

async fn dispatch(arguments: Arguments) -> Outcome {
    let json = arguments.json;
    if let Command::Completions { shell } = arguments.command {
        clap_complete::generate(shell, &mut crate::cli::Arguments::command(), "cairn", &mut std::io::stdout());
        return Ok(ExitCode::SUCCESS);
    }
    let local = open(&arguments)?;
    match arguments.command {
        Command::Index(index) => index::run(&local, index, json).await,
        Command::Search(search) => ask::search(&local, search, json).await,
        Command::Show { repository, path } => ask::show(&local, &repository, &path, json).await,
        Command::Graph(command) => ask::graph(&local, command, json).await,
        Command::Patterns { name, repositories } => ask::patterns(&local, name.as_deref(), repositories, json).await,
        Command::Repos => report::repositories(&local, json).await,
        Command::Status => report::status(&local, json).await,
        Command::Stats => report::stats(&local, json).await,
        Command::Runs { action, limit, repository } => report::runs(&local, action, limit, repository, json).await,
        Command::Coverage { repository, why, summary } => {
            report::coverage(&local, repository, why, summary, json).await
        }
        Command::Secrets { repository } => report::secrets(&local, repository, json).await,
        Command::Fingerprint { repositories } => report::fingerprint(&local, repositories, json).await,
        Command::Doctor => report::doctor(&local, json).await,
        Command::Watch { repositories } => watch::watch(local, repositories, json).await,
        Command::Invalidate { path } => index::invalidate(&local, &path, json).await,
        Command::Remove { repository } => index::remove(&local, &repository, json).await,
        Command::Mcp => {
            cairn_gateway::mcp::serve_stdio(index::agent(local)).await?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Completions { .. } | Command::ParseWorker => Ok(ExitCode::SUCCESS),
    }
}

fn open(arguments: &Arguments) -> anyhow::Result<Local> {
    let here = std::env::current_dir().context("finding the current directory")?;
    let home = find_home(arguments.home.as_deref(), &here);
    let operator = Operator::load(arguments.config.as_deref(), &home.join("config.toml"))?;
    let home: PathBuf = match (&arguments.home, &operator.home) {
        (None, Some(configured)) => configured.clone(),
        _ => home,
    };
    Local::open(&home, operator)
}

/// Says what was wrong, and where it is known what to do.
fn report_error(error: &anyhow::Error, json: bool) -> ExitCode {
    if let Some(error) = error.downcast_ref::<SearchError>() {
        if json {
            output::json(&serde_json::json!({ "error": cairn_gateway::json::error(error) }));
        } else {
            show_search_error(error);
        }
        return ExitCode::from(if error.code == SearchErrorCode::NotFound { NOTHING_FOUND } else { 1 });
    }
    let (code, message) = code_and_message(error);
    if json {
        output::json(&serde_json::json!({ "error": { "code": code, "message": message } }));
    } else {
        output::error(&message);
    }
    ExitCode::from(if code == "invalid_settings" { INVALID_SETTINGS } else { 1 })
}

/// The code that results and `runbooks/` share, and the whole chain of causes.
fn code_and_message(error: &anyhow::Error) -> (&'static str, String) {
    match error.downcast_ref::<StageError>() {
        Some(error) => (error.code, error.chain()),
        None => ("failed", format!("{error:#}")),
    }
}

fn show_search_error(error: &SearchError) {
    output::error(&error.message);
    for (label, names) in [
        ("similar symbols", &error.similar_symbols),
        ("similar files", &error.similar_files),
        ("similar repositories", &error.similar_repositories),
    ] {
        if !names.is_empty() {
            output::note(&format!("  {label}: {}", names.join(", ")));
        }
    }
    if let Some(hint) = &error.hint {
        output::note(&format!("  {hint}"));
    }
}
