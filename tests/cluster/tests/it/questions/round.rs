//! The parameters of the questions that both sides are asked.

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
}
