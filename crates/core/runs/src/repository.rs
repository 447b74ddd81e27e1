//! A repository's state: its lease, its published generation, its unfinished run, and its requests.

use std::collections::{BTreeMap, BTreeSet};

use cairn_domain::{GenerationId, RepositoryId};

use crate::{LeaseState, Registry, Requests};

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RepositoryState {
    pub lease: LeaseState,
    pub requests: Requests,
    /// Whether the repository is deleted. A deleted repository is hidden at once. A later registration clears
    /// this flag.
    pub is_deleted: bool,
    /// The newest deletion whose records are not removed yet.
    pub deletion: Option<GenerationId>,
    /// The published generation. `None` before the first publication and after a deletion.
    pub published: Option<GenerationId>,
    pub unfinished: Option<GenerationId>,
    /// Aborted generations that are not forgotten yet, with the time of the abort. A deletion of the
    /// repository adds the published generation to this map.
    pub aborted: BTreeMap<GenerationId, i64>,
}

impl RepositoryState {
    /// Registers the repository. If the repository was deleted, this call reverses the deletion.
    pub fn register(&mut self) {
        self.is_deleted = false;
    }

    pub fn aborted_generations(&self) -> BTreeSet<GenerationId> {
        self.aborted.keys().copied().collect()
    }

    /// Forgets an aborted generation that was swept from every store. Handlers of runs that ended after
    /// `until_ms` may still write records. So the function returns false, and changes nothing, if the
    /// generation was aborted after `until_ms`.
    pub fn forget_aborted(&mut self, registry: &mut Registry, generation: GenerationId, until_ms: i64) -> bool {
        if self.aborted.get(&generation).is_none_or(|ended_at_ms| *ended_at_ms > until_ms) {
            return false;
        }
        self.aborted.remove(&generation);
        registry.unpublished.remove(&generation);
        true
    }

    /// Forgets a deletion whose records were removed from every store, and all earlier aborted generations.
    /// Returns false, and changes nothing, as long as a handler of a run before the deletion may still write.
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

    /// Whether the repository is deleted and only its document remains.
    pub fn is_removed(&self) -> bool {
        self.is_deleted && self.deletion.is_none() && self.unfinished.is_none() && self.aborted.is_empty()
    }
}
