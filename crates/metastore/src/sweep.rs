//! The sweep operations of the catalogue.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use cairn_domain::{ArtifactRef, RepositoryId, RunId, RunState, Tenant};
use cairn_ports::{CatalogueError, CatalogueSweep, ErrorKind, RepositoryQuery, RunQuery, SweepList};
use cairn_runs::{Command, RepositoryState};

use crate::Metastore;
use crate::error::port_result;

#[async_trait]
impl CatalogueSweep for Metastore {
    async fn sweep_list(&self, now_ms: i64, grace_ms: i64) -> Result<SweepList, CatalogueError> {
        let until_ms = now_ms.saturating_sub(grace_ms);
        let retired = port_result(self.documents.runs(RunQuery::Retired { until_ms }).await, "sweep_list", &"")?;
        let repositories =
            port_result(self.documents.repositories(RepositoryQuery::OfTenant(None)).await, "sweep_list", &"")?;
        let mut list = SweepList::default();
        for repository in &repositories {
            let deletion = repository.state.deletion;
            let aborted =
                repository.state.aborted.keys().filter(|generation| deletion.is_none_or(|at| **generation > at));
            list.aborted.extend(aborted.map(|generation| RunId { repository: repository.id, generation: *generation }));
            list.deleted.extend(deletion.map(|at| (repository.details.tenant.clone(), repository.id, at)));
        }
        list.aborted.sort_by_key(|run| run.generation);
        list.deleted.sort_by_key(|(_, repository, _)| *repository);
        // If a deletion removes the records of a run, the run is not swept separately.
        let deletions: BTreeMap<_, _> = list.deleted.iter().map(|(_, repository, at)| (*repository, *at)).collect();
        let survives = |run: &RunId| deletions.get(&run.repository).is_none_or(|at| run.generation > *at);
        list.retired = retired.into_iter().map(|run| run.ledger.id).filter(survives).collect();
        Ok(list)
    }

    async fn swept(&self, swept: &SweepList, now_ms: i64, grace_ms: i64) -> Result<(), CatalogueError> {
        let until_ms = now_ms.saturating_sub(grace_ms);
        for run in &swept.retired {
            self.forget(Command::MarkSwept { run: *run }).await?;
        }
        for run in &swept.aborted {
            self.forget(Command::ForgetAborted { run: *run, until_ms }).await?;
        }
        for (_, repository, generation) in &swept.deleted {
            let (repository, generation) = (*repository, *generation);
            self.forget(Command::ForgetDeletion { repository, generation, until_ms }).await?;
        }
        port_result(self.documents.forget_publications(until_ms).await, "swept", &"")
    }

    async fn at_work(&self, now_ms: i64) -> Result<BTreeSet<RepositoryId>, CatalogueError> {
        let repositories =
            port_result(self.documents.repositories(RepositoryQuery::OfTenant(None)).await, "at_work", &"")?;
        let is_at_work = |state: &RepositoryState| state.lease.is_active(now_ms) || state.unfinished.is_some();
        Ok(repositories.iter().filter(|repository| is_at_work(&repository.state)).map(|found| found.id).collect())
    }

    async fn live_manifests(&self, now_ms: i64, grace_ms: i64) -> Result<Vec<(Tenant, ArtifactRef)>, CatalogueError> {
        let until_ms = now_ms.saturating_sub(grace_ms);
        let live = port_result(self.documents.runs(RunQuery::Live { until_ms }).await, "live_manifests", &"")?;
        let mut manifests = Vec::new();
        for run in live {
            let (tenant, is_running) = (run.details.tenant, run.ledger.state == RunState::Running);
            manifests.push((tenant.clone(), run.details.manifest));
            manifests.extend(is_running.then_some((tenant, run.details.plan)));
        }
        Ok(manifests)
    }
}

impl Metastore {
    async fn forget(&self, command: Command) -> Result<(), CatalogueError> {
        let key = format!("{:?}", command.reach());
        match port_result::<_, CatalogueError>(self.documents.change(command).await, "swept", &key) {
            // Another sweep has already removed the document.
            Err(error) if error.kind == ErrorKind::NotFound => Ok(()),
            answer => answer.map(drop),
        }
    }
}
