//! Sweeps the records of retired and aborted generations and of deleted repositories.

use std::collections::BTreeSet;

use cairn_domain::{RunId, Tenant};
use cairn_pipeline::StageError;
use cairn_ports::SweepList;

use super::failures::Failures;
use super::{Deleted, Sweep};

impl Sweep {
    /// Removes from each store all records that no view can see. Returns the number of swept generations. An
    /// entry of the sweep list that cannot be swept stays on the list and does not delay other entries. In
    /// this case, the first error is returned at the end.
    pub async fn generations(&self) -> Result<u64, StageError> {
        let now_ms = self.clock.now_ms();
        let list = self.sweeping.sweep_list(now_ms, self.grace_ms).await?;
        let (mut swept, mut failures) = (SweepList::default(), Failures::default());
        for run in &list.retired {
            if failures.is_unavailable {
                break;
            }
            if failures.note(run, self.retired(*run).await).is_some() {
                swept.retired.push(*run);
            }
        }
        for run in &list.aborted {
            if failures.is_unavailable {
                break;
            }
            if failures.note(run, self.aborted(*run).await) == Some(0) {
                swept.aborted.push(*run);
            }
        }
        swept.deleted = self.sweep_deleted(&list, &mut failures).await;
        self.compact(&list, &mut failures).await;
        self.sweeping.swept(&swept, now_ms, self.grace_ms).await?;
        failures.end((swept.retired.len() + swept.aborted.len()) as u64)
    }

    async fn retired(&self, run: RunId) -> Result<(), StageError> {
        for store in &self.stores {
            store.sweep_retired(run.repository, &[run.generation]).await?;
        }
        Ok(())
    }

    /// Returns the number of records that still refer to the generation.
    async fn aborted(&self, run: RunId) -> Result<u64, StageError> {
        let mut remaining = 0;
        for store in &self.stores {
            remaining += store.sweep_aborted(run.repository, run.generation).await?;
        }
        Ok(remaining)
    }

    /// Removes the records, dead letters and cached vectors of deleted repositories. Returns the deletions
    /// for which all of this data is removed.
    async fn sweep_deleted(&self, list: &SweepList, failures: &mut Failures) -> Vec<Deleted> {
        let tenants: BTreeSet<&Tenant> = list.deleted.iter().map(|(tenant, ..)| tenant).collect();
        let mut removed = Vec::new();
        for deleted in &list.deleted {
            if failures.is_unavailable {
                break;
            }
            if failures.note(&deleted.1, self.deleted(deleted).await).is_some() {
                removed.push(deleted.clone());
            }
        }
        // A deletion stays on the sweep list until its dead letters are removed.
        if failures.is_unavailable || failures.note(&"dead letters", self.dead_letters(&removed).await).is_none() {
            removed.clear();
        }
        let mut swept = Vec::new();
        for tenant in tenants {
            if failures.note(&tenant, self.vectors(tenant).await).is_some() {
                swept.extend(removed.iter().filter(|(owner, ..)| owner == tenant).cloned());
            }
        }
        swept
    }

    async fn deleted(&self, (tenant, repository, before): &Deleted) -> Result<(), StageError> {
        for store in &self.stores {
            store.remove_repository(tenant, *repository, *before).await?;
        }
        Ok(())
    }

    /// Compacts the stores, because removed records leave gaps. Each store decides whether it moves other
    /// records to close the gaps.
    async fn compact(&self, list: &SweepList, failures: &mut Failures) {
        let generations = list.retired.iter().chain(&list.aborted).map(|run| run.repository);
        let repositories: BTreeSet<_> = generations.chain(list.deleted.iter().map(|deleted| deleted.1)).collect();
        for repository in repositories {
            for store in &self.stores {
                if failures.is_unavailable {
                    return;
                }
                let compacted = store.compact(repository).await.map_err(StageError::from);
                failures.note(&repository, compacted);
            }
        }
    }
}
