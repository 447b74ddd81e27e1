//! The stores of records behind a network: their writes and sweeps, and planted bugs in them.

use std::sync::Arc;

use async_trait::async_trait;
use cairn_domain::{GenerationId, Interval, RepositoryId, Tenant};
use cairn_ports::{Generations, MaintenanceError, Staging};

use crate::environment::Environment;
use crate::mutants::Mutant;
use crate::rows::Rows;

/// A write that a handler sends to a store of records.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Write {
    Insert { file: u32, version: u64 },
    Retire { file: u32 },
}

/// One of the two stores of records.
#[derive(Clone)]
pub struct Records {
    pub environment: Arc<Environment>,
    pub number: usize,
}

impl Records {
    pub fn new(environment: &Arc<Environment>, number: usize) -> Self {
        Self { environment: Arc::clone(environment), number }
    }

    pub fn write(&self, staging: &Staging, write: Write) {
        let run = staging.run;
        self.environment.schedule.trace(|| format!("store {}: {write:?} by {run}", self.number));
        match write {
            Write::Insert { file, version } => {
                let overwrites = self.environment.has(Mutant::UpsertAfterRetire);
                self.environment.rows(self.number).insert(staging, file, version, overwrites);
            }
            Write::Retire { file } => {
                let overwrites = self.environment.has(Mutant::RetireOverPublished);
                self.environment.rows(self.number).retire(staging, file, overwrites);
            }
        }
        self.environment.check(run.repository);
    }

    async fn sweep(&self, repository: RepositoryId, what: &str, change: impl FnOnce(&mut Rows) -> u64) -> u64 {
        self.environment.schedule.step().await;
        let num_changed = change(&mut self.environment.rows(self.number));
        self.environment.schedule.trace(|| format!("store {}: {what}: {num_changed}", self.number));
        self.environment.check(repository);
        num_changed
    }
}

#[async_trait]
impl Generations for Records {
    async fn sweep_retired(
        &self,
        repository: RepositoryId,
        published: &[GenerationId],
    ) -> Result<u64, MaintenanceError> {
        let by_range = self.environment.has(Mutant::SweepByRange);
        let newest = self.environment.memory.head().newest_published;
        let goes =
            |interval: Interval| published.contains(&interval.gen_to) || (by_range && interval.gen_to.0 <= newest);
        let what = format!("removes what {published:?} retired");
        Ok(self.sweep(repository, &what, |rows| rows.remove(repository, goes)).await)
    }

    async fn sweep_aborted(&self, repository: RepositoryId, aborted: GenerationId) -> Result<u64, MaintenanceError> {
        let what = format!("removes what {aborted:?} began");
        self.sweep(repository, &what, |rows| rows.remove(repository, |interval| interval.gen_from == aborted)).await;
        let reopen = |rows: &mut Rows| {
            let own = rows.0.iter_mut().filter(|((of, ..), row)| *of == repository && row.gen_to == aborted);
            own.map(|(_, row)| row.gen_to = GenerationId::OPEN).count() as u64
        };
        self.sweep(repository, &format!("reopens what {aborted:?} retired"), reopen).await;
        self.environment.schedule.step().await;
        let rows = self.environment.rows(self.number);
        let names = |interval: &Interval| interval.gen_from == aborted || interval.gen_to == aborted;
        let left = rows.of(repository).filter(|(_, interval, _)| names(interval)).count();
        Ok(left as u64)
    }

    async fn remove_repository(
        &self,
        _: &Tenant,
        repository: RepositoryId,
        before: GenerationId,
    ) -> Result<(), MaintenanceError> {
        let what = format!("removes {repository} before {before:?}");
        self.sweep(repository, &what, |rows| rows.remove(repository, |interval| interval.gen_from < before)).await;
        Ok(())
    }

    async fn compact(&self, _: RepositoryId) -> Result<bool, MaintenanceError> {
        Ok(false)
    }

    async fn verify(&self, _: RepositoryId) -> Result<(), MaintenanceError> {
        Ok(())
    }
}
