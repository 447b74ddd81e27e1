//! Reads git's object store with libgit2, and its other files without libgit2. Files are never checked out.

pub(crate) mod below;
mod config;
mod git_directory;
pub(crate) mod index_file;
pub(crate) mod loose;
pub(crate) mod memory;
mod object_files;
mod references;
pub(crate) mod repository;
pub(crate) mod tree;
pub(crate) mod tree_bytes;
pub(crate) mod tree_store;
