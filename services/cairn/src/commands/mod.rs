//! What each command does.

pub(crate) mod doctor;
mod field;
pub(crate) mod index;
mod index_remote;
mod organisation;
pub(crate) mod print;
pub(crate) mod print_dead_letters;
mod print_index;
pub(crate) mod print_inventory;
pub(crate) mod question;
mod watch;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use cairn_config::Operator;
use cairn_gateway::questions;
use cairn_pipeline::StageError;
use cairn_search::{QueryError, QueryErrorCode};
use clap::CommandFactory;
use serde_json::Value;

use crate::cli::{Arguments, Command};
use crate::local::{Local, LocalAgent, find_home};
use crate::operate::dead_letters::{self, Decider, Letters};
use crate::operate::{self, wrong};
use crate::output;
use crate::remote::{Remote, RemoteError};

/// Exit codes, as the help lists them.
pub const WRONG_USAGE: u8 = 2;
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
    if let Some(file) = arguments.cluster.clone() {
        if arguments.server.is_some() {
            bail!(wrong(
                "`--cluster` speaks to the servers of a cluster and `--server` to a query service: give one of them"
            ));
        }
        return operate::run(&file, arguments).await;
    }
    if arguments.tenant.is_some() {
        bail!(wrong(
            "`--tenant` is for a cluster (`--cluster`): a key says whose repositories it opens, and this machine has one tenant"
        ));
    }
    if let Some(remote) = Remote::of(&arguments)? {
        return ask_server(&remote, &arguments.command, json).await;
    }
    // Before anything is opened: what is refused leaves no index behind.
    if let Some(what) = only_of_clusters(&arguments.command) {
        bail!(wrong(format!("{what}: name the file with its settings (`--cluster FILE` or CAIRN_CLUSTER_CONFIG)")));
    }
    let local = open(&arguments)?;
    let here = if question::is_about_here(&arguments.command) {
        local.repository_of_directory(&std::env::current_dir()?).await?
    } else {
        None
    };
    if let Some(question) = question::of(&arguments.command, here.as_deref())? {
        let answer = questions::answer(&LocalAgent::new(local), &question).await?;
        return Ok(print::answer(&question, &answer, json));
    }
    match arguments.command {
        Command::Index(index) => index::run(&local, index, json).await,
        Command::Doctor { repository } => doctor::doctor(&local, repository.as_deref(), json).await,
        Command::DeadLetters(command) => {
            let broker = local.broker();
            let (runs, clock) = (&local.runs, local.clock.as_ref());
            let ledger = Some(Decider { runs, clock });
            let letters = Letters { kept: broker.as_ref(), broker: broker.as_ref(), ledger, tenant: None };
            let code = dead_letters::run(&letters, command, json).await?;
            output::note(
                "on this machine they end with their process: `cairn runs` and `cairn coverage` tell what failed",
            );
            Ok(code)
        }
        Command::Watch { repositories } => watch::watch(local, repositories, json).await,
        Command::Invalidate { path } => index::invalidate(&local, &path, json).await,
        Command::Remove { repository } => index::remove(&local, &repository, json).await,
        Command::Mcp => {
            cairn_gateway::mcp::serve_stdio(index::agent(local)).await?;
            Ok(ExitCode::SUCCESS)
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}

async fn ask_server(remote: &Remote, command: &Command, json: bool) -> Outcome {
    if let Command::Index(index) = command {
        return index_remote::run(remote, index, json).await;
    }
    let question = question::of(command, None)?.ok_or_else(|| not_remote(command))?;
    let answer = remote.ask(&question).await?;
    Ok(print::answer(&question, &answer, json))
}

/// What a cluster has and this machine has not.
fn only_of_clusters(command: &Command) -> Option<&'static str> {
    match command {
        Command::Topology(_) => Some("only a cluster has a topology"),
        Command::Enqueue(_) => Some("only a cluster has queues (`cairn index` works at once)"),
        Command::Keys(_) => Some("only a cluster has keys"),
        _ => None,
    }
}

/// Why a command is not for a server, and what to do instead.
fn not_remote(command: &Command) -> QueryError {
    let instead = match command {
        Command::Mcp => "agents speak to the server itself, at its path `/mcp`",
        Command::Doctor { .. } => "whoever runs the server checks it there",
        Command::Remove { .. } => "whoever runs the server removes repositories there",
        Command::Watch { .. } => "the server's scheduler follows its repositories",
        Command::Invalidate { .. } => {
            "a server reads commits from a repository's URL, and no file of this disk: push the change, then `cairn index NAME`"
        }
        Command::Topology(_) | Command::DeadLetters(_) | Command::Enqueue(_) | Command::Keys(_) => {
            "whoever runs the cluster does that with `--cluster FILE`"
        }
        _ => "`cairn index NAME` asks the server to bring a repository up to date",
    };
    let message = format!("this command works on an index of this machine, not with `--server`: {instead}");
    QueryError::new(QueryErrorCode::ValidationError, message)
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
    let shared = match (error.downcast_ref::<QueryError>(), error.downcast_ref::<RemoteError>()) {
        (Some(error), _) => Some(cairn_gateway::json::error(error)),
        (None, Some(error)) => Some(error.0.clone()),
        (None, None) => None,
    };
    if let Some(error) = shared {
        return report_shared(&error, json);
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
pub(crate) fn code_and_message(error: &anyhow::Error) -> (&str, String) {
    if let Some(error) = error.downcast_ref::<StageError>() {
        return (error.code, error.chain());
    }
    if let Some(error) = error.downcast_ref::<QueryError>() {
        return (error.code.as_str(), error.message.clone());
    }
    match error.downcast_ref::<RemoteError>() {
        Some(error) => (field::text(&error.0, "code"), error.to_string()),
        None => ("failed", format!("{error:#}")),
    }
}

/// An error in the form that all front ends share.
fn report_shared(error: &Value, json: bool) -> ExitCode {
    if json {
        output::json(&serde_json::json!({ "error": error }));
    } else {
        show_shared(error);
    }
    ExitCode::from(match field::text(error, "code") {
        "not_found" => NOTHING_FOUND,
        "validation_error" | "invalid_cursor" => WRONG_USAGE,
        _ => 1,
    })
}

fn show_shared(error: &Value) {
    output::error(field::text(error, "message"));
    let details = &error["details"];
    for (label, name) in [
        ("similar symbols", "similar_symbols"),
        ("similar files", "similar_files"),
        ("similar repositories", "similar_repositories"),
    ] {
        let names: Vec<&str> = field::list(details, name).iter().filter_map(Value::as_str).collect();
        if !names.is_empty() {
            output::note(&format!("  {label}: {}", names.join(", ")));
        }
    }
    if let Some(hint) = details["next_action_hint"].as_str() {
        output::note(&format!("  {hint}"));
    }
}
