//! Recognises questions about a named definition, and questions that are only a name.

use std::sync::LazyLock;

use serde::Serialize;

use crate::identifiers::{is_capitalised, is_file, is_identifier, is_identifier_text};
use crate::phrase::Phrase;
use crate::relationship::is_plural;
use crate::tokens::{Token, TokenKind};
use crate::vocabulary::{KIND_WORDS, list};

/// The name whose definition a question asks for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct SymbolAsked {
    pub name: String,
    /// Whether the question asks only for this definition. False for "why does getUser fail".
    pub is_whole: bool,
}

/// Lead-ins: words such as "find". A question that consists of lead-ins and a quoted term, a code span or a
/// file name asks only for this name.
static LEAD_INS: LazyLock<&[&str]> = LazyLock::new(|| list("lead_ins"));

/// Keywords of programming languages that begin a definition.
static DECLARING: LazyLock<&[&str]> = LazyLock::new(|| list("declaring"));

const DEFINITIONS: &[&str] = &[
    "^ where @is the? @kind? <x:name> @kind? defined|declared $",
    "^ where <x:name> @is defined|declared $",
    "definition|declaration|signature of the? @kind? <x:name> $",
    "^ @list* <x:name> definition|declaration|signature $",
];

static COMPILED: LazyLock<Vec<Phrase>> = LazyLock::new(|| DEFINITIONS.iter().map(|rule| Phrase::new(rule)).collect());

/// The position of the quoted term or code span, if all other words of the question are lead-ins. If there
/// are several quoted terms or code spans, the position of the first one.
pub(crate) fn only_span(tokens: &[Token]) -> Option<usize> {
    let first = tokens.iter().position(Token::is_span)?;
    let is_beside = |token: &Token| token.is_span() || token.is_any(&LEAD_INS) || token.is_any(&KIND_WORDS);
    tokens.iter().all(is_beside).then_some(first)
}

/// Whether all words other than the token at `index` are lead-ins.
pub(crate) fn has_only_lead_ins(tokens: &[Token], index: usize) -> bool {
    let is_lead_in = |token: &Token| {
        let is_place = token.is_any(&["file", "directory", "folder", "path", "at", "line", "lines"]);
        token.is_any(&LEAD_INS) && !token.is_any(&["in"]) || is_place
    };
    let is_line = |at: usize| {
        let is_number = tokens[at].text.starts_with(|letter: char| letter.is_ascii_digit());
        is_number && at > 0 && tokens[at - 1].is_any(&["line", "lines"])
    };
    tokens.iter().enumerate().all(|(other, token)| other == index || is_lead_in(token) || is_line(other))
}

/// Whether all words other than the name at `index` are lead-ins or words for kinds of code.
pub(crate) fn is_only_name(tokens: &[Token], index: usize) -> bool {
    let is_beside = |token: &Token| token.is_any(&LEAD_INS) || token.is_any(&KIND_WORDS) || token.is_any(&DECLARING);
    tokens.iter().enumerate().all(|(other, token)| other == index || is_beside(token))
}

/// The position of the first word of the question that looks like an identifier.
pub(crate) fn identifier(tokens: &[Token]) -> Option<usize> {
    let is_name = |token: &Token| is_identifier(token) && !is_file(token);
    tokens.iter().position(is_name).or_else(|| declared(tokens)).or_else(|| capitalised(tokens))
}

/// The position of the capitalised word in a question whose other words are only lead-ins: "find Button".
fn capitalised(tokens: &[Token]) -> Option<usize> {
    let index = (1..tokens.len()).find(|index| is_capitalised(&tokens[*index]))?;
    has_only_lead_ins(tokens, index).then_some(index)
}

/// The name after a keyword, if the question is only a declaration: "class Parser", "fn parse".
fn declared(tokens: &[Token]) -> Option<usize> {
    let index = tokens.iter().position(|token| token.is_any(&DECLARING))?;
    let is_name =
        |token: &Token| token.kind == TokenKind::Word && (is_capitalised(token) || is_identifier_text(&token.text));
    let is_short =
        matches!(tokens[index].lower.as_str(), "fn" | "func" | "def" | "struct" | "typedef" | "enum" | "const");
    // For example, "struct definitions" does not name a struct.
    let is_plain = |token: &Token| !is_plural(&token.lower) && !token.is_any(list("kinds_terms"));
    let after =
        index + 1 == tokens.len() - 1 && (is_name(&tokens[index + 1]) || is_short && is_plain(&tokens[index + 1]));
    let is_type = !matches!(tokens[index].lower.as_str(), "module" | "function" | "method" | "type" | "record");
    let has_name_before =
        index > 0 && (index > 1 || is_type) && is_name(&tokens[index - 1]) && index + 1 == tokens.len();
    let others = |name: usize| (0..tokens.len()).filter(move |other| *other != name && *other != index);
    let is_alone = |name: usize| others(name).all(|other| tokens[other].is_any(&LEAD_INS));
    if after && is_alone(index + 1) {
        Some(index + 1)
    } else if has_name_before && is_alone(index - 1) {
        Some(index - 1)
    } else {
        None
    }
}

/// The word whose definition the question asks for: "where is timeout defined".
pub(crate) fn defined_word(tokens: &[Token]) -> Option<usize> {
    COMPILED.iter().find_map(|phrase| {
        let found = phrase.find(tokens, &|found| found.capture("x").is_some_and(|range| range.len() == 1))?;
        Some(found.capture("x")?.start)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::tokenize;

    fn check(question: &str, find: impl Fn(&[Token]) -> Option<usize>, expect: Option<&str>) {
        let tokens = tokenize(question);
        assert_eq!(find(&tokens).map(|index| tokens[index].text.as_str()), expect, "{question}");
    }

    #[test]
    fn spans_with_lead_ins_are_found() {
        check("\"validateToken\"", only_span, Some("validateToken"));
        check("find `open`", only_span, Some("open"));
        check("what is `how does it work`?", only_span, Some("how does it work"));
        check("where is the function `open` defined", only_span, Some("open"));
        check("why does `open` fail", only_span, None);
        check("what calls `open`", only_span, None);
        check("open", only_span, None);
    }

    #[test]
    fn identifiers_are_found() {
        check("what is getUserById", identifier, Some("getUserById"));
        check("UserService class", identifier, Some("UserService"));
        check("class Parser", identifier, Some("Parser"));
        check("the Parser class", identifier, Some("Parser"));
        check("fn parse", identifier, Some("parse"));
        check("function arguments", identifier, None);
        check("`parse_url` fails", identifier, None);
        check("where is user validation", identifier, None);
        check("class hierarchy", identifier, None);
        check("struct definitions", identifier, None);
        check("enum definition", identifier, None);
        check("find Button", identifier, Some("Button"));
        check("Button component", identifier, Some("Button"));
        check("what is Kafka", identifier, None);
        check("Billing module", identifier, None);
    }

    #[test]
    fn words_with_requested_definition_are_found() {
        check("where is timeout defined", defined_word, Some("timeout"));
        check("definition of render", defined_word, Some("render"));
        check("where is the retry policy defined", defined_word, None);
        check("where is user validation", defined_word, None);
    }
}
