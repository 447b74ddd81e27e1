//! Finds the files whose texts may match a pattern, with an index of trigrams in a blob store.
//!
//! As in the name index, each run stages layers, and the sweep merges them. A layer contains the files that
//! the run wrote, each with its place in a source pack. For each trigram, the layer contains the list of
//! files that contain the trigram. Texts are read from the source packs, so the index contains no text.

mod encode;
mod format;
mod index;
mod layer;
mod maintenance;
mod merge;
mod postings;
mod texts;

pub use index::TextIndex;
