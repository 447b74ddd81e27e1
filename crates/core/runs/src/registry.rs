//! The state that all repositories share: generations, publications, and the generations that every view must
//! hide.

use std::collections::{BTreeMap, BTreeSet};

use cairn_domain::{GenerationId, PublishedSeq, RepositoryId, View};

/// A deleted repository whose records are not removed yet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deletion {
    /// Records that began before this generation must be removed.
    pub generation: GenerationId,
    /// The generations that the repository had before the deletion. These generations stay hidden. This field
    /// is set when the repository is indexed again. Until then, the whole repository is hidden.
    pub indexed_again: Option<BTreeSet<GenerationId>>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Registry {
    /// The last allotted generation. A generation is never allotted twice.
    pub last_generation: u64,
    pub seq: PublishedSeq,
    /// The highest published generation.
    pub newest_published: u64,
    /// Allotted generations that are not published. An aborted generation stays in this set until it is
    /// forgotten, or until a later deletion of its repository is forgotten.
    pub unpublished: BTreeSet<GenerationId>,
    pub deletions: BTreeMap<RepositoryId, Deletion>,
}

impl Registry {
    pub(crate) fn allot(&mut self) -> GenerationId {
        self.last_generation += 1;
        GenerationId(self.last_generation)
    }

    /// The view for a question that starts now. All fields of the view are read from the same state of the
    /// registry.
    pub fn view(&self) -> View {
        let next_gen = self.newest_published + 1;
        let below = self.unpublished.range(..GenerationId(next_gen)).copied();
        let view = View { seq: self.seq, next_gen, hidden: below.collect(), ..View::default() };
        self.without_deleted(view)
    }

    /// Removes from an earlier view the repositories that were deleted after the view was created.
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
