//! Reads git's object store with libgit2. Files are never checked out.

pub(crate) mod loose;
pub(crate) mod memory;
pub(crate) mod repository;
pub(crate) mod tree;
pub(crate) mod tree_bytes;
pub(crate) mod tree_store;
