//! The rules of the inventory: they decide by path and content which files of a repository are indexed.
//!
//! Every path of a tree gets a record. `Rules::decide_path` decides by name, kind and size whether a path is
//! skipped, so that skipped files are never read. `Rules::decide_content` decides about the bytes of the
//! remaining files.
//!
//! The reasons for skipping are tested in a fixed order, so that a path has the same reason in every run:
//!
//! 1. `submodule`, `symlink`: the kind of the tree entry.
//! 2. `sensitive`: the file name. The name is tested before all settings, so no setting can include a
//!    sensitive file.
//! 3. `excluded`: `exclude` of the repository or the caller, then `.cairnignore`, then the default excludes.
//!    `include_override` disables only default excludes.
//! 4. `not_included`: `include` is not empty and has no match.
//! 5. `too_large`: the file exceeds the size limit.
//! 6. `binary`, `not_utf8`, `generated`: the content. `.gitattributes` can set or remove the mark
//!    `generated`.
//!
//! This crate reads no files: its functions take names and bytes, and return decisions.

mod attributes;
mod binary;
mod content;
mod defaults;
mod encoding;
mod generated;
mod git_patterns;
mod ignore_file;
mod invalid_rules;
mod pattern_form;
mod pattern_lines;
mod patterns;
mod rules;
mod size;
mod wildmatch;

pub use content::{ContentDecision, TextClass, text_of};
pub use defaults::default_excludes;
pub use generated::GeneratedPolicy;
pub use git_patterns::{GitPatterns, LineFault};
pub use ignore_file::{RuleFile, UnusableLines};
pub use invalid_rules::InvalidRules;
pub use pattern_form::GitPattern;
pub use pattern_lines::{PatternCost, pattern_lines};
pub use patterns::{InvalidPattern, MAX_NESTING, MAX_PATTERNS, PatternFault, Patterns, nesting};
pub use rules::{RuleSettings, Rules, Skip, SkipRule};
pub use size::{FileSizeLimit, InvalidFileSize};
