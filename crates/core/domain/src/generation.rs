//! Generations and views define which records are visible to a query.

use std::collections::BTreeSet;

use crate::{GenerationId, RepositoryId};

/// The sequence number of a publication: the number of publications up to this one. Each view belongs to one
/// publication.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct PublishedSeq(pub u64);

/// Defines which records are visible to a query. A query takes one view and passes it to every store.
///
/// A generation is published in the view if it is before `next_gen` and not in `hidden`. `hidden` lists the
/// generations before `next_gen` that are staged or aborted at this sequence number. A record is visible if
/// it began in a published generation and no published generation has retired it. This rule is correct for
/// any order in which the repositories begin and publish their generations.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct View {
    pub seq: PublishedSeq,
    pub next_gen: u64,
    pub hidden: BTreeSet<GenerationId>,
    pub hidden_repositories: BTreeSet<RepositoryId>,
}

/// The interval in which a record is visible: from the publication of `gen_from` until the publication of
/// `gen_to`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interval {
    pub gen_from: GenerationId,
    pub gen_to: GenerationId,
}

impl Interval {
    pub fn open(gen_from: GenerationId) -> Self {
        Self { gen_from, gen_to: GenerationId::OPEN }
    }
}

impl View {
    /// Whether `generation` is published in this view.
    pub fn published(&self, generation: GenerationId) -> bool {
        generation.0 < self.next_gen && !self.hidden.contains(&generation)
    }

    pub fn sees(&self, interval: Interval) -> bool {
        self.published(interval.gen_from) && !self.published(interval.gen_to)
    }

    pub fn sees_repository(&self, repository: RepositoryId) -> bool {
        !self.hidden_repositories.contains(&repository)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn view_sees_published_and_unretired_records() {
        let view = View { next_gen: 5, hidden: BTreeSet::from([GenerationId(3)]), ..View::default() };
        let check = |from, to, expect| {
            let interval = Interval { gen_from: GenerationId(from), gen_to: to };
            assert_eq!(view.sees(interval), expect, "{interval:?}");
        };
        check(1, GenerationId::OPEN, true);
        check(4, GenerationId::OPEN, true);
        check(5, GenerationId::OPEN, false);
        check(3, GenerationId::OPEN, false);
        check(1, GenerationId(2), false);
        check(1, GenerationId(3), true);
        check(1, GenerationId(5), true);
    }
}
