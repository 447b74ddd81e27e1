//! The sizes, in tokens, that determine how a file is divided.

/// The target size of a chunk, in tokens as [`super::estimate_tokens`] estimates them.
pub const TARGET_TOKENS: u32 = 500;

/// A definition or a range of rows up to this size is not divided, because one chunk that is slightly larger
/// than the target is better than two halves.
pub(super) const WHOLE_TOKENS: u32 = 650;

/// In a file of at most [`MEDIUM_FILE_TOKENS`], a class up to this size is not divided. In such a file, each
/// top-level definition becomes one chunk if possible.
pub(super) const WHOLE_CLASS_TOKENS: u32 = 800;
pub(super) const MEDIUM_FILE_TOKENS: u32 = 2_000;

/// A definition of at least this size (about twelve lines) becomes a separate chunk. Smaller definitions are
/// grouped with their neighbours.
pub(super) const LONG_TOKENS: u32 = 120;

/// A piece that is smaller than this is joined to a neighbour if possible.
pub(super) const TINY_TOKENS: u32 = 24;
