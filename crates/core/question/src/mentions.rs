//! Finds the code that a question mentions.

use serde::{Serialize, Serializer};

use crate::identifiers::{
    is_bare_file, is_capitalised, is_document_id, is_file_text, is_identifier_text, is_word_pair,
};
use crate::tokens::{Token, TokenKind};

/// Code that a question mentions.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Mention {
    pub text: String,
    pub kind: MentionKind,
    /// The confidence that the text refers to code, in percent. It is serialised as a number from 0 to 1,
    /// like every confidence in an answer.
    #[serde(serialize_with = "as_share")]
    pub confidence: u32,
    /// The first and the last line that the question names after the name of a file: `server.go:642-652`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<(u32, u32)>,
}

fn as_share<S: Serializer>(percent: &u32, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(f64::from(*percent) / 100.0)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MentionKind {
    /// A code span.
    Code,
    /// A term in quotes.
    Quoted,
    File,
    Directory,
    /// A name that looks like the name of a class: `UserService`.
    Class,
    /// A name with parentheses: `render()`.
    Function,
    /// Any other name that looks like an identifier: `get_user`, `getUser`, `Parser::parse`,
    /// `src/server.py#run`.
    Symbol,
}

impl MentionKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Quoted => "quoted",
            Self::File => "file",
            Self::Directory => "directory",
            Self::Class => "class",
            Self::Function => "function",
            Self::Symbol => "symbol",
        }
    }

    fn confidence(self) -> u32 {
        match self {
            Self::File => 95,
            Self::Code => 90,
            Self::Quoted => 80,
            Self::Class | Self::Directory => 70,
            Self::Function | Self::Symbol => 60,
        }
    }
}

/// The mentions in the order of the question, without duplicates. If a text is mentioned in several ways, the
/// mention with the highest confidence is kept.
pub(crate) fn mentions(tokens: &[Token]) -> Vec<Mention> {
    let mut found: Vec<Mention> = Vec::new();
    for token in tokens {
        let Some((kind, text)) = mention(token) else { continue };
        let lines = token.lines.as_ref().map(|lines| (*lines.start(), *lines.end()));
        let new = Mention { text: text.to_owned(), kind, confidence: kind.confidence(), lines };
        match found.iter_mut().find(|known| known.text == new.text) {
            Some(known) if known.confidence < new.confidence => *known = new,
            Some(known) => known.lines = known.lines.or(new.lines),
            None => found.push(new),
        }
    }
    found
}

fn mention(token: &Token) -> Option<(MentionKind, &str)> {
    let text = token.text.as_str();
    if token.lines.is_some()
        || is_file_text(text)
        || is_document_id(text)
        || (token.kind == TokenKind::Word && is_bare_file(text))
    {
        return Some((MentionKind::File, text));
    }
    match token.kind {
        TokenKind::Code => Some((MentionKind::Code, text)),
        TokenKind::Quoted => Some((MentionKind::Quoted, text)),
        TokenKind::Word if is_directory(text) => Some((MentionKind::Directory, text)),
        TokenKind::Word if !is_identifier_text(text) => None,
        TokenKind::Word if text.ends_with(')') => Some((MentionKind::Function, text.split('(').next().unwrap_or(text))),
        TokenKind::Word if is_capitalised(token) => Some((MentionKind::Class, text)),
        TokenKind::Word => Some((MentionKind::Symbol, text)),
    }
}

/// Whether a word is a path that does not end with the name of a file: `src/auth`, `docs/adr/`.
fn is_directory(text: &str) -> bool {
    let is_path_character = |character: char| character.is_alphanumeric() || "._-/@".contains(character);
    text.trim_matches('/').contains('/') && text.chars().all(is_path_character) && !is_word_pair(text)
        || (text.ends_with('/') && text.len() > 2 && text.chars().all(is_path_character))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::tokenize;

    fn check(question: &str, expect: &[(&str, &str, u32)]) {
        let found = mentions(&tokenize(question));
        let found: Vec<_> =
            found.iter().map(|mention| (mention.text.as_str(), mention.kind.as_str(), mention.confidence)).collect();
        assert_eq!(found, expect, "{question}");
    }

    #[test]
    fn mention_of_a_file_has_the_named_lines() {
        let check = |question: &str, text: &str, lines: Option<(u32, u32)>| {
            let found = mentions(&crate::positions::tokens_of(question));
            let found: Vec<_> = found.iter().map(|found| (found.text.as_str(), found.kind, found.lines)).collect();
            assert_eq!(found, [(text, MentionKind::File, lines)], "{question}");
        };
        check("src/server.go:642", "src/server.go", Some((642, 642)));
        check("why does `server.go:642-652` fail", "server.go", Some((642, 652)));
        check("crash in bin/run:12", "bin/run", Some((12, 12)));
        check("crash in server.go", "server.go", None);
    }

    #[test]
    fn mentions_have_kind_and_confidence() {
        check("what does `open` do", &[("open", "code", 90)]);
        check("classes in auth.py", &[("auth.py", "file", 95)]);
        check("fix src/net/tcp.rs", &[("src/net/tcp.rs", "file", 95)]);
        check("the UserService class", &[("UserService", "class", 70)]);
        check("S3Store and Http2Client", &[("S3Store", "class", 70), ("Http2Client", "class", 70)]);
        check("base64Encode in ipv4_parse", &[("base64Encode", "symbol", 60), ("ipv4_parse", "symbol", 60)]);
        check("why does render() fail", &[("render", "function", 60)]);
        check("find handleAuthError", &[("handleAuthError", "symbol", 60)]);
        check("get_user and Parser::parse", &[("get_user", "symbol", 60), ("Parser::parse", "symbol", 60)]);
        check("find the ADR-025 document", &[("ADR-025", "file", 95)]);
        check("files in docs/adr", &[("docs/adr", "directory", 70)]);
        check("\"connection refused\" and `auth.py`", &[("connection refused", "quoted", 80), ("auth.py", "file", 95)]);
        check("UserService and `UserService`", &[("UserService", "code", 90)]);
        check("what calls src/server.py#Server.run", &[("src/server.py#Server.run", "symbol", 60)]);
        check("read and/or write with OAuth2", &[]);
        check("authentication", &[]);
    }
}
