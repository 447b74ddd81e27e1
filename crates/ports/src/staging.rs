//! The writer of staged records, and the versions that it may end.

use std::collections::BTreeSet;

use cairn_domain::{GenerationId, Interval, PartId, RunId, Tenant};

/// A part of a run that stages records.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Staging {
    pub tenant: Tenant,
    pub run: RunId,
    pub part: PartId,
    /// Generations of the repository that ended unpublished and are not swept yet.
    pub aborted: BTreeSet<GenerationId>,
}

impl Staging {
    /// A part of a repository without aborted generations.
    pub fn new(tenant: Tenant, run: RunId, part: PartId) -> Self {
        Self { tenant, run, part, aborted: BTreeSet::new() }
    }

    /// Whether this run may end a version. The version must have begun earlier, and no other run may have
    /// ended it, apart from aborted runs. A mark of a published generation, or of a run in progress, is never
    /// overwritten, even by a very late writer.
    pub fn may_retire(&self, version: Interval) -> bool {
        let is_open = version.gen_to == GenerationId::OPEN;
        version.gen_from < self.run.generation && (is_open || self.aborted.contains(&version.gen_to))
    }
}
