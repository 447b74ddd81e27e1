//! Languages as data: each language has a row, a list of the names that it defines itself, and a query file.
//!
//! Each language has one file in `table/` and one query file next to it. The parser and the linker read the
//! same row, so each fact about a language is written only once. `LANGUAGES.md` explains how to add a
//! language.

mod builtins;
mod detect;
mod family;
mod names;
mod paths;
mod row;
mod table;

pub use crate::builtins::{Builtins, StandardModules};
pub use crate::detect::language_of;
pub use crate::family::Family;
pub use crate::names::language_name;
pub use crate::paths::{folder_module, is_test_path, module_path};
pub use crate::row::{
    DocStyle, Grammar, LanguageClass, LanguageRow, ModuleDoc, ModuleRules, RelativeImports, TestRules, VisibilityRule,
};
pub use crate::table::{by_name, family_of, is_builtin, is_standard_module, languages};
