//! Links the facts of a snapshot's files into a graph: each name is resolved to definitions.
//!
//! The *outline* of a file ([`outline()`]) contains all items of the file that other files can find. The
//! outline does not depend on the path. From an outline and a path, [`contribute`] builds the *contribution*
//! of the file. The [`Environment`] stores all contributions by key. [`link_file`] resolves the references of
//! one file and records the keys that were requested for this file.
//!
//! The edges of a file depend only on the file and on the entries of its requested keys. When files change,
//! [`changed_keys`] returns the keys whose entries changed. Only the changed files and the [`affected`] files
//! are linked again. The result is the same as if all files were linked.
//!
//! Every edge has a certainty. `exact` means that scope or structure leaves only one possible target. The
//! certainty is lower if a parameter shadows a function, if the name has a second definition or an overload,
//! or if a base class is outside the repository.
//!
//! This crate reads no files. No result depends on the order of the input or on the platform.

mod arity;
mod bindings;
mod classes;
mod common_methods;
mod contribute;
mod contribution;
mod documents;
mod edges;
mod entries;
mod environment;
mod imports;
mod link;
mod link_file;
mod local_names;
mod lookup;
mod manifest;
mod modules;
mod names;
mod namespaces;
mod nodes;
mod outline;
mod own_class;
mod packages;
mod paths;
mod queries;
mod receivers;
mod referents;
mod resolve;
mod rules;
mod scopes;
mod select;
mod subjects;
mod tops;

pub use cairn_languages::Family;
pub use contribute::contribute;
pub use contribution::{Base, Contribution, Definition, FieldType, FilePlace, ImportFact, LinkFile};
pub use entries::{affected, changed_keys, changed_package_keys};
pub use environment::{Environment, State};
pub use link::{LinkCounts, Linked, SnapshotFacts, link};
pub use link_file::{FileLinks, UnresolvedReference, link_file};
pub use manifest::{declares_packages, parse_package_manifest};
pub use names::Name;
pub use nodes::{ModuleInfo, file_nodes, repository_graph};
pub use outline::{OUTLINE_VERSION, outline};
