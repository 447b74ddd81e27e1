//! Sweeps the records of retired and aborted generations and of deleted repositories.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::PoisonError;

use cairn_domain::{GenerationId, RepositoryId, RunId, Tenant, View};
use cairn_pipeline::StageError;
use cairn_ports::SweepList;

use super::failures::Failures;
use super::{Deleted, Sweep};

type ByRepository = BTreeMap<RepositoryId, Vec<GenerationId>>;

impl Sweep {
    /// Removes from each store all records that no view can see. A reader may use any view that was created
    /// within the grace period. Returns the number of swept generations. An entry of the sweep list that
    /// cannot be swept stays on the list. The remaining entries are still swept, and the first error is
    /// returned at the end.
    pub async fn generations(&self) -> Result<u64, StageError> {
        let now_ms = self.clock.now_ms();
        let list = self.sweeping.sweep_list(now_ms, self.grace_ms).await?;
        self.listed(list, &ByRepository::new(), &[], now_ms).await
    }

    /// Does the same as `generations` without a grace period: `views` must therefore contain all views that
    /// readers use, and the newest view. Records that began after one of the views and ended before the next
    /// view are also removed.
    pub async fn unseen_by(&self, views: &[View]) -> Result<u64, StageError> {
        let now_ms = self.clock.now_ms();
        let mut list = self.sweeping.sweep_list(now_ms, 0).await?;
        // Generations that were published after the views were read are not swept.
        list.retired.retain(|run| views.iter().any(|view| view.published(run.generation)));
        let is_settled = |run: &RunId| views.iter().all(|view| view.published(run.generation));
        let (settled, published): (Vec<RunId>, Vec<RunId>) = list.retired.into_iter().partition(is_settled);
        list.retired = settled;
        self.listed(list, &by_repository(&published), views, now_ms).await
    }

    /// Continues the maintenance of the stores for those repositories whose maintenance is not finished.
    /// Returns the number of these repositories.
    pub async fn go_on(&self) -> Result<u64, StageError> {
        let repositories = self.unfinished.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut failures = Failures::default();
        self.compact(&repositories, &mut failures).await;
        failures.end(repositories.len() as u64)
    }

    /// Makes `go_on` also maintain the data of these repositories.
    pub fn go_on_with(&self, repositories: impl IntoIterator<Item = RepositoryId>) {
        self.unfinished.lock().unwrap_or_else(PoisonError::into_inner).extend(repositories);
    }

    async fn listed(
        &self,
        list: SweepList,
        published: &ByRepository,
        views: &[View],
        now_ms: i64,
    ) -> Result<u64, StageError> {
        let (mut swept, mut failures) = (SweepList::default(), Failures::default());
        swept.retired = self.retired(&list.retired, &mut failures).await;
        self.unseen(published, views, &mut failures).await;
        for run in &list.aborted {
            if failures.is_unavailable {
                break;
            }
            if failures.note(run, self.aborted(*run).await) == Some(0) {
                swept.aborted.push(*run);
            }
        }
        swept.deleted = self.sweep_deleted(&list, &mut failures).await;
        let of_runs = list.retired.iter().chain(&list.aborted).map(|run| run.repository);
        let deleted = list.deleted.iter().map(|deleted| deleted.1);
        let mut touched: BTreeSet<_> = of_runs.chain(deleted).chain(published.keys().copied()).collect();
        touched.extend(self.unfinished.lock().unwrap_or_else(PoisonError::into_inner).iter());
        self.compact(&touched, &mut failures).await;
        self.sweeping.swept(&swept, now_ms, self.grace_ms).await?;
        failures.end((swept.retired.len() + swept.aborted.len()) as u64)
    }

    /// Sweeps all generations of a repository in one call. If the call fails, sweeps each generation
    /// separately. Returns the swept generations.
    async fn retired(&self, runs: &[RunId], failures: &mut Failures) -> Vec<RunId> {
        let mut swept = Vec::new();
        for (repository, generations) in by_repository(runs) {
            let together = self.sweep_retired(repository, &generations).await;
            if let Err(error) = &together {
                tracing::warn!(%repository, code = %error.code, "the generations could not be swept together, so each is swept separately: {}", error.chain());
            }
            for generation in generations {
                if failures.is_unavailable {
                    return swept;
                }
                let run = RunId { repository, generation };
                if together.is_ok()
                    || failures.note(&run, self.sweep_retired(repository, &[generation]).await).is_some()
                {
                    swept.push(run);
                }
            }
        }
        swept
    }

    async fn sweep_retired(&self, repository: RepositoryId, published: &[GenerationId]) -> Result<(), StageError> {
        for store in &self.stores {
            store.sweep_retired(repository, published).await?;
        }
        Ok(())
    }

    async fn unseen(&self, published: &ByRepository, views: &[View], failures: &mut Failures) {
        for (repository, generations) in published {
            for store in &self.stores {
                if failures.is_unavailable {
                    return;
                }
                let swept = store.sweep_unseen(*repository, generations, views).await.map_err(StageError::from);
                failures.note(repository, swept);
            }
        }
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
    /// for which all this data was removed.
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

    /// Executes one maintenance step of each store. Maintenance is needed because removed records leave gaps,
    /// and each run adds files. Remembers the repositories whose maintenance is not finished.
    async fn compact(&self, repositories: &BTreeSet<RepositoryId>, failures: &mut Failures) {
        for repository in repositories {
            let mut has_more = false;
            for store in &self.stores {
                if failures.is_unavailable {
                    return;
                }
                let compacted = store.compact(*repository).await.map_err(StageError::from);
                has_more |= failures.note(repository, compacted).unwrap_or_default();
            }
            let mut unfinished = self.unfinished.lock().unwrap_or_else(PoisonError::into_inner);
            if has_more {
                unfinished.insert(*repository)
            } else {
                unfinished.remove(repository)
            };
        }
    }
}

fn by_repository(runs: &[RunId]) -> ByRepository {
    let mut generations = ByRepository::new();
    for run in runs {
        generations.entry(run.repository).or_default().push(run.generation);
    }
    generations
}
