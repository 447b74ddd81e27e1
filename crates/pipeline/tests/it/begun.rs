//! Functions that register repositories and begin runs, for tests.

use cairn_domain::{ArtifactRef, Lane, PartId, RepositoryId, RepositoryName, RunId, Source, StageName, Tenant};
use cairn_metastore::Metastore;
use cairn_ports::{Catalogue, Ledger, NewRun, RepositoryRecord};
use cairn_wire::RunResult;

pub const fn part(stage: StageName) -> PartId {
    PartId { stage, number: 0 }
}

/// Registers a repository.
pub async fn registered(runs: &Metastore, name: &str) -> anyhow::Result<RepositoryId> {
    let source = Source::Url { url: format!("https://example.org/{name}") };
    let record = RepositoryRecord::new(Tenant::local(), RepositoryName::new(name), source);
    let id = record.id;
    runs.register(record).await?;
    Ok(id)
}

/// Begins a run with one part for each of the stages.
pub async fn begun(runs: &Metastore, name: &str, stages: &[StageName]) -> anyhow::Result<RunId> {
    let repository = registered(runs, name).await?;
    let lease = runs.lease(repository, 0, 1000).await?;
    let artifact = |key: &str| ArtifactRef { key: key.to_owned(), size_bytes: 0, hash: [0; 32] };
    let run = NewRun {
        repository,
        previous: None,
        manifest: artifact("manifests/x"),
        plan: artifact("plans/x"),
        parts: stages.iter().map(|stage| part(*stage)).collect(),
        lane: Lane::Bulk,
        window: 8,
        revision: String::new(),
        branch: None,
        result: RunResult::default(),
        started_at_ms: 0,
    };
    Ok(runs.begin(lease, run).await?)
}
