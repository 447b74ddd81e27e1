//! Answers questions (`cairn runs`, `repos`, `stats` and others) from the stores of a cluster.

use std::sync::Arc;

use async_trait::async_trait;
use cairn_domain::{RepositoryId, RunId, Tenant};
use cairn_gateway::{Agent, IndexCall, IndexStatus, Indexing, LedgerIndexing};
use cairn_metastore::Metastore;
use cairn_search::{QueryError, Searcher};

use super::installation::Installation;
use crate::cli::Command;
use crate::commands::{question, suggest};
use crate::exit::{CommandReply, wrong};
use crate::output;

/// Answers the questions of the operator of a cluster.
struct OperatorAgent {
    searcher: Searcher,
    indexing: LedgerIndexing,
}

#[async_trait]
impl Agent for OperatorAgent {
    fn searcher(&self) -> &Searcher {
        &self.searcher
    }

    async fn default_repository(&self) -> Option<String> {
        None
    }

    async fn index(&self, call: IndexCall) -> Result<IndexStatus, QueryError> {
        self.indexing.index(&self.searcher, call).await
    }

    fn how_to_index(&self) -> &'static str {
        "`cairn enqueue URL` registers a repository and requests its sync"
    }

    async fn cancel(&self, run: RunId) -> Result<bool, QueryError> {
        self.indexing.cancel(run).await
    }

    async fn cancel_requests(&self, repositories: &[RepositoryId]) -> Result<Vec<RepositoryId>, QueryError> {
        self.indexing.cancel_requests(repositories).await
    }
}

pub(super) async fn ask(installation: &Installation, command: &Command, json: bool) -> CommandReply {
    let question = question::of(command, None)?.ok_or_else(|| not_here(command))?;
    let (runs, clock) = installation.ledger().await?;
    let searcher = installation.searcher(&runs, &clock).await?;
    let indexing = installation.indexing(&runs, &clock);
    let code = suggest::answered(&OperatorAgent { searcher, indexing }, &question, true, json).await?;
    name_other_tenants(installation, &runs).await?;
    Ok(code)
}

/// Prints the names of the other tenants, because an answer covers only one tenant.
async fn name_other_tenants(installation: &Installation, runs: &Arc<Metastore>) -> anyhow::Result<()> {
    let others: Vec<Tenant> =
        runs.tenants().await?.into_iter().filter(|tenant| *tenant != installation.tenant).collect();
    if !others.is_empty() {
        let names: Vec<&str> = others.iter().map(Tenant::as_str).collect();
        let (own, others) = (&installation.tenant, names.join(", "));
        output::note(&format!("showing tenant `{own}`; use --tenant for another: {others}"));
    }
    Ok(())
}

/// The error for a command that does not work with a cluster. The message describes what to do instead.
fn not_here(command: &Command) -> QueryError {
    let instead = match command {
        Command::Index(_) | Command::Invalidate { .. } => {
            "`cairn enqueue URL` registers a repository and requests its sync"
        }
        Command::Watch { .. } => "the scheduler watches the repositories of a cluster",
        Command::Mcp => "agents connect to the query service, at its path `/mcp`",
        _ => "leave out `--cluster` and CAIRN_CLUSTER_CONFIG",
    };
    wrong(format!("this command works on a local index, not with `--cluster`: {instead}"))
}
