//! Commands for the operator of a cluster. These commands use the servers of the cluster directly, because
//! they must also work while the query service is not running.

pub(crate) mod arguments;
pub(crate) mod dead_letters;
mod doctor;
mod enqueue;
mod installation;
mod keys;
mod letter_report;
mod print_dead_letters;
mod questions;
mod remove;
mod survey;
mod topology;

use std::path::Path;
use std::sync::Arc;

use cairn_metastore::Metastore;
use cairn_ports::{Clock, plain};

use crate::cli::{Arguments, Command};
use crate::exit::CommandReply;
use crate::output;
use arguments::{DeadLettersCommand, TopologyCommand};
use dead_letters::{Decider, Letters, Need};
use installation::Installation;

/// Runs the command on the cluster whose settings are in the file.
pub(crate) async fn run(file: &Path, arguments: Arguments) -> CommandReply {
    let json = arguments.json;
    let named = arguments.tenant.as_deref();
    let installation = Installation::load(file, named)?;
    match arguments.command {
        Command::Topology(TopologyCommand::Apply) => topology::apply(&installation, json).await,
        Command::Topology(TopologyCommand::Check) => topology::check(&installation, json).await,
        Command::DeadLetters(command) => {
            let ledger = ledger_for(&installation, &command).await?;
            let broker = installation.broker().await?;
            let ledger = ledger.as_ref().map(|(runs, clock)| Decider { runs, clock: clock.as_ref() });
            let tenant = named.map(|_| &installation.tenant);
            dead_letters::run(&Letters { kept: &broker, broker: &broker, ledger, tenant }, command, json).await
        }
        Command::Enqueue(arguments) => enqueue::enqueue(&installation, arguments, json).await,
        Command::Keys(command) => keys::run(&installation, named.is_some(), command, json).await,
        Command::Doctor { repository } => doctor::doctor(&installation, repository.as_deref(), json).await,
        Command::Remove { repository } => remove::remove(&installation, &repository, json).await,
        command => questions::ask(&installation, &command, json).await,
    }
}

/// The catalogue and the ledger, if the command needs them. `None` if the command needs only names and the
/// names are not available.
async fn ledger_for(
    installation: &Installation,
    command: &DeadLettersCommand,
) -> anyhow::Result<Option<(Arc<Metastore>, Arc<dyn Clock>)>> {
    match (command.need(), installation.ledger()) {
        (Need::Nothing, _) => Ok(None),
        (Need::Names, connecting) => match connecting.await {
            Ok(ledger) => Ok(Some(ledger)),
            Err(error) => {
                output::note(&format!("repositories are shown without their names: {}", plain(error.as_ref())));
                Ok(None)
            }
        },
        (Need::Ledger, connecting) => Ok(Some(connecting.await?)),
    }
}
