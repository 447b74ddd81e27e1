//! Settings: what a repository says of itself (`.cairn.yaml`), what the operator allows (`config.toml` and `CAIRN_*`),
//! and lists of repositories.
//!
//! All three are read the same way: the text becomes a tree whose nodes know their line, and a reader takes the tree
//! apart and collects every fault, so that a person mends a file in one go. Unknown keys are faults; the nearest known
//! key is named. Nothing here reads a file or the environment by itself but `Operator::load`.

mod fault;
mod list;
mod operator;
mod reader;
mod repository;
mod secret;
mod tags;
mod tree;

pub use fault::{Fault, InvalidSettings};
pub use list::{ListedRepository, Location, parse_repository_list};
pub use operator::{Operator, OperatorError, Sources};
pub use repository::{ModuleSettings, PatternDetection, RepositorySettings, SETTINGS_FILE, TagRule};
pub use secret::{Secret, SecretReference, SecretUnreadable};
pub use tags::TagRules;
