//! The parameters of the questions to local mode and the query service.

use std::path::Path;

/// The parameters of one round of questions.
pub(crate) struct Round<'a> {
    /// The names and folders of the repositories from which the subjects of the questions are drawn.
    pub(crate) repositories: Vec<(String, &'a Path)>,
    /// A name that no repository has.
    pub(crate) gone: &'a str,
    pub(crate) seed: u64,
    /// The maximum number of pages that are compared for each search.
    pub(crate) max_pages: usize,
    /// The number of questions of each kind. Equal questions are asked only once.
    pub(crate) draws: usize,
    pub(crate) kinds: Kinds,
}

/// The kinds of questions that are asked in a round.
#[derive(Clone, Copy)]
pub(crate) enum Kinds {
    All,
    /// Every third kind, starting with the kind that has this number.
    EveryThird {
        first: usize,
    },
}

impl Kinds {
    pub(crate) fn contains(self, number: usize) -> bool {
        match self {
            Self::All => true,
            Self::EveryThird { first } => number % 3 == first % 3,
        }
    }
}
