//! Tags that belong to every file.

/// The tags of all indexed files. They are not stored with the chunks.
pub(crate) const TAGS_OF_ALL: [&str; 2] = ["indexed", "repository"];
