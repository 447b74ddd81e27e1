//! Finds classes and files of the same structural shape in a repository.
//!
//! A shape is a set: names of methods, bases, decorators ([`shapes`]). Two shapes are alike if the Jaccard similarity of
//! their sets reaches a threshold. Equal sets are merged first; alike ones are found by a join over rare elements that
//! gives exactly the pairs above the threshold (`join`); clusters are stars around medoids, so that no chain of small
//! differences glues unlike things together (`cluster`); each is described as a [`cairn_domain::PatternRecord`].
//!
//! Nothing depends on the order of the input, and the cost is near-linear in the number of shapes.

mod cluster;
mod describe;
mod graph;
mod join;
mod shape;
mod text;
mod words;

pub use describe::find_patterns;
pub use graph::pattern_graph;
pub use shape::{PatternFile, Shape, shapes};
pub use text::pattern_chunk_text;

/// When shapes form a pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PatternSettings {
    /// Fewest members of a pattern.
    pub min_cluster_size: usize,
    /// Least Jaccard similarity to the canonical member, in percent, 1 to 100.
    pub similarity_percent: u8,
}

impl Default for PatternSettings {
    fn default() -> Self {
        Self { min_cluster_size: 5, similarity_percent: 80 }
    }
}
