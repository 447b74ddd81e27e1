//! Finds the files, directories and modules that a question names.

use std::sync::LazyLock;

use crate::filters::{FilterValue, FoundFilter};
use crate::identifiers::{is_file, path_and_name};
use crate::tokens::Token;
use crate::vocabulary::list;

static PREPOSITIONS: LazyLock<&[&str]> = LazyLock::new(|| list("places_prepositions"));
static ARTICLES: LazyLock<&[&str]> = LazyLock::new(|| list("places_articles"));
static MODULES: LazyLock<&[&str]> = LazyLock::new(|| list("places_modules"));
static DIRECTORIES: LazyLock<&[&str]> = LazyLock::new(|| list("places_directories"));

/// Words before "module" that are not names of modules.
static NO_NAMES: LazyLock<&[&str]> = LazyLock::new(|| list("places_no_names"));

pub(super) fn find(tokens: &[Token]) -> Vec<FoundFilter> {
    (0..tokens.len())
        .filter(|index| tokens[*index].is_any(&PREPOSITIONS))
        .filter_map(|index| place(tokens, index))
        .collect()
}

fn place(tokens: &[Token], start: usize) -> Option<FoundFilter> {
    let mut at = start + 1;
    while tokens.get(at)?.is_any(&ARTICLES) {
        at += 1;
    }
    let first = &tokens[at];
    let named_before = tokens.get(at + 1).filter(|_| !first.ends_phrase);
    if first.is_any(&["file", "files"])
        && let Some(name) = named_before.filter(|name| is_file(name))
    {
        return Some(found(start, at + 2, FilterValue::File(name.text.clone())));
    }
    if let Some(name) = named_before.filter(|name| !name.is_any(&NO_NAMES) && (name.is_span() || is_word(name))) {
        if first.is_any(&MODULES) && (at + 2 == tokens.len() || is_code_like(name)) {
            return Some(found(start, at + 2, FilterValue::Module(name.text.clone())));
        }
        if first.is_any(&DIRECTORIES) {
            return Some(found(start, at + 2, directory(name)));
        }
    }
    if first.is_any(&NO_NAMES) {
        return None;
    }
    if is_file(first) {
        let has_kind = tokens.get(at + 1).is_some_and(|next| next.is_any(&["file"]));
        return Some(found(start, at + 1 + usize::from(has_kind), FilterValue::File(first.text.clone())));
    }
    match named_before {
        Some(kind) if kind.is_any(&MODULES) => Some(found(start, at + 2, FilterValue::Module(first.text.clone()))),
        Some(kind) if kind.is_any(&DIRECTORIES) => Some(found(start, at + 2, directory(first))),
        _ => path(tokens, start, at),
    }
}

/// Finds a path that has no word such as "folder" next to it: "in src/auth".
fn path(tokens: &[Token], start: usize, at: usize) -> Option<FoundFilter> {
    let text = &tokens[at].text;
    let is_path = text.trim_matches('/').contains('/') && !text.contains("//") && !tokens[at].is_span();
    (is_path && path_and_name(text).is_none()).then(|| found(start, at + 1, directory(&tokens[at])))
}

fn directory(token: &Token) -> FilterValue {
    FilterValue::Directory(token.text.trim_start_matches("./").trim_end_matches('/').to_owned())
}

fn is_word(token: &Token) -> bool {
    token.text.chars().all(|character| character.is_alphanumeric() || "._-/:".contains(character))
}

fn is_code_like(token: &Token) -> bool {
    token.is_span() || token.text.contains(['.', '_', '/', ':', '-'])
}

fn found(start: usize, end: usize, value: FilterValue) -> FoundFilter {
    FoundFilter { tokens: start..end, value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::tokenize;

    fn check(question: &str, expect: &[(&str, &str)]) {
        let filters = find(&tokenize(question));
        let found: Vec<(&str, &str)> = filters
            .iter()
            .map(|filter| match &filter.value {
                FilterValue::File(name) => ("file", name.as_str()),
                FilterValue::Directory(name) => ("directory", name.as_str()),
                FilterValue::Module(name) => ("module", name.as_str()),
                _ => ("", ""),
            })
            .collect();
        assert_eq!(found, expect, "{question}");
    }

    #[test]
    fn named_places_become_filters() {
        check("classes in auth.py", &[("file", "auth.py")]);
        check("functions from the file src/net/tcp.rs", &[("file", "src/net/tcp.rs")]);
        check("retries in the billing module", &[("module", "billing")]);
        check("retries in billing module", &[("module", "billing")]);
        check("retries in module billing", &[("module", "billing")]);
        check("retries in the package com.acme.billing that fail", &[("module", "com.acme.billing")]);
        check("retries in src/auth", &[("directory", "src/auth")]);
        check("retries under ./src/auth/ today", &[("directory", "src/auth")]);
        check("retries in the tests folder", &[("directory", "tests")]);
        check("tests in *.test.ts files", &[("file", "*.test.ts")]);
    }

    #[test]
    fn other_phrases_name_no_place() {
        for question in ["in the same module", "in memory", "convert from json", "in this file", "in a module", "in"] {
            check(question, &[]);
        }
    }
}
