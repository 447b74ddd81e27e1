//! Sweeps dead letters of deleted repositories.

use std::collections::BTreeSet;

use cairn_domain::{MessageId, Scope};
use cairn_pipeline::StageError;
use cairn_wire::Job;
use rustc_hash::FxHashSet;

use super::{Deleted, Sweep};

impl Sweep {
    /// Removes the dead letters that are older than the deletion of their repository. Operators no longer
    /// need these letters, and the error messages in the letters contain traces of deleted data.
    pub(super) async fn dead_letters(&self, deleted: &[Deleted]) -> Result<(), StageError> {
        let Some(kept) = self.letters.as_ref().filter(|_| !deleted.is_empty()) else { return Ok(()) };
        let mut dead = Vec::new();
        for letter in kept.dead_letters(usize::MAX).await? {
            let Some(job) = &letter.job else { continue };
            let Some((tenant, repository, before)) = deleted.iter().find(|deleted| deleted.1 == job.repository())
            else {
                continue;
            };
            let is_dead = match job {
                Job::Part(job) => job.run.generation < *before,
                // A sync job names no generation. If the repository was registered again, it is unknown
                // whether the letter is older than the deletion, so the letter is not removed.
                Job::Sync(_) => {
                    let scope = Scope::only(tenant.clone(), [*repository]);
                    self.catalogue.repositories(&scope).await?.is_empty()
                }
            };
            if is_dead {
                dead.push(letter.id);
            }
        }
        if !dead.is_empty() {
            kept.take(&dead).await?;
        }
        Ok(())
    }

    /// Removes the dead letters of repositories that do not exist. While an operator reads dead letters, the
    /// letters are not in the queue, so `dead_letters` does not find them; a later call of this method
    /// removes them.
    pub(super) async fn orphaned_dead_letters(&self) -> Result<(), StageError> {
        let Some(kept) = &self.letters else { return Ok(()) };
        let letters = kept.dead_letters(usize::MAX).await?;
        let jobs = || letters.iter().filter_map(|letter| Some((letter.id, letter.job.as_ref()?)));
        let mut known = FxHashSet::default();
        for tenant in jobs().map(|(_, job)| job.tenant()).collect::<BTreeSet<_>>() {
            let registered = self.catalogue.repositories(&Scope::all(tenant.clone())).await?;
            known.extend(registered.into_iter().map(|record| record.id));
        }
        let orphaned = jobs().filter(|(_, job)| !known.contains(&job.repository()));
        let dead: Vec<MessageId> = orphaned.map(|(id, _)| id).collect();
        if !dead.is_empty() {
            kept.take(&dead).await?;
        }
        Ok(())
    }
}
