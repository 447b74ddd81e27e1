//! A repository's state: its lease, its published generation, its unfinished run, and its requests.

use std::collections::{BTreeMap, BTreeSet};

use cairn_domain::{GenerationId, RepositoryId};

use crate::{LeaseState, Registry, Requests};

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
