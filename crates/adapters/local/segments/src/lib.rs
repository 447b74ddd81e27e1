//! Search segments: the local store of chunks, vectors and terms.
//!
//! A part of a run becomes one or more immutable files. Each file is written completely or not at all, so
//! staging may be repeated, and may be stopped at any moment. The files do not record which generation is
//! published: a publication is a row in the metastore. The view of a query decides which files and rows are
//! visible. The file of a part lists the keys that the part retires. A dense search scans all vectors in
//! scope. Such a search is exact, and for up to a million vectors it is as fast as a search with an index.
//!
//! Guarantees:
//! - A file is never changed. Files are only added (by a rename) or removed.
//! - Maintenance moves rows and tombstones together with their generations, so the results of all views do
//!   not change.
//! - Even if the bytes of a file are damaged, a read returns values or an error that names the file. A read
//!   never panics.

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
