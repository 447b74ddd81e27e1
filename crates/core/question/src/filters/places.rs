//! Finds the files, directories and modules that a question names.

use std::sync::LazyLock;

use crate::filters::{FilterValue, FoundFilter, is_excluded};
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
        .filter(|index| tokens[*index].is_any(&PREPOSITIONS) && !is_excluded(tokens, *index))
        .flat_map(|index| places(tokens, index))
        .collect()
}

/// The place after a preposition, and the further members of a list: "in auth.py and session.py", "in the
/// auth and billing modules".
fn places(tokens: &[Token], start: usize) -> Vec<FoundFilter> {
    if let Some(modules) = listed_modules(tokens, start) {
        return modules;
    }
    let mut found: Vec<FoundFilter> = place(tokens, start).into_iter().collect();
    while let Some(FoundFilter { tokens: last, value: FilterValue::File(_) }) = found.last()
        && let Some(name) = after_conjunction(tokens, last.end)
        && is_file(&tokens[name])
    {
        let has_kind = tokens.get(name + 1).is_some_and(|next| next.is_any(&["file"]));
        let file = FilterValue::File(tokens[name].text.clone());
        found.push(FoundFilter { tokens: last.end..name + 1 + usize::from(has_kind), value: file });
    }
    found
}

/// The modules in a list that the word "modules" ends.
fn listed_modules(tokens: &[Token], start: usize) -> Option<Vec<FoundFilter>> {
    let mut at = start + 1;
    while tokens.get(at)?.is_any(&ARTICLES) {
        at += 1;
    }
    let mut names = vec![(start, at)];
    while let Some(next) = after_conjunction(tokens, names.last()?.1 + 1) {
        names.push((names.last()?.1 + 1, next));
    }
    let end = names.last()?.1 + 1;
    let is_list = names.len() > 1 && tokens.get(end)?.is_any(list("places_many_modules"));
    let is_name = |(_, name): &(usize, usize)| !tokens[*name].is_any(&NO_NAMES) && is_word(&tokens[*name]);
    if !is_list || !names.iter().all(is_name) {
        return None;
    }
    let module = |(start, name): &(usize, usize)| {
        let end = if name + 1 == end { end + 1 } else { name + 1 };
        FoundFilter { tokens: *start..end, value: FilterValue::Module(tokens[*name].text.clone()) }
    };
    Some(names.iter().map(module).collect())
}

/// The position of the token after a comma, "and" or "or" at `at`.
fn after_conjunction(tokens: &[Token], at: usize) -> Option<usize> {
    let is_conjunction = tokens.get(at)?.is_any(&["and", "or"]);
    let has_comma = at > 0 && tokens[at - 1].ends_phrase && !tokens[at - 1].ends_clause;
    match (is_conjunction, has_comma) {
        (true, _) => (at + 1 < tokens.len()).then_some(at + 1),
        (false, true) => Some(at),
        (false, false) => None,
    }
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
        check("tokens in auth.py and session.py", &[("file", "auth.py"), ("file", "session.py")]);
        check(
            "tokens in auth.py, user.py or session.py",
            &[("file", "auth.py"), ("file", "user.py"), ("file", "session.py")],
        );
        check("tokens in the auth and billing modules", &[("module", "auth"), ("module", "billing")]);
        check(
            "tokens in auth, billing and web_shop packages",
            &[("module", "auth"), ("module", "billing"), ("module", "web_shop")],
        );
    }

    #[test]
    fn other_phrases_name_no_place() {
        for question in [
            "in the same module",
            "in memory",
            "convert from json",
            "in this file",
            "in a module",
            "in",
            "refresh not in lock_manager.py",
            "refresh except in the locks module",
            "refresh anywhere but in src/locks",
            "refresh other than in auth.py",
            "in memory and on disk",
            "in this and other modules",
        ] {
            check(question, &[]);
        }
    }
}
