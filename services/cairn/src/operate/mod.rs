//! Commands of whoever runs a cluster. They speak to its servers themselves and not through a query service, because they
//! must work when that does not.

pub(crate) mod arguments;
pub(crate) mod dead_letters;
mod doctor;
mod enqueue;
mod installation;
mod keys;
mod questions;
mod remove;
mod survey;
mod topology;

use std::path::Path;

use cairn_search::{SearchError, SearchErrorCode};

use crate::cli::{Arguments, Command};
use crate::commands::Outcome;
use arguments::TopologyCommand;
use dead_letters::Letters;
use installation::Installation;

/// Does what the command says to the cluster whose settings are in the file.
pub(crate) async fn run(file: &Path, arguments: Arguments) -> Outcome {
    let json = arguments.json;
    let named = arguments.tenant.as_deref();
    let installation = Installation::load(file, named)?;
    match arguments.command {
        Command::Topology(TopologyCommand::Apply) => topology::apply(&installation, json).await,
        Command::Topology(TopologyCommand::Check) => topology::check(&installation, json).await,
        Command::DeadLetters(command) => {
            let broker = installation.broker().await?;
            let (runs, clock) = installation.ledger().await?;
            let letters = Letters { kept: &broker, broker: &broker, runs: &runs, clock: clock.as_ref() };
            dead_letters::run(&letters, command, json).await
        }
        Command::Enqueue(arguments) => enqueue::enqueue(&installation, arguments, json).await,
        Command::Keys(command) => keys::run(&installation, named.is_some(), command, json).await,
        Command::Doctor => doctor::doctor(&installation, json).await,
        Command::Remove { repository } => remove::remove(&installation, &repository, json).await,
        command => questions::ask(&installation, &command, json).await,
    }
}

/// A mistake of who typed.
pub(crate) fn wrong(message: impl Into<String>) -> SearchError {
    SearchError::new(SearchErrorCode::ValidationError, message)
}
