//! The head of the catalogue: generations, publications, and what every view must hide.

use std::collections::{BTreeMap, BTreeSet};

use cairn_domain::{GenerationId, PublishedSeq, RepositoryId, View};

/// A deleted repository whose records are still to be removed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deletion {
    /// Records that began below it are to go.
    pub generation: GenerationId,
    /// Set once the repository was indexed again: its generations below the deletion, which stay hidden. Until then the
    /// whole repository is.
    pub indexed_again: Option<BTreeSet<GenerationId>>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Registry {
    /// The last generation that was allotted; never reused.
    pub last_generation: u64,
    pub seq: PublishedSeq,
    /// The highest generation that was published.
    pub newest_published: u64,
    /// Allotted, and neither published nor forgotten.
    pub unpublished: BTreeSet<GenerationId>,
    pub deletions: BTreeMap<RepositoryId, Deletion>,
}

impl Registry {
    pub(crate) fn allot(&mut self) -> GenerationId {
        self.last_generation += 1;
        GenerationId(self.last_generation)
    }

    /// What a question sees that is asked now. One value, so that nobody can read its halves at different times.
    pub fn view(&self) -> View {
        let next_gen = self.newest_published + 1;
        let below = self.unpublished.range(..GenerationId(next_gen)).copied();
        let view = View { seq: self.seq, next_gen, hidden: below.collect(), ..View::default() };
        self.without_deleted(view)
    }

    /// A view that was taken earlier, as it is to be read now: what was deleted since is gone from it as well.
    pub fn without_deleted(&self, mut view: View) -> View {
        for (repository, deletion) in &self.deletions {
            match &deletion.indexed_again {
                None => {
                    view.hidden_repositories.insert(*repository);
                }
                Some(earlier) => view.hidden.extend(earlier),
            }
        }
        view
    }
}
