//! Runs a command in local mode, with a query service or with a cluster.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use cairn_config::{Operator, OperatorError};
use cairn_git::work_tree_root;
use cairn_redaction::Message;
use cairn_search::{QueryError, QueryErrorCode};
use cairn_wiring::{EmbeddingConfig, InvalidConfig, local_embedding};
use clap::CommandFactory;

use crate::cli::{Arguments, Command};
use crate::commands::{doctor, first_use, index, index_remote, print, question, suggest, watch};
use crate::exit::{CommandReply, report_error, wrong};
use crate::local::{Local, LocalAgent, find_home};
use crate::operate;
use crate::operate::arguments::DeadLettersCommand;
use crate::operate::dead_letters::{self, Decider, Letters};
use crate::output;
use crate::remote::Remote;
use crate::reported::{ReportedError, with_commands, with_commands_in};

pub(crate) async fn run(arguments: Arguments) -> ExitCode {
    let json = arguments.json;
    match dispatch(arguments).await {
        Ok(code) => code,
        Err(error) => report_error(&error, json),
    }
}

async fn dispatch(arguments: Arguments) -> CommandReply {
    let json = arguments.json;
    if let Command::Completions { shell } = arguments.command {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut Arguments::command(), "cairn", &mut script);
        output::bytes(&script);
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(file) = arguments.cluster.clone() {
        if arguments.server.is_some() {
            bail!(wrong(
                "`--cluster` uses the servers of a cluster, and `--server` uses a query service: use only one of these options"
            ));
        }
        return operate::run(&file, arguments).await;
    }
    if arguments.tenant.is_some() {
        bail!(wrong(
            "`--tenant` is for a cluster (`--cluster`): with a query service, the API key determines the tenant, and local mode has only one tenant"
        ));
    }
    if let Some(remote) = Remote::of(&arguments)? {
        return ask_server(&remote, &arguments.command, json).await;
    }
    run_locally(arguments).await
}

async fn run_locally(arguments: Arguments) -> CommandReply {
    let json = arguments.json;
    // The command is checked before the index is opened, so that a refused command creates no index
    // directory.
    if let Some(what) = cluster_only(&arguments.command) {
        bail!(wrong(format!(
            "{what}: pass the settings file of the cluster (`--cluster FILE` or CAIRN_CLUSTER_CONFIG)"
        )));
    }
    let local = open(&arguments)?;
    let here = match repository_here(&local, &arguments.command, json).await? {
        ControlFlow::Continue(here) => here,
        ControlFlow::Break(code) => return Ok(code),
    };
    if let Some(question) = question::of(&arguments.command, here.as_deref())? {
        let is_named = question::names_repository(&arguments.command);
        return suggest::answered(&LocalAgent::new(local), &question, is_named, json).await;
    }
    match arguments.command {
        Command::Index(index) => index::run(&local, index, json).await,
        Command::Doctor { repository } => doctor::doctor(&local, repository.as_deref(), json).await,
        Command::DeadLetters(command) => run_dead_letters(&local, command, json).await,
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

async fn run_dead_letters(local: &Local, command: DeadLettersCommand, json: bool) -> CommandReply {
    let broker = local.broker();
    let (runs, clock) = (&local.runs, local.clock.as_ref());
    let ledger = Some(Decider { runs, clock });
    let letters = Letters { kept: broker.as_ref(), broker: broker.as_ref(), ledger, tenant: None };
    let code = dead_letters::run(&letters, command, json).await?;
    output::note(
        "in local mode, dead letters exist only until their process ends: `cairn runs` and `cairn coverage` show failures",
    );
    Ok(code)
}

/// The repository of the working directory, for commands that use it. If a question names no repository and
/// the working tree is not indexed, the working tree is indexed first. If the user stops this run, the
/// function returns the exit code of the command.
async fn repository_here(
    local: &Local,
    command: &Command,
    json: bool,
) -> anyhow::Result<ControlFlow<ExitCode, Option<String>>> {
    let here = std::env::current_dir()?;
    let is_about_here = question::is_about_here(command);
    let found = match question::indexes_first(command) {
        true => first_use::repository_here(local, &here, json).await?,
        false if is_about_here => ControlFlow::Continue(local.repository_of_directory(&here).await?),
        false => ControlFlow::Continue(None),
    };
    Ok(found.map_continue(|name| name.filter(|_| is_about_here)))
}

async fn ask_server(remote: &Remote, command: &Command, json: bool) -> CommandReply {
    if let Command::Index(index) = command {
        return index_remote::run(remote, index, json).await;
    }
    let question = question::of(command, None)?.ok_or_else(|| not_remote(command))?;
    match remote.ask(&question).await {
        Ok(answer) => {
            let suggestions = if answer.is_empty() { remote.suggestions(&question).await } else { Vec::new() };
            Ok(print::answer(&question, &answer, &with_commands(suggestions), json))
        }
        Err(error) => Err(match error.downcast::<ReportedError>() {
            Ok(ReportedError(report)) => ReportedError(with_commands_in(report)).into(),
            Err(error) => error,
        }),
    }
}

/// The reason why a command works only with a cluster; `None` for all other commands.
fn cluster_only(command: &Command) -> Option<&'static str> {
    match command {
        Command::Topology(_) => Some("only a cluster has a topology"),
        Command::Enqueue(_) => Some("only a cluster has queues (`cairn index` indexes at once)"),
        Command::Keys(_) => Some("only a cluster has keys"),
        _ => None,
    }
}

/// The error for a command that does not work with a server. The message describes what to do instead.
fn not_remote(command: &Command) -> QueryError {
    let instead = match command {
        Command::Mcp => "agents connect to the server itself, at its path `/mcp`",
        Command::Doctor { .. } => "the operator of the server runs this command there",
        Command::Remove { .. } => "the operator of the server removes repositories there",
        Command::Watch { .. } => "the scheduler of the server watches the repositories",
        Command::Invalidate { .. } => {
            "a server reads commits from the URL of a repository, not files of this disk: push the change, then `cairn index NAME`"
        }
        Command::Topology(_) | Command::DeadLetters(_) | Command::Enqueue(_) | Command::Keys(_) => {
            "the operator of the cluster does this with `--cluster FILE`"
        }
        _ => "`cairn index NAME` makes the server index the current state of a repository",
    };
    let message = Message::from("this command works on a local index, not with `--server`: ").and(instead);
    QueryError::new(QueryErrorCode::ValidationError, message)
}

fn open(arguments: &Arguments) -> anyhow::Result<Local> {
    let here = std::env::current_dir().context("cannot find the current directory")?;
    let is_found = arguments.home.is_none();
    let mut home = find_home(arguments.home.as_deref(), &here);
    // If a question is asked in a subdirectory, the whole working tree is indexed, so the index directory is
    // created in the root of the tree.
    if is_found && !home.exists() && may_index_here(&arguments.command) {
        home = work_tree_root(&here).map_or(home, |root| root.join(".cairn"));
    }
    let file = home.join("config.toml");
    let operator = Operator::load(arguments.config.as_deref(), &file);
    // An error is ignored. If the file exists but cannot be read, `Operator::load` has already returned an
    // error.
    let text = std::fs::read_to_string(arguments.config.as_deref().unwrap_or(&file)).unwrap_or_default();
    let (operator, embedding) = settings(operator, local_embedding(&text, variables()))?;
    let home: PathBuf = match (&arguments.home, &operator.home) {
        (None, Some(configured)) => configured.clone(),
        _ => home,
    };
    Local::open(&home, operator, &embedding)
}

/// The settings of local mode: the operator's settings and the embedding model. If both have faults, the
/// error contains the faults of both.
fn settings(
    operator: Result<Operator, OperatorError>,
    embedding: Result<EmbeddingConfig, InvalidConfig>,
) -> anyhow::Result<(Operator, EmbeddingConfig)> {
    match (operator, embedding) {
        (Ok(operator), embedding) => Ok((operator, embedding?)),
        // If the file is not TOML, both have the same fault.
        (Err(OperatorError::Invalid(invalid)), Err(other)) if !other.is_of_syntax() => {
            Err(other.and(invalid.to_string()).into())
        }
        (Err(error), _) => Err(error.into()),
    }
}

/// Whether the command may index the working tree of the working directory.
fn may_index_here(command: &Command) -> bool {
    question::indexes_first(command) || matches!(command, Command::Mcp)
}

/// The environment variables whose names and values are valid UTF-8.
fn variables() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}
