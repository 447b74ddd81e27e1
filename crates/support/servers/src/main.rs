//! `cairn-servers` runs a command with real servers, or leaves servers running.

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{ExitCode, ExitStatus};

use anyhow::{Context, Result};
use cairn_servers::Fleet;
use clap::{Parser, Subcommand};
use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};
use tokio::signal::unix::{SignalKind, signal};

/// Starts RabbitMQ, MinIO, Neo4j and a server with Qdrant's protocol, for tests. If CAIRN_RABBITMQ_URL,
/// CAIRN_S3_URL, CAIRN_NEO4J_URL or CAIRN_QDRANT_URL contains an address, the server at this address is used
/// instead of a new server.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Starts the servers, runs a command with their addresses in the environment, and ends them.
    Run {
        #[arg(last = true, required = true)]
        command: Vec<String>,
    },
    /// Starts the servers and leaves them running.
    Up {
        /// The folder for the data of the servers, and for the file `env` with their addresses.
        #[arg(long)]
        directory: PathBuf,
    },
    /// Ends the servers that `up` started.
    Down {
        #[arg(long)]
        directory: PathBuf,
    },
}

#[tokio::main]
async fn main() -> ExitCode {
    let outcome = match Arguments::parse().action {
        Action::Run { command } => run(&command).await,
        Action::Up { directory } => cairn_servers::up(&directory).await.map(|()| ExitCode::SUCCESS),
        Action::Down { directory } => cairn_servers::down(&directory).await.map(|()| ExitCode::SUCCESS),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("servers: {error:#}");
        ExitCode::FAILURE
    })
}

async fn run(command: &[String]) -> Result<ExitCode> {
    let (program, arguments) = command.split_first().context("no command")?;
    let directory = tempfile::Builder::new().prefix("cairn-servers-").tempdir()?;
    let Some(fleet) = until_interrupted(Fleet::start(directory.path())).await? else {
        return Ok(ExitCode::from(130));
    };
    let mut child = Command::new(program)
        .args(arguments)
        .envs(fleet.variables())
        .spawn()
        .with_context(|| format!("cannot start {program}"))?;
    let status = wait_and_pass_signals(&mut child).await?;
    // The data is deleted together with the servers, so an orderly stop is not needed.
    drop(fleet);
    Ok(ExitCode::from(code_of(status)))
}

/// Runs the work. Returns `None` if a signal interrupts the work; the servers end when the work is dropped.
async fn until_interrupted<T>(work: impl Future<Output = Result<T>>) -> Result<Option<T>> {
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        outcome = work => outcome.map(Some),
        _ = terminate.recv() => Ok(None),
        _ = tokio::signal::ctrl_c() => Ok(None),
    }
}

/// Waits until the command ends, and forwards signals to it. The servers run until the command has ended.
async fn wait_and_pass_signals(child: &mut Child) -> Result<ExitStatus> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    loop {
        tokio::select! {
            status = child.wait() => return Ok(status?),
            _ = terminate.recv() => pass(child, Signal::TERM)?,
            // A terminal also sends this signal to the command. A second signal does no harm.
            _ = interrupt.recv() => pass(child, Signal::INT)?,
        }
    }
}

fn pass(child: &Child, signal: Signal) -> Result<()> {
    let pid = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    match pid {
        Some(pid) => kill_process(pid, signal).context("cannot signal the command"),
        None => Ok(()),
    }
}

/// The exit code by the convention of shells: 128 plus the number of the signal that ended the command.
fn code_of(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}
