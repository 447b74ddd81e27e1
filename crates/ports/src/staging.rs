//! Describes the writer of staged records, and defines which versions of records this writer may end. A
//! version ends when its `gen_to` is set.

use std::collections::BTreeSet;

use cairn_domain::{GenerationId, Interval, PartId, RunId, Tenant};

/// The part of a run that stages the records.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Staging {
    pub tenant: Tenant,
    pub run: RunId,
    pub part: PartId,
    /// Generations of the repository that were aborted before publication and have not been swept yet.
    pub aborted: BTreeSet<GenerationId>,
}

impl Staging {
    /// Describes a part of a run whose repository has no aborted generations.
    pub fn new(tenant: Tenant, run: RunId, part: PartId) -> Self {
        Self { tenant, run, part, aborted: BTreeSet::new() }
    }

    /// Whether this run may end a version of a record by setting its `gen_to`. The version must have begun in
    /// an earlier generation. The version must also be current, or must have been ended by an aborted run.
    /// Therefore even a very late writer never overwrites a `gen_to` that a published run or a run in
    /// progress has set.
    pub fn may_retire(&self, version: Interval) -> bool {
        let is_open = version.gen_to == GenerationId::OPEN;
        version.gen_from < self.run.generation && (is_open || self.aborted.contains(&version.gen_to))
    }
}
