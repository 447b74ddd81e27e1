//! Splits a question into tokens: words, quoted terms and code spans.

use std::ops::RangeInclusive;

/// A token of a question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Token {
    /// The text without quotes and without punctuation around it.
    pub(crate) text: String,
    /// `text` in lower case.
    pub(crate) lower: String,
    /// The range of bytes of the question that the token covers, including its quotes.
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) kind: TokenKind,
    /// Whether a comma or colon follows.
    pub(crate) ends_phrase: bool,
    /// Whether a full stop, question mark, semicolon or line break follows.
    pub(crate) ends_clause: bool,
    /// The lines that the question names after the name of a file.
    pub(crate) lines: Option<RangeInclusive<u32>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TokenKind {
    Word,
    /// A term in quotes.
    Quoted,
    /// A code span in backticks.
    Code,
}

impl Token {
    /// Whether the token is one of these words. False for quoted terms and code spans.
    pub(crate) fn is_any(&self, words: &[&str]) -> bool {
        self.kind == TokenKind::Word && words.contains(&self.lower.as_str())
    }

    pub(crate) fn is_span(&self) -> bool {
        self.kind != TokenKind::Word
    }

    pub(crate) fn is_keyword(&self) -> bool {
        self.is_span() || !crate::keywords::is_stop_word(&self.lower)
    }
}

/// Words that may be contracted with "is": "what's" is read as "what is".
const CONTRACTED: [&str; 10] = ["what", "who", "where", "how", "which", "when", "why", "there", "it", "that"];

/// Every spelling of an arrow is replaced by this word.
pub(crate) const ARROW: &str = "->";

/// The opening and closing marks of terms in quotes.
const QUOTES: [(char, char); 4] = [('"', '"'), ('“', '”'), ('«', '»'), ('‘', '’')];

pub(crate) fn tokenize(question: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut position = 0;
    while let Some(first) = question[position..].chars().next() {
        let rest = &question[position..];
        if first.is_whitespace() {
            if first == '\n'
                && let Some(last) = tokens.last_mut()
            {
                last.ends_clause = true;
            }
            position += first.len_utf8();
        } else if let Some((inner, length, kind)) = span(rest, position == 0 || ends_in_space(&question[..position])) {
            push(&mut tokens, inner, position, position + length, kind);
            position += length;
        } else {
            let length = word_length(rest);
            push_word(&mut tokens, &rest[..length], position);
            position += length;
        }
    }
    mark_names(&mut tokens);
    tokens
}

/// A capital `A` before a word in lower case or at the end of the question is a name, not the article: "who
/// calls A and B". No list contains the `lower` of such a token.
fn mark_names(tokens: &mut [Token]) {
    for index in 1..tokens.len() {
        let is_capital = tokens[index].kind == TokenKind::Word && tokens[index].text == "A";
        let is_title = tokens.get(index + 1).is_some_and(|next| !next.text.starts_with(char::is_lowercase));
        if is_capital && !tokens[index - 1].ends_clause && (!is_title || tokens[index].ends_phrase) {
            "A".clone_into(&mut tokens[index].lower);
        }
    }
}

fn ends_in_space(text: &str) -> bool {
    text.ends_with(|character: char| character.is_whitespace() || character == '(')
}

/// The text, the length in bytes and the kind of the quoted term or code span at the start of `rest`.
fn span(rest: &str, after_space: bool) -> Option<(&str, usize, TokenKind)> {
    let ticks = rest.bytes().take_while(|byte| *byte == b'`').count();
    if ticks > 0 {
        let mark = &rest[..ticks];
        let length = rest[ticks..].find(mark)?;
        return non_empty(&rest[ticks..ticks + length], length + 2 * ticks, TokenKind::Code);
    }
    let first = rest.chars().next()?;
    if let Some((open, close)) = QUOTES.into_iter().find(|(open, _)| *open == first) {
        let inner = &rest[open.len_utf8()..];
        let length = inner.find(close)?;
        return non_empty(&inner[..length], open.len_utf8() + length + close.len_utf8(), TokenKind::Quoted);
    }
    if first == '\'' && after_space {
        let inner = &rest[1..];
        let length = inner.find('\'')?;
        let after = inner[length + 1..].chars().next();
        if after.is_none_or(|character| !character.is_alphanumeric()) {
            return non_empty(&inner[..length], length + 2, TokenKind::Quoted);
        }
    }
    None
}

fn non_empty(inner: &str, length: usize, kind: TokenKind) -> Option<(&str, usize, TokenKind)> {
    let inner = inner.trim();
    (!inner.is_empty()).then_some((inner, length, kind))
}

/// The length of the word at the start of `rest`. A word ends before white space, or before a complete quoted
/// term or code span.
fn word_length(rest: &str) -> usize {
    let is_end = |(index, character): &(usize, char)| {
        character.is_whitespace()
            || (*index > 0 && matches!(character, '`' | '"' | '“' | '«') && span(&rest[*index..], false).is_some())
    };
    rest.char_indices().skip(1).find(is_end).map_or(rest.len(), |(index, _)| index)
}

fn push(tokens: &mut Vec<Token>, text: &str, start: usize, end: usize, kind: TokenKind) {
    tokens.push(Token {
        text: text.to_owned(),
        lower: text.to_lowercase(),
        start,
        end,
        kind,
        ends_phrase: false,
        ends_clause: false,
        lines: None,
    });
}

fn push_word(tokens: &mut Vec<Token>, raw: &str, start: usize) {
    if matches!(raw, "->" | "-->" | "=>" | "→" | "⇒") {
        return push(tokens, ARROW, start, start + raw.len(), TokenKind::Word);
    }
    if raw == "&" {
        return push(tokens, "and", start, start + raw.len(), TokenKind::Word);
    }
    let (word, offset) = trimmed(raw);
    let after = &raw[offset + word.len()..];
    if word.chars().any(char::is_alphanumeric) || word.contains('*') {
        let (base, is_contraction) = without_apostrophe(word);
        push(tokens, base, start + offset, start + offset + word.len(), TokenKind::Word);
        if is_contraction && CONTRACTED.contains(&base.to_lowercase().as_str()) {
            let end = start + offset + word.len();
            push(tokens, "is", end, end, TokenKind::Word);
        }
    }
    if let Some(last) = tokens.last_mut() {
        last.ends_clause |= after.contains(['.', '?', '!', ';', '…']);
        last.ends_phrase |= after.contains([',', ':']) || last.ends_clause;
    }
}

/// Removes `'s` from the end of a word. The second value is true if the word had this ending.
fn without_apostrophe(word: &str) -> (&str, bool) {
    for ending in ["'s", "’s"] {
        if let Some(base) = word.strip_suffix(ending) {
            return (base, true);
        }
    }
    (word, false)
}

/// Punctuation that is removed from the start of a word.
const OPENING: [char; 14] = ['(', '[', '{', '<', ',', ';', ':', '!', '?', '\'', '"', '`', '“', '‘'];

/// Whether a word begins with a group of a glob or with a parameter of a path: `{a,b}.rs`, `[ab]*.js`,
/// `[id].tsx`.
fn begins_with_group(word: &str) -> bool {
    let close = match word.chars().next() {
        Some('[') => ']',
        Some('{') => '}',
        _ => return false,
    };
    let after = word.find(close).map(|end| &word[end + 1..]);
    let goes_on = |after: &str| after.starts_with(['.', '/', '_', '-', '*', '?']);
    after.is_some_and(|after| goes_on(after) && after.chars().any(char::is_alphanumeric))
}

/// The word without punctuation around it, and the number of bytes before it. The parentheses after the name
/// of a function are kept.
fn trimmed(raw: &str) -> (&str, usize) {
    let mut word = raw;
    while let Some(shorter) = word.strip_prefix(OPENING)
        && !begins_with_group(word)
    {
        word = shorter;
    }
    let leading_dot = word.starts_with('.') && word[1..].starts_with(char::is_alphanumeric);
    if !leading_dot && !word.starts_with("./") && !word.starts_with("../") {
        word = word.trim_start_matches('.');
    }
    let offset = raw.len() - word.len();
    loop {
        let is_call = word.ends_with(')') && word.find('(').is_some_and(|open| open > 0);
        let is_group =
            [('[', ']'), ('{', '}')].iter().any(|(open, close)| word.ends_with(*close) && word.contains(*open));
        let shorter = if is_call || is_group {
            word
        } else {
            let marks = [')', ']', '}', '>', ',', ';', ':', '!', '?', '.', '\'', '"', '`', '”', '’', '…'];
            word.strip_suffix(marks).unwrap_or(word)
        };
        if shorter.len() == word.len() {
            return (word, offset);
        }
        word = shorter;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(question: &str, expect: &[&str]) {
        let found: Vec<String> = tokenize(question)
            .iter()
            .map(|token| match token.kind {
                TokenKind::Word => token.text.clone(),
                TokenKind::Quoted => format!("\"{}\"", token.text),
                TokenKind::Code => format!("`{}`", token.text),
            })
            .collect();
        assert_eq!(found, expect, "{question}");
    }

    #[test]
    fn questions_become_words_and_spans() {
        check("what calls `open`?", &["what", "calls", "`open`"]);
        check("find \"validate token\" now", &["find", "\"validate token\"", "now"]);
        check("what's render() for?", &["what", "is", "render()", "for"]);
        check("UserService's callers", &["UserService", "callers"]);
        check("don't use 'single quotes' here", &["don't", "use", "\"single quotes\"", "here"]);
        check("files like *.test.ts, please.", &["files", "like", "*.test.ts", "please"]);
        check("find *.{ts,tsx} or {a,b}.rs, too", &["find", "*.{ts,tsx}", "or", "{a,b}.rs", "too"]);
        check("pages [id].tsx [see below] {x}.", &["pages", "[id].tsx", "see", "below", "x"]);
        check("[ab]*.js [see]?", &["[ab]*.js", "see"]);
        check("where is .gitignore (the file)", &["where", "is", ".gitignore", "the", "file"]);
        check("API -> database", &["API", "->", "database"]);
        check("an unbalanced \" quote ` here", &["an", "unbalanced", "quote", "here"]);
        check("f(x) and Vec[int] and Foo::bar", &["f(x)", "and", "Vec[int]", "and", "Foo::bar"]);
        check("```let x = 1;``` fails", &["`let x = 1;`", "fails"]);
        check("größe ändern", &["größe", "ändern"]);
        check("  ", &[]);
    }

    #[test]
    fn spans_cover_their_quotes() {
        let question = "find `open` now";
        let token = &tokenize(question)[1];
        assert_eq!(&question[token.start..token.end], "`open`");
    }

    #[test]
    fn punctuation_ends_clauses() {
        let tokens = tokenize("first. second, third\nfourth");
        let ends: Vec<(bool, bool)> = tokens.iter().map(|token| (token.ends_clause, token.ends_phrase)).collect();
        assert_eq!(ends, [(true, true), (false, true), (true, false), (false, false)]);
    }
}
