//! The generations whose records the maintenance of a store may change.

use std::collections::BTreeSet;

use cairn_domain::{GenerationId, Interval, View};

/// The published generations, and the views that are in use.
pub struct KnownGenerations<'a> {
    /// Published generations that are not newer than the oldest view in use.
    pub settled: BTreeSet<GenerationId>,
    /// Published generations that are newer than the oldest view in use.
    pub published: &'a [GenerationId],
    /// All views in use that are older than a generation in `published`, and a view that contains all
    /// generations in `published`.
    pub views: &'a [View],
}

impl KnownGenerations<'_> {
    pub fn is_published(&self, generation: GenerationId) -> bool {
        self.settled.contains(&generation) || self.published.contains(&generation)
    }

    /// Whether no reader can see a record that is valid in this interval of generations.
    pub fn is_dead(&self, interval: Interval) -> bool {
        self.settled.contains(&interval.gen_to)
            || self.published.contains(&interval.gen_to) && !self.views.iter().any(|view| view.sees(interval))
    }
}
