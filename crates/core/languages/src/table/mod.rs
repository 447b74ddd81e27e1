//! The table of languages. If several rows list the same file name or extension, the first row is used.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

use crate::family::Family;
use crate::row::LanguageRow;

macro_rules! grammar {
    ($crate_name:literal, $version:literal, $language:expr) => {
        Some(crate::row::Grammar { crate_name: $crate_name, version: $version, load: || $language.into() })
    };
}

mod bash;
mod c;
mod config;
mod cpp;
mod csharp;
mod documents;
mod elixir;
mod go;
mod haskell;
mod java;
mod javascript;
mod kotlin;
mod lua;
mod markup;
mod php;
mod python;
mod ruby;
mod rust;
mod scala;
mod shared;
mod swift;
mod text;
mod typescript;
mod zig;

pub(crate) use shared::FOLDER_MODULES;

/// The rows of each file. If several rows list the same name, the first row in this order is used.
const FILES: &[&[LanguageRow]] = &[
    python::ROWS,
    rust::ROWS,
    go::ROWS,
    javascript::ROWS,
    typescript::ROWS,
    java::ROWS,
    c::ROWS,
    cpp::ROWS,
    csharp::ROWS,
    ruby::ROWS,
    php::ROWS,
    kotlin::ROWS,
    swift::ROWS,
    scala::ROWS,
    lua::ROWS,
    bash::ROWS,
    elixir::ROWS,
    haskell::ROWS,
    zig::ROWS,
    documents::ROWS,
    config::ROWS,
    markup::ROWS,
    text::ROWS,
];

/// All rows of the table, in the order of `FILES`.
pub fn languages() -> &'static [LanguageRow] {
    static ROWS: LazyLock<Vec<LanguageRow>> = LazyLock::new(|| FILES.concat());
    &ROWS
}

/// The row of the language with this name.
pub fn by_name(name: &str) -> Option<&'static LanguageRow> {
    languages().iter().find(|row| row.name == name)
}

/// The family of a language. `language` is the language's name in the facts of a file.
pub fn family_of(language: &str) -> Family {
    by_name(language).map_or(Family::Other, |row| row.family)
}

/// Whether a language of the family lists the name among the names that the language defines itself.
pub fn is_builtin(family: Family, name: &str) -> bool {
    static NAMES: LazyLock<FxHashSet<(Family, &str)>> = LazyLock::new(|| {
        languages().iter().flat_map(|row| row.builtins.linker_names().map(|name| (row.family, name))).collect()
    });
    NAMES.contains(&(family, name))
}

/// Whether the module belongs to the standard library of a language of the family.
pub fn is_standard_module(family: Family, module: &str) -> bool {
    languages().iter().any(|row| row.family == family && row.standard_modules.contains(module))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Fails if a name is listed twice. Each item of `listed` is a row and a name that the row lists.
    fn check_listed_once<'n>(listed: impl Iterator<Item = (&'n str, String)>) {
        let mut owners: BTreeMap<String, &str> = BTreeMap::new();
        for (owner, name) in listed {
            if let Some(other) = owners.insert(name.clone(), owner) {
                panic!("{name} is listed twice: by {other} and by {owner}");
            }
        }
    }

    #[test]
    fn no_name_is_listed_twice() {
        check_listed_once(languages().iter().map(|row| ("the table", row.name.to_owned())));
        check_listed_once(languages().iter().flat_map(|row| {
            let extensions = row.extensions.iter().map(|name| format!("extension {name}"));
            let file_names = row.file_names.iter().map(|name| format!("file name {name}"));
            let prefixes = row.file_name_prefixes.iter().map(|name| format!("prefix {name}"));
            let interpreters = row.interpreters.iter().map(|name| format!("interpreter {name}"));
            extensions.chain(file_names).chain(prefixes).chain(interpreters).map(|name| (row.name, name))
        }));
    }

    #[test]
    fn every_builtin_is_in_one_list_of_its_language() {
        for row in languages() {
            let lists = [row.builtins.shared, row.builtins.parser, row.builtins.linker].concat();
            check_listed_once(
                lists.iter().flat_map(|list| list.split_whitespace()).map(|name| (row.name, name.to_owned())),
            );
            for list in lists {
                let words: Vec<&str> = list.split_whitespace().collect();
                assert!(words.is_sorted(), "{}: words are out of order in {list}", row.name);
            }
        }
    }

    #[test]
    fn grammar_versions_match_the_lock_file() {
        let lock = include_str!("../../../../../Cargo.lock");
        for grammar in languages().iter().filter_map(|row| row.grammar) {
            let entry = format!("name = \"{}\"\nversion = \"{}\"\n", grammar.crate_name, grammar.version);
            assert!(lock.contains(&entry), "the table contains {grammar:?}");
        }
    }

    #[test]
    fn builtins_belong_to_one_family() {
        assert!(is_builtin(Family::Python, "len") && !is_builtin(Family::Script, "len"));
        assert!(is_builtin(Family::Jvm, "String") && is_builtin(Family::Elixir, "Enum"));
        assert!(!is_builtin(Family::C, "size_t"), "only the parser knows it");
    }

    #[test]
    fn standard_modules_are_recognised_per_family() {
        let check = |family, module, expect| assert_eq!(is_standard_module(family, module), expect, "{module}");
        check(Family::Python, "json", true);
        check(Family::Python, "os.path", true);
        check(Family::Python, "requests", false);
        check(Family::Script, "node:fs", true);
        check(Family::Script, "lodash", false);
        check(Family::Jvm, "java.util.List", true);
        check(Family::Jvm, "kotlin.text", true);
        check(Family::Jvm, "com.acme", false);
        check(Family::C, "<stdio.h>", true);
        check(Family::C, "server.h", false);
        check(Family::Zig, "root", true);
        check(Family::Zig, "root.zig", false);
        check(Family::Ruby, "json", false);
    }
}
