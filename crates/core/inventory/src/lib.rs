//! Decisions about a path and its content: the rules of the inventory.
//!
//! Every path of a tree gets a record. `Rules::decide_path` decides by name, kind and size whether a path is
//! skipped, so that skipped files are never read. `Rules::decide_content` decides about the bytes of the
//! remaining files.
//!
//! Reasons are tested in one fixed order, so that a path has the same reason in every run:
//!
//! 1. `submodule`, `symlink`: the kind of the path in the tree.
//! 2. `sensitive`: by name. No other setting is tested before, so none can hide that a name is sensitive.
//! 3. `excluded`: by `exclude` of the repository or the caller, then by `.cairnignore`, then by the default
//!    excludes (`include_override` lifts these, and no others).
//! 4. `not_included`: `include` is not empty and has no match.
//! 5. `too_large`.
//! 6. By content: `binary`, `not_utf8`, `generated` (`.gitattributes` can set or remove this mark).
//!
//! Nothing here reads a file: the functions take names and bytes, and return decisions.

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

pub use content::{ContentDecision, TextClass, text_of};
pub use defaults::default_excludes;
pub use generated::GeneratedPolicy;
pub use ignore_file::{RuleFile, UnusableLines};
pub use patterns::{InvalidPattern, Patterns};
pub use rules::{InvalidRules, RuleSettings, Rules, Skip, SkipRule};
pub use size::{FileSizeLimit, InvalidFileSize};
