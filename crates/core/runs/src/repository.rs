//! A repository's state: its lease, its published generation, its unfinished run, and its requests.

use std::collections::{BTreeMap, BTreeSet};

use cairn_domain::{GenerationId, RepositoryId, RunState};

use crate::{Deletion, LeaseState, Refusal, Registry, Requests, RunLedger};

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RepositoryState {
    pub lease: LeaseState,
    pub requests: Requests,
    /// A deleted repository is hidden at once. Registering it again makes it a normal repository.
    pub is_deleted: bool,
    /// The newest deletion whose records are not removed yet.
    pub deletion: Option<GenerationId>,
    /// The published generation; none before the first and after a deletion.
    pub published: Option<GenerationId>,
    pub unfinished: Option<GenerationId>,
    /// Aborted generations that are not forgotten yet, with the time of the abort; also those whose
    /// repository was deleted.
    pub aborted: BTreeMap<GenerationId, i64>,
}

impl RepositoryState {
    /// Registers the repository, also a deleted one.
    pub fn register(&mut self) {
        self.is_deleted = false;
    }

    pub fn aborted_generations(&self) -> BTreeSet<GenerationId> {
        self.aborted.keys().copied().collect()
    }

    /// Hides the repository and returns the generation of the deletion. A second deletion changes nothing.
    /// `unfinished` is the ledger of its unfinished run, if it has one; that run is cancelled.
    pub fn delete(
        &mut self,
        registry: &mut Registry,
        repository: RepositoryId,
        unfinished: Option<&mut RunLedger>,
        now_ms: i64,
    ) -> Result<GenerationId, Refusal> {
        if self.is_deleted {
            return self.deletion.ok_or(Refusal::NotFound);
        }
        if let Some(run) = unfinished {
            run.abort(self, RunState::Cancelled, now_ms)?;
        }
        let generation = registry.allot();
        registry.seq.0 += 1;
        registry.deletions.insert(repository, Deletion { generation, indexed_again: None });
        self.is_deleted = true;
        self.deletion = Some(generation);
        // A job may be delivered twice, and the slower handler may still write after the publication. So the
        // published generation ends now, and its removal waits for late handlers, as for an aborted one.
        if let Some(published) = self.published.take() {
            self.aborted.insert(published, now_ms);
        }
        self.requests = Requests { last: self.requests.last, ..Requests::default() };
        // A sync in progress read the source and the settings of the deleted repository. It begins no run,
        // even if the repository is registered again.
        self.lease.revoke(now_ms);
        Ok(generation)
    }

    /// Forgets an aborted generation that was swept from every store. False while a late writer may still add
    /// to it: no handler of a run that ended before `until_ms` is left.
    pub fn forget_aborted(&mut self, registry: &mut Registry, generation: GenerationId, until_ms: i64) -> bool {
        if self.aborted.get(&generation).is_none_or(|ended_at_ms| *ended_at_ms > until_ms) {
            return false;
        }
        self.aborted.remove(&generation);
        registry.unpublished.remove(&generation);
        true
    }

    /// Forgets a deletion whose records were removed from every store, with all earlier generations. False
    /// while a handler of a run before the deletion may still be working.
    pub fn forget_deletion(
        &mut self,
        registry: &mut Registry,
        repository: RepositoryId,
        generation: GenerationId,
        until_ms: i64,
    ) -> bool {
        let mut earlier = self.aborted.range(..generation);
        if self.deletion != Some(generation) || earlier.any(|(_, ended_at_ms)| *ended_at_ms > until_ms) {
            return false;
        }
        self.aborted.retain(|aborted, _| {
            let stays = *aborted > generation;
            if !stays {
                registry.unpublished.remove(aborted);
            }
            stays
        });
        registry.deletions.remove(&repository);
        self.deletion = None;
        true
    }

    /// Only its name is left.
    pub fn is_removed(&self) -> bool {
        self.is_deleted && self.deletion.is_none() && self.unfinished.is_none() && self.aborted.is_empty()
    }
}
