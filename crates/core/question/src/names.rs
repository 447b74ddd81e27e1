//! Finds the names that a part of a question uses for code.

use std::ops::Range;

use crate::identifiers::{is_capitalised, is_document_id, is_file, is_identifier};
use crate::tokens::{Token, TokenKind};
use crate::vocabulary::{DETERMINERS, KIND_WORDS, NAME_ENDS, NOT_NAMES, PRONOUNS};

/// Maximum number of words of a name that is written as plain words: "the session cookie".
const MAX_PLAIN_WORDS: usize = 4;

/// A name in a question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Name {
    /// The tokens of the name, without determiners and kind words.
    pub(crate) tokens: Range<usize>,
    /// The position of the token after the name and its kind words.
    pub(crate) end: usize,
    /// Whether the name looks like an identifier, or a word next to the name shows that the name refers to
    /// code.
    pub(crate) is_strong: bool,
}

/// Whether the token is a quoted term, a code span, an identifier, a file name, or a capitalised word that
/// does not begin the question.
pub(crate) fn is_strong(tokens: &[Token], index: usize) -> bool {
    let token = &tokens[index];
    token.is_span()
        || is_identifier(token)
        || is_file(token)
        || is_document_id(&token.text)
        || (token.text.contains('/') && token.text.len() > 3)
        || (index > 0 && !tokens[index - 1].ends_clause && is_capitalised(token))
}

/// The names that may begin at a token, the longest first.
pub(crate) fn names_at(tokens: &[Token], first: usize) -> Vec<Name> {
    let mut start = first;
    while start < tokens.len() && tokens[start].is_any(&DETERMINERS) {
        start += 1;
    }
    let has_kind_before = start + 1 < tokens.len()
        && tokens[start].is_any(&KIND_WORDS)
        && (is_strong(tokens, start + 1) || !tokens[start + 1].is_any(&NAME_ENDS));
    if has_kind_before {
        if is_strong(tokens, start + 1) {
            start += 1;
        } else if tokens[start + 1].is_any(&["called", "named"]) {
            start += 2;
        }
    }
    if start >= tokens.len() {
        return Vec::new();
    }
    if is_strong(tokens, start) {
        // "the User model" contains the name "User", but "User model" may also be one name.
        let longer = plain_names(tokens, start).into_iter().filter(|name| name.tokens.len() > 1);
        let longer = longer.map(|name| Name { is_strong: true, ..name });
        return [strong_name(tokens, start)].into_iter().chain(longer).collect();
    }
    plain_names(tokens, start)
}

fn strong_name(tokens: &[Token], start: usize) -> Name {
    let mut end = start + 1;
    while !tokens[end - 1].ends_phrase && end < tokens.len() && tokens[end].is_any(&KIND_WORDS) {
        end += 1;
    }
    Name { tokens: start..start + 1, end, is_strong: true }
}

fn plain_names(tokens: &[Token], start: usize) -> Vec<Name> {
    let is_first_bad = tokens[start].is_any(&NOT_NAMES) || tokens[start].is_any(&PRONOUNS);
    if is_first_bad {
        return Vec::new();
    }
    let mut end = start;
    let mut strong = None;
    while end < tokens.len() && end - start < MAX_PLAIN_WORDS && is_part_of_name(&tokens[end]) {
        if end > start && is_final_verb(tokens, end) {
            break;
        }
        if end > start && is_strong(tokens, end) {
            strong = Some(strong_name(tokens, end));
            break;
        }
        end += 1;
        if tokens[end - 1].ends_phrase {
            break;
        }
    }
    let plain = (start + 1..=end).rev().map(|end| plain_name(tokens, start, end));
    strong.into_iter().chain(plain).collect()
}

/// Whether the word is the verb at the end of a question: "how do the callers of parse work".
fn is_final_verb(tokens: &[Token], index: usize) -> bool {
    let is_last = index + 1 == tokens.len() || tokens[index].ends_clause;
    is_last && tokens[index].is_any(&["work", "works", "working", "worked"])
}

fn is_part_of_name(token: &Token) -> bool {
    token.is_span() || !token.is_any(&NAME_ENDS)
}

/// The name without words such as "class" or "function" at its start and end.
fn plain_name(tokens: &[Token], start: usize, end: usize) -> Name {
    let (mut first, mut last) = (start, end);
    let mut is_strong = false;
    while last - first > 1 && tokens[last - 1].is_any(&KIND_WORDS) {
        is_strong |= is_type_word(&tokens[last - 1]);
        last -= 1;
    }
    if last - first > 1 && tokens[first].is_any(&KIND_WORDS) {
        is_strong |= is_type_word(&tokens[first]);
        first += 1;
    }
    // In "the function handles calls", "handles calls" is not certainly a name, because it has more than one
    // word.
    Name { tokens: first..last, end, is_strong: is_strong && last - first == 1 }
}

/// Words after which a name in lower case is the name of a type: "the handler interface".
fn is_type_word(token: &Token) -> bool {
    token.kind == TokenKind::Word
        && matches!(
            token.lower.as_str(),
            "interface"
                | "trait"
                | "protocol"
                | "class"
                | "struct"
                | "method"
                | "function"
                | "type"
                | "enum"
                | "package"
        )
}

/// The text of the question from the first to the last of these tokens. A single token is returned without
/// its quotes.
pub(crate) fn text_of(question: &str, tokens: &[Token], range: &Range<usize>) -> String {
    match &tokens[range.clone()] {
        [] => String::new(),
        [token] => token.text.trim_end_matches("()").to_owned(),
        [first, .., last] => {
            let text = question[first.start..last.end].trim_end_matches("'s");
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::tokenize;

    fn check(question: &str, first: usize, expect: Option<(&str, bool)>) {
        let tokens = tokenize(question);
        let found = names_at(&tokens, first);
        let found = found.first().map(|name| (text_of(question, &tokens, &name.tokens), name.is_strong));
        assert_eq!(found.as_ref().map(|(text, is_strong)| (text.as_str(), *is_strong)), expect, "{question}");
    }

    #[test]
    fn names_have_no_determiners_and_kind_words() {
        check("calls validateToken", 1, Some(("validateToken", true)));
        check("calls the function `open` twice", 1, Some(("open", true)));
        check("imports auth module", 1, Some(("auth", false)));
        check("implements the handler interface", 1, Some(("handler", true)));
        check("uses the session cookie in tests", 1, Some(("session cookie", false)));
        check("calls the function named parse", 1, Some(("parse", false)));
        check("extends class Base", 1, Some(("Base", true)));
        check("calls render() directly", 1, Some(("render", true)));
        check("calls the new UserService", 1, Some(("UserService", true)));
        check("calls are slow", 1, None);
        check("imports fail", 1, None);
        check("uses", 1, None);
    }
}
