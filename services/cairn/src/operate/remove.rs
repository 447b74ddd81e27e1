//! `cairn remove` against a cluster.

use std::process::ExitCode;

use cairn_ports::Catalogue;

use super::installation::Installation;
use crate::commands::{Outcome, index};
use crate::output;

/// Hides the repository at once; the scheduler's sweep removes what is stored of it.
pub(super) async fn remove(installation: &Installation, repository: &str, json: bool) -> Outcome {
    let (runs, clock) = installation.ledger().await?;
    let searcher = installation.searcher(&runs, &clock).await?;
    let known = searcher.select_one(&runs.view().await?, repository).await?;
    runs.delete(known.record.id, clock.now_ms()).await?;
    if let Some(hosted) = &known.record.hosted {
        output::note(&format!(
            "as long as it stands on the list of {}, each `scheduler tick` registers it again, unless `exclude` there names it",
            hosted.organisation
        ));
    }
    index::show_removed(&known.record.name, json);
    Ok(ExitCode::SUCCESS)
}
