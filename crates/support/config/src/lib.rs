//! The settings of a repository (`.cairn.yaml`), the settings of the operator (`config.toml` and `CAIRN_*`),
//! and lists of repositories.
//!
//! All three kinds of settings are read in the same way. The text becomes a tree in which each node has its
//! line number. A reader walks the tree and collects all faults, so that a user can correct all faults at
//! once. An unknown key is a fault, and its message names the nearest known key. Only `Operator::load` reads
//! a file or the environment.

mod ceilings;
mod fault;
#[cfg(test)]
mod hostile_tests;
mod list;
mod operator;
mod operator_reading;
mod operator_table;
mod operator_values;
mod reader;
mod repository;
mod repository_reading;
mod secret;
mod tags;
mod tree;

pub use ceilings::Ceilings;
pub use fault::{Fault, InvalidSettings, Key};
pub use list::{ListedRepository, Location, parse_repository_list};
pub use operator::{FirstUse, Operator, Sources};
pub use operator_reading::OperatorError;
pub use reader::{is_typing_error, unknown_key};
pub use repository::{ModuleSettings, PatternDetection, RepositorySettings, SETTINGS_FILE, TagRule};
pub use secret::{SECRET_FORM, Secret, SecretReference, SecretUnreadable, is_variable_name};
pub use tags::TagRules;
