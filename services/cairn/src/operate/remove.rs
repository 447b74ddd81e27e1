//! `cairn remove` against a cluster.

use std::process::ExitCode;

use cairn_ports::Catalogue;

use super::installation::Installation;
use crate::commands::index;
use crate::exit::CommandReply;
use crate::output;

/// Hides the repository at once. The scheduler's next sweeps remove its data.
pub(super) async fn remove(installation: &Installation, repository: &str, json: bool) -> CommandReply {
    let (runs, clock) = installation.ledger().await?;
    let searcher = installation.searcher(&runs, &clock).await?;
    let known = searcher.select_one(&runs.view().await?, repository).await?;
    runs.delete(known.record.id, clock.now_ms()).await?;
    if let Some(hosted) = &known.record.hosted {
        output::note(&format!(
            "while {} lists this repository, each `scheduler tick` registers it again, unless the `exclude` patterns of the organisation match it",
            hosted.organisation
        ));
    }
    index::show_removed(&known.record.name, json);
    Ok(ExitCode::SUCCESS)
}
