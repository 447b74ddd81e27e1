//! Finds symbols and files by their exact name, by the name in a different naming style, by prefix, by a part
//! of the name, and by similarity.
//!
//! The changes of a generation are stored as one artifact (a *layer*) in the blob store. A generation writes
//! all names of a path; these names are valid until another generation replaces them. The names of a
//! repository in a view are the entries of the repository's layers that are visible in the view. The format
//! is the same for local storage and S3. Layers are merged after their generations are settled.
//!
//! Names have a separate index, because the full-text search of a database ranks the names of all tenants
//! before it filters them.

mod encode;
mod files;
mod format;
mod index;
mod layer;
mod maintenance;
mod names;
mod near;
mod near_table;

pub use index::NameIndex;
