//! A repository's state: who syncs it, what is published of it, what is under way, what was asked for.

use std::collections::{BTreeMap, BTreeSet};

use cairn_domain::{GenerationId, RepositoryId, RunState};

use crate::{Deletion, LeaseState, Refusal, Registry, Requests, RunLedger};

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RepositoryState {
    pub lease: LeaseState,
    pub requests: Requests,
    /// Hidden at once; registering it again makes it a repository like any other.
    pub is_deleted: bool,
    /// The newest deletion whose records are not removed yet.
    pub deletion: Option<GenerationId>,
    /// The published generation; none before the first and after a deletion.
    pub published: Option<GenerationId>,
    pub unfinished: Option<GenerationId>,
    /// Generations that came to nothing, or whose repository was deleted, and that are not forgotten, with the time of that.
    pub aborted: BTreeMap<GenerationId, i64>,
}

impl RepositoryState {
    /// Registers the repository, also one that was deleted.
    pub fn register(&mut self) {
        self.is_deleted = false;
    }

    pub fn aborted_generations(&self) -> BTreeSet<GenerationId> {
        self.aborted.keys().copied().collect()
    }

    /// Hides the repository and returns the generation of the deletion. Deleting again changes nothing. `unfinished` is the
    /// ledger of its unfinished run, if it has one: that is cancelled.
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
        // A job is delivered twice, and the slower handler may still write after the publication: what was published ends
        // now, and is waited for like what was aborted.
        if let Some(published) = self.published.take() {
            self.aborted.insert(published, now_ms);
        }
        self.requests = Requests { last: self.requests.last, ..Requests::default() };
        // A sync under way knows the source and the settings of what is deleted: it begins no run, in another life neither.
        self.lease.revoke(now_ms);
        Ok(generation)
    }

    /// Forgets an aborted generation that was swept from every store; false while a late writer may still add to it
    /// (`until_ms`: whatever ended before has no handler left).
    pub fn forget_aborted(&mut self, registry: &mut Registry, generation: GenerationId, until_ms: i64) -> bool {
        if self.aborted.get(&generation).is_none_or(|ended_at_ms| *ended_at_ms > until_ms) {
            return false;
        }
        self.aborted.remove(&generation);
        registry.unpublished.remove(&generation);
        true
    }

    /// Forgets a deletion whose records were removed from every store, with all generations before it; false while a run
    /// that it cancelled, or followed on, may still be at work somewhere.
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

    /// Nothing is left of it but its name.
    pub fn is_gone(&self) -> bool {
        self.is_deleted && self.deletion.is_none() && self.unfinished.is_none() && self.aborted.is_empty()
    }
}
