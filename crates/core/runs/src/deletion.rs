//! The deletion of a repository.

use cairn_domain::{GenerationId, RepositoryId, RunState};

use crate::{Deletion, Refusal, Registry, RepositoryState, Requests, RunLedger};

impl RepositoryState {
    /// Hides the repository and returns the generation of the deletion. A second deletion changes nothing.
    /// `unfinished` is the ledger of the repository's unfinished run, if one exists; this run is cancelled.
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
        // If a job was delivered twice, the slower handler may still write after the publication. So the
        // published generation is now treated like an aborted generation: it is removed only when no handler
        // of its run can still be active.
        if let Some(published) = self.published.take() {
            self.aborted.insert(published, now_ms);
        }
        self.requests = Requests { last: self.requests.last, ..Requests::default() };
        // A sync in progress has read the source and the settings of the deleted repository. This sync must
        // not begin a run, even if the repository is registered again.
        self.lease.revoke(now_ms);
        Ok(generation)
    }
}
