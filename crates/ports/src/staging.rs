//! Who stages records, and what it may overwrite.

use std::collections::BTreeSet;

use cairn_domain::{GenerationId, Interval, PartId, RunId, Tenant};

/// A part of a run that stages records.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Staging {
    pub tenant: Tenant,
    pub run: RunId,
    pub part: PartId,
    /// Generations of the repository that ended without being published and are not swept yet.
    pub aborted: BTreeSet<GenerationId>,
}

impl Staging {
    /// A part of a repository that has no aborted generations.
    pub fn new(tenant: Tenant, run: RunId, part: PartId) -> Self {
        Self { tenant, run, part, aborted: BTreeSet::new() }
    }

    /// Whether this run may end a version: it began earlier, and nobody ended it but a run that came to nothing. A mark of
    /// a published generation, or of a run that is at work, is never overwritten, however late the writer.
    pub fn may_retire(&self, version: Interval) -> bool {
        let is_open = version.gen_to == GenerationId::OPEN;
        version.gen_from < self.run.generation && (is_open || self.aborted.contains(&version.gen_to))
    }
}
