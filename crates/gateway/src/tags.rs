//! The tags that every file has.

/// The tags of all indexed files. These tags are not stored with the chunks.
pub(crate) const TAGS_OF_ALL: [&str; 2] = ["indexed", "repository"];
