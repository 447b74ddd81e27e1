//! Finds classes and files with a similar structure in a repository.
//!
//! A shape is a set of method names, bases and decorators ([`shapes`]). Two shapes are similar if the Jaccard
//! similarity of their sets reaches a threshold. Equal sets are merged first. A join over rare elements finds
//! exactly the pairs that reach the threshold (`join`). Every member of a cluster is similar to the medoid of
//! the cluster, so a chain of small differences cannot put different shapes into one cluster (`cluster`).
//! Each cluster is described as a [`cairn_domain::PatternRecord`].
//!
//! The result does not depend on the order of the input. The cost is near-linear in the number of shapes.

mod cluster;
mod describe;
mod graph;
mod join;
mod shape;
mod tests_only;
mod text;
mod words;

pub use describe::find_patterns;
pub use graph::pattern_graph;
pub use shape::{PatternFile, Shape, shapes};
pub use tests_only::is_of_tests;
pub use text::pattern_chunk_text;

/// The conditions that a cluster must meet to be a pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PatternSettings {
    /// Minimum number of members.
    pub min_cluster_size: usize,
    /// Minimum Jaccard similarity to the canonical member, in percent, 1 to 100.
    pub similarity_percent: u8,
}

impl Default for PatternSettings {
    fn default() -> Self {
        Self { min_cluster_size: 5, similarity_percent: 80 }
    }
}
