//! Links the facts of a snapshot's files to a graph: names to what they mean.
//!
//! A file's edges depend only on what it asked. Each file's *outline* ([`outline()`]) says what others can find in it
//! wherever it stands; placed at its path it *contributes* what others can find in it ([`contribute`]); the
//! [`Environment`] holds all contributions under keys; [`link_file`] resolves the references of one file and writes down
//! the keys that it asked for. So when files change, [`changed_keys`] says what is found differently, and only the
//! changed files and those [`affected`] are linked again; the result equals linking everything.
//!
//! Every edge says how sure it is. `exact` means that scope or structure leaves no choice; a parameter that hides a
//! function, a second definition, an overload, a base class outside the repository make it less.
//!
//! Nothing here reads files, and nothing depends on the order of the input or on the platform.

mod arity;
mod classes;
mod common_methods;
mod contribution;
mod documents;
mod edges;
mod entries;
mod environment;
mod imports;
mod link;
mod link_file;
mod manifest;
mod modules;
mod names;
mod nodes;
mod outline;
mod packages;
mod paths;
mod places;
mod questions;
mod receivers;
mod resolve;
mod rules;
mod scopes;
mod tops;

pub use cairn_languages::Family;
pub use contribution::{Base, Contribution, Definition, FieldType, FilePlace, ImportFact, LinkFile, contribute};
pub use entries::{affected, changed_keys, changed_package_keys};
pub use environment::{Environment, State};
pub use link::{LinkCounts, Linked, SnapshotFacts, link};
pub use link_file::{FileLinks, UnresolvedReference, link_file};
pub use manifest::parse_package_manifest;
pub use names::Name;
pub use nodes::{ModuleInfo, file_nodes, repository_graph};
pub use outline::{OUTLINE_VERSION, outline};
