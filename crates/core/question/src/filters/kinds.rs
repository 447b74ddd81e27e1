//! Finds the kinds of code that a question asks for: "functions that parse dates", "which class loads the
//! settings".

use std::ops::Range;
use std::sync::LazyLock;

use crate::filters::{FilterValue, FoundFilter};
use crate::names::{is_strong, names_at};
use crate::tokens::Token;
use crate::vocabulary::list;

/// The singular and plural forms of the words for a kind of code, and the kinds of code that the words name.
type KindRow = (&'static [&'static str], &'static [&'static str], &'static [&'static str]);

/// The words for kinds of code. Each of "function" and "method" names both kinds, because most people do not
/// distinguish functions from methods.
const KINDS: &[KindRow] = &[
    (&["function", "func", "fn", "method"], &["functions", "funcs", "methods"], &["function", "method"]),
    (&["class", "dataclass"], &["classes", "dataclasses"], &["class"]),
    (&["file"], &["files"], &["file"]),
    (&["interface"], &["interfaces"], &["interface"]),
    (&["trait"], &["traits"], &["trait"]),
    (&["protocol"], &["protocols"], &["interface", "trait"]),
    (&["struct", "structure"], &["structs"], &["struct"]),
    (&["enum", "enumeration"], &["enums", "enumerations"], &["enum"]),
    (&["constant", "const"], &["constants", "consts"], &["constant"]),
    (&["variable"], &["variables"], &["variable"]),
    (&["macro"], &["macros"], &["macro"]),
    (&[], &["types"], &["type", "class", "struct", "interface", "trait", "enum"]),
    (&["field", "attribute"], &["fields"], &["field"]),
];

/// Words that may precede the word for a kind of code at the start of a question.
static LEADS: LazyLock<&[&str]> = LazyLock::new(|| list("kinds_leads"));

/// Words that may follow the word for a kind of code.
static FOLLOWERS: LazyLock<&[&str]> = LazyLock::new(|| list("kinds_followers"));

/// Words that form one term with a preceding word for a kind: "class loader", "function call".
static TERMS: LazyLock<&[&str]> = LazyLock::new(|| list("kinds_terms"));

/// Words that may also refer to the data of a form, a table or an environment. These words count as words for
/// a kind of code only in questions that name code.
const DATA: [&str; 5] = ["variable", "variables", "field", "fields", "attribute"];

/// Words that form one term with a following word for a kind: "environment variables".
static BEFORE_TERMS: LazyLock<&[&str]> = LazyLock::new(|| list("kinds_before_terms"));

pub(super) fn find(tokens: &[Token]) -> Vec<FoundFilter> {
    if tokens.first().is_some_and(|first| first.is_any(&["why", "when", "explain", "compare"])) || asks_how(tokens) {
        return Vec::new();
    }
    let found = (0..tokens.len()).find_map(|index| {
        let (row, is_plural) = row_of(&tokens[index])?;
        let (last, rows) = members(tokens, index, row);
        let positions = (index..=last).step_by(2);
        is_asked(tokens, index..last + 1, is_plural)
            .then(|| positions.zip(rows).map(|(position, row)| filter(tokens, position, row.2)).collect())
    });
    found.unwrap_or_default()
}

/// Whether the question begins with "how", but not with "how many". Such a question does not ask for a kind
/// of code.
fn asks_how(tokens: &[Token]) -> bool {
    tokens.first().is_some_and(|first| first.is_any(&["how"]))
        && !tokens.get(1).is_some_and(|next| next.is_any(&["many"]))
}

/// The last position and the rows of a list of kinds: "classes and functions". All members are in the plural.
/// Without a list, the result contains only the given kind.
fn members(tokens: &[Token], first: usize, row: &'static KindRow) -> (usize, Vec<&'static KindRow>) {
    let (mut last, mut rows) = (first, vec![row]);
    while row_of(&tokens[first]).is_some_and(|(_, is_plural)| is_plural)
        && tokens.get(last + 1).is_some_and(|next| next.is_any(&["and", "or"]))
        && let Some((next, true)) = tokens.get(last + 2).and_then(row_of)
    {
        last += 2;
        rows.push(next);
    }
    (last, rows)
}

fn row_of(token: &Token) -> Option<(&'static KindRow, bool)> {
    KINDS.iter().find_map(|row| {
        if token.is_any(row.1) { Some((row, true)) } else { token.is_any(row.0).then_some((row, false)) }
    })
}

fn filter(tokens: &[Token], index: usize, kinds: &'static [&'static str]) -> FoundFilter {
    let has_relative = tokens.get(index + 1).is_some_and(|next| next.is_any(&["that", "which", "who"]));
    FoundFilter { tokens: index..index + 1 + usize::from(has_relative), value: FilterValue::Kinds(kinds) }
}

/// Whether the word does not mean a kind of code here: it is part of a term, is a verb, or means "sorts", as
/// in "types of errors".
fn is_other_word(tokens: &[Token], index: usize, is_plural: bool) -> bool {
    let next = tokens.get(index + 1);
    let is_next = |words: &[&str]| next.is_some_and(|next| next.is_any(words));
    let is_asker_before = index > 0 && tokens[index - 1].is_any(&["what", "which", "who", "that"]);
    let is_verb = is_plural
        && is_asker_before
        && match tokens[index].lower.as_str() {
            "functions" => is_next(&["as", "like"]),
            "interfaces" => is_next(&["with", "to"]),
            _ => false,
        };
    is_verb
        || (!is_plural && is_next(&TERMS))
        || (index > 0 && tokens[index - 1].is_any(&BEFORE_TERMS))
        || (is_next(&["of"]) && !has_code(tokens, index + 2))
        || (tokens[index].is_any(&DATA) && !has_name(tokens))
}

/// Whether the words that begin at `start` name code: they look like an identifier, or a word for a kind of
/// code is next to them.
fn has_code(tokens: &[Token], start: usize) -> bool {
    names_at(tokens, start).iter().any(|name| name.is_strong || name.end > name.tokens.end)
}

fn has_name(tokens: &[Token]) -> bool {
    (0..tokens.len()).any(|index| is_strong(tokens, index))
}

/// Whether the words for kinds at these positions state the kinds of code that the question asks for.
fn is_asked(tokens: &[Token], kinds: Range<usize>, is_plural: bool) -> bool {
    let (index, next) = (kinds.start, tokens.get(kinds.end));
    if is_other_word(tokens, index, is_plural) {
        return false;
    }
    let num_modifiers = (0..index).rev().take_while(|before| !tokens[*before].is_any(&LEADS)).count();
    let has_lead = num_modifiers == 0 || num_modifiers < index;
    let is_lead = has_lead && (0..index - num_modifiers).all(|before| tokens[before].is_any(&LEADS));
    let has_asker = (0..index)
        .any(|before| tokens[before].is_any(&["which", "what", "all", "every", "each", "any", "list", "many"]));
    let is_followed = next.is_none_or(|next| next.is_any(&FOLLOWERS));
    let is_name_before =
        index > 0 && (tokens[index - 1].is_span() || crate::identifiers::is_identifier(&tokens[index - 1]));
    if next.is_none() && is_name_before {
        return true;
    }
    match (is_plural, num_modifiers) {
        (true, 0..=2) => is_lead && (is_followed || has_asker),
        (false, 0) => {
            is_lead && index > 0 && (has_asker && !tokens[0].is_any(&["where"]) || is_followed && next.is_some())
        }
        (false, 1..=2) => is_lead && has_asker && is_followed && next.is_some(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::tokenize;

    fn check(question: &str, expect: &[&str]) {
        let found = find(&tokenize(question));
        let kinds: Vec<&str> = found
            .iter()
            .flat_map(|filter| match filter.value {
                FilterValue::Kinds(kinds) => kinds.to_vec(),
                _ => Vec::new(),
            })
            .collect();
        assert_eq!(kinds, expect, "{question}");
    }

    #[test]
    fn requested_kinds_become_filters() {
        check("functions that use redis", &["function", "method"]);
        check("list all methods", &["function", "method"]);
        check("classes in auth.py", &["class"]);
        check("which classes extend Base", &["class"]);
        check("UserService class", &["class"]);
        check("list structs", &["struct"]);
        check("list the enumerations", &["enum"]);
        check("dataclasses in models.py", &["class"]);
        check("all traits", &["trait"]);
        check("which function validates the token", &["function", "method"]);
        check("find the class that loads settings", &["class"]);
        check("all http handler functions", &["function", "method"]);
        check("which file contains the routes", &["file"]);
        check("files changed yesterday", &["file"]);
        check("how many functions call parse", &["function", "method"]);
        check("methods of UserService", &["function", "method"]);
        check("list the methods of the billing module", &["function", "method"]);
        check("which fields of `User` are validated", &["field"]);
        check("which variables are set in settings.py", &["variable"]);
        check("classes and functions in auth.py", &["class", "function", "method"]);
        check("list all structs or enums", &["struct", "enum"]);
    }

    #[test]
    fn topics_with_kind_words_are_not_filters() {
        for question in [
            "how are classes loaded",
            "function call",
            "class loader",
            "file upload",
            "upload files to storage",
            "config file parsing",
            "type inference",
            "authentication timeout handling",
            "where is the file uploaded",
            "what types of errors are retried",
            "list all types of events",
            "what classes of errors exist",
            "which fields are validated",
            "what variables affect the build",
            "what methods of authentication are supported",
            "what functions as a cache",
            "what interfaces with the queue",
        ] {
            check(question, &[]);
        }
    }
}
