//! The index of names: symbols and files, found exactly, apart from style, by prefix, inside and approximately.
//!
//! A generation's change is one artifact (a *layer*) in the blob store; a repository's names are its layers, seen
//! through a view: a path's names hold from the generation that wrote them to the one that replaced them. The bytes are
//! the same locally and in S3. Layers are merged when they are settled.
//!
//! A database's full-text search ranks across tenants before it filters, so names are an index of their own.

mod cache;
mod index;
mod keys;
mod layer;
mod maintenance;
mod names;

pub use index::NameIndex;
