//! Languages are data: a grammar, a query file and a row in one table. `LANGUAGES.md` says how to add one.

mod detect;
mod paths;
mod row;
mod table;

pub use self::detect::language_of;
pub use self::paths::{is_test_path, module_path};
pub use self::row::*;

/// All rows of the table, in its order.
pub fn languages() -> &'static [LanguageRow] {
    table::LANGUAGES
}

/// The row of that name.
pub fn by_name(name: &str) -> Option<&'static LanguageRow> {
    languages().iter().find(|row| row.name == name)
}
