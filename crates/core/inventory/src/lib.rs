//! What becomes of a path and of its content: the rules of the inventory.
//!
//! Every path of a tree gets a record. `Rules::decide_path` says from the name, the kind and the size alone whether a
//! path is skipped, so that what is skipped is never read; `Rules::decide_content` looks at the bytes of the rest.
//!
//! Reasons are tested in one fixed order, so that a path has the same reason in every run:
//!
//! 1. `submodule`, `symlink`: what the path is in the tree.
//! 2. `sensitive`: by name. No other setting is consulted first, so none can hide that a name was sensitive.
//! 3. `excluded`: by the repository's or the caller's `exclude`, then by `.cairnignore`, then by the default excludes
//!    (which `include_override` lifts, and only those).
//! 4. `not_included`: an `include` list exists and has no match.
//! 5. `too_large`.
//! 6. By content: `binary`, `not_utf8`, `generated` (which `.gitattributes` may say too, or deny).
//!
//! Nothing here reads a file: names and bytes come in, decisions go out.

mod attributes;
mod binary;
mod content;
mod defaults;
mod encoding;
mod generated;
mod ignore_file;
mod patterns;
mod rules;
mod size;

pub use content::{ContentDecision, GeneratedPolicy};
pub use defaults::default_excludes;
pub use ignore_file::RuleFile;
pub use patterns::{InvalidPattern, Patterns};
pub use rules::{InvalidRules, RuleSettings, Rules, Skip, SkipRule};
pub use size::{FileSizeLimit, InvalidFileSize};
