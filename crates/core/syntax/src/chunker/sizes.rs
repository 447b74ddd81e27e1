//! Sizes that decide how a file is cut, in tokens.

/// Target size of a chunk, in tokens as [`super::estimate_tokens`] counts them.
pub const TARGET_TOKENS: u32 = 500;

/// A unit up to this size is kept whole: two halves of a unit just above the target are worse than the whole.
pub(super) const WHOLE_TOKENS: u32 = 650;

/// A class up to this size is kept whole in a file of at most [`MEDIUM_FILE_TOKENS`], which is chunked by its
/// top-level definitions.
pub(super) const WHOLE_CLASS_TOKENS: u32 = 800;
pub(super) const MEDIUM_FILE_TOKENS: u32 = 2_000;

/// A definition of this size (about twelve lines) is a chunk of its own. Smaller ones are grouped with
/// neighbours.
pub(super) const LONG_TOKENS: u32 = 120;

/// A piece below this size joins a neighbour if it can.
pub(super) const TINY_TOKENS: u32 = 24;
