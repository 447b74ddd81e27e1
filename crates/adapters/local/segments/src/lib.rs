//! Search segments: the local store of chunks, vectors and terms.
//!
//! A part of a run becomes one immutable file that is written whole or not at all, so staging may be repeated
//! and stopped at any moment. The files do not record which generation is published. The view of a question
//! decides which files and rows it sees, and publishing is a row in the catalogue. The file of a part lists
//! the keys that the part retires. A question scans all vectors in scope. For up to a million vectors this is
//! exact and as fast as an index.
//!
//! Guarantees:
//! - A file is never changed. It is added (by a rename) or removed.
//! - Maintenance moves rows and tombstones with their generations, so it changes no view.
//! - Reading a file with any bytes returns values, or an error that names the file. It never panics.

mod blocks;
mod dot;
mod error;
mod files;
mod filter;
mod format;
mod maintenance;
mod postings;
mod read;
mod repository;
mod rows;
mod search;
mod segment;
mod store;
mod writer;

pub use store::SegmentStore;
