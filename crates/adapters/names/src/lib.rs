//! The name index: symbols and files, found by exact names, without regard to style, by prefix, by part and
//! by similarity.
//!
//! The change of a generation is one artifact (a *layer*) in the blob store. The names of a repository are
//! its layers, seen through a view. The names of a path are valid from the generation that wrote them to the
//! generation that replaced them. The bytes are the same locally and in S3. Layers are merged when they are
//! settled.
//!
//! Names have an index of their own, because the full-text search of a database ranks across tenants before
//! it filters.

mod cache;
mod encode;
mod format;
mod index;
mod keys;
mod layer;
mod maintenance;
mod names;

pub use index::NameIndex;
