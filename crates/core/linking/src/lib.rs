//! Links the facts of a snapshot's files to a graph: from names to definitions.
//!
//! The *outline* of a file ([`outline()`]) contains everything that others can find in it at any path. At a
//! path, the outline becomes a *contribution* ([`contribute`]). The [`Environment`] contains all
//! contributions under keys. [`link_file`] resolves the references of one file and records the keys that it
//! requested.
//!
//! A file's edges depend only on the file and on the keys that it requested. When files change,
//! [`changed_keys`] returns the keys with other entries, and only the changed files and the [`affected`] ones
//! are linked again. The result equals linking all files.
//!
//! Every edge has a certainty. `exact` means that scope or structure leaves no choice. A parameter that hides
//! a function, a second definition, an overload, or a base class outside the repository lowers it.
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
pub use manifest::parse_package_manifest;
pub use names::Name;
pub use nodes::{ModuleInfo, file_nodes, repository_graph};
pub use outline::{OUTLINE_VERSION, outline};
