//! Recognises questions that are only the name of a file or directory.

use serde::Serialize;

use crate::identifiers::{is_bare_file, is_document_id, is_file_text, is_word_pair};
use crate::positions::tokens_of;
use crate::symbol::has_only_lead_ins;
use crate::tokens::Token;

/// The name of a file or directory in a question that consists only of this name and optional lead-ins such
/// as "find".
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FileNameQuery {
    pub name: String,
    pub kind: FileNameKind,
    /// The directory that the question states after a glob, in the words of the question: `user guide` in
    /// `*.rst in the user guide`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileNameKind {
    /// A name with an extension, or a known name of a file: `config.json`, `Makefile`.
    FileName,
    /// The beginning of a file name: `Button.test`. Several files may have names with this beginning.
    NameStart,
    /// The number of a document: `ADR-025`.
    DocumentId,
    /// A path: `docs/adr`.
    Path,
    /// A name with wildcards: `*.test.ts`.
    Glob,
}

impl FileNameKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::FileName => "file_name",
            Self::NameStart => "name_start",
            Self::DocumentId => "document_id",
            Self::Path => "path",
            Self::Glob => "glob",
        }
    }
}

pub(crate) fn file_name(tokens: &[Token]) -> Option<FileNameQuery> {
    let is_only = |index: &usize| has_only_lead_ins(tokens, *index);
    let found = (0..tokens.len()).filter(is_only).find_map(|index| Some((index, kind(&tokens[index].text)?)));
    match found {
        Some((index, kind)) => Some(FileNameQuery { name: tokens[index].text.clone(), kind, place: None }),
        None => glob_in_a_place(tokens),
    }
}

/// A glob that is followed by the words of a directory.
fn glob_in_a_place(tokens: &[Token]) -> Option<FileNameQuery> {
    /// Maximum number of words of a directory.
    const MAX_WORDS: usize = 4;
    let index = tokens.iter().position(|token| kind(&token.text) == Some(FileNameKind::Glob))?;
    let (before, after) = (&tokens[..=index], &tokens[index + 1..]);
    let [preposition, place @ ..] = after else { return None };
    let is_stated = preposition.is_any(&["in", "under", "of", "from", "inside", "below"]);
    if !is_stated || !has_only_lead_ins(before, index) {
        return None;
    }
    let is_beside = |token: &&Token| !token.is_any(&["the", "our", "directory", "folder", "module"]);
    let words: Vec<&str> = place.iter().filter(is_beside).map(|token| token.text.as_str()).collect();
    let place = (1..=MAX_WORDS).contains(&words.len()).then(|| words.join(" "))?;
    Some(FileNameQuery { name: tokens[index].text.clone(), kind: FileNameKind::Glob, place: Some(place) })
}

/// Whether a text looks like the name or the path of a file, and not like an identifier.
pub fn is_written_like_a_file(text: &str) -> bool {
    kind(text).is_some()
}

/// The word of a question that consists of one word and optional lead-ins such as "find". The spelling of the
/// word does not matter.
pub fn only_word(question: &str) -> Option<String> {
    let tokens = tokens_of(question);
    let index = (0..tokens.len()).rev().find(|index| has_only_lead_ins(&tokens, *index))?;
    Some(tokens[index].text.clone()).filter(|word| !word.contains(char::is_whitespace))
}

fn kind(text: &str) -> Option<FileNameKind> {
    let (outside, groups) = split_groups(text);
    let is_name = outside.chars().all(|c| !c.is_whitespace() && !"()<>:;=\"'|&$#!,".contains(c));
    let are_of_names =
        groups.iter().all(|group| group.chars().all(|c| c.is_alphanumeric() || "._-/+*?,!^".contains(c)));
    if !is_name || !are_of_names || !text.chars().any(char::is_alphanumeric) {
        return None;
    }
    if is_glob(text, &outside, &groups) {
        return Some(FileNameKind::Glob);
    }
    if groups.iter().any(|group| group.contains([',', '!', '^'])) {
        return None;
    }
    if is_document_id(text) && !is_file_text(text) {
        return Some(FileNameKind::DocumentId);
    }
    if text.contains('/') {
        return (!is_word_pair(text)).then_some(FileNameKind::Path);
    }
    if is_file_text(text) {
        let ending = text.rsplit('.').next().unwrap_or(text);
        let is_start = matches!(ending, "test" | "tests" | "spec" | "stories" | "config" | "module" | "d");
        return Some(if is_start { FileNameKind::NameStart } else { FileNameKind::FileName });
    }
    is_bare_file(text).then_some(FileNameKind::FileName)
}

/// Whether a name has wildcards: `*.test.ts`, `config.{json,yaml}`, `main.[ch]`. Brackets elsewhere may be
/// part of a path, as in `pages/[id].tsx`.
fn is_glob(text: &str, outside: &str, groups: &[&str]) -> bool {
    let is_path = text.contains(['.', '/']);
    let has_choice = text.contains('{') && groups.iter().any(|group| group.contains(','));
    let is_extension = outside.ends_with('.') && text.ends_with(']');
    text.contains(['*', '?']) && (is_path || text.contains("**")) || is_path && (has_choice || is_extension)
}

/// The text without its groups in braces and brackets, and the contents of the groups. A brace or bracket
/// without its counterpart remains in the text.
fn split_groups(text: &str) -> (String, Vec<&str>) {
    let (mut outside, mut groups, mut rest) = (String::new(), Vec::new(), text);
    while let Some(open) = rest.find(['{', '[']) {
        let close = if rest[open..].starts_with('{') { '}' } else { ']' };
        let Some(length) = rest[open..].find(close) else { break };
        outside.push_str(&rest[..open]);
        groups.push(&rest[open + 1..open + length]);
        rest = &rest[open + length + 1..];
    }
    outside.push_str(rest);
    (outside, groups)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::tokenize;

    #[test]
    fn names_of_files_are_recognised() {
        use FileNameKind::{DocumentId, FileName, Glob, NameStart, Path};
        for (question, name, kind) in [
            ("ADR-025", "ADR-025", DocumentId),
            ("config.json", "config.json", FileName),
            ("Button.test", "Button.test", NameStart),
            ("docs/adr", "docs/adr", Path),
            ("*.test.ts", "*.test.ts", Glob),
            ("[ab]*.js", "[ab]*.js", Glob),
            ("`config.json`", "config.json", FileName),
            ("src/server.go:642", "src/server.go", Path),
            ("what is at server.go:642-652?", "server.go", FileName),
            ("show me line 642 of server.go", "server.go", FileName),
            ("find config.json", "config.json", FileName),
            ("find the ADR-025 document", "ADR-025", DocumentId),
            ("where is Button.test.tsx?", "Button.test.tsx", FileName),
            ("src/net/tcp.rs", "src/net/tcp.rs", Path),
            ("**/ADR-025*.md", "**/ADR-025*.md", Glob),
            ("*.{ts,tsx}", "*.{ts,tsx}", Glob),
            ("find config.{json,yaml}", "config.{json,yaml}", Glob),
            ("main.[ch]", "main.[ch]", Glob),
            ("src/**/[!a]*.rs", "src/**/[!a]*.rs", Glob),
            ("pages/[id].tsx", "pages/[id].tsx", Path),
            ("[id].tsx", "[id].tsx", FileName),
            ("flake.nix", "flake.nix", FileName),
            ("MANIFEST.in", "MANIFEST.in", FileName),
            ("meson.build", "meson.build", FileName),
            ("Directory.Build.props", "Directory.Build.props", FileName),
            ("Pipfile", "Pipfile", FileName),
            ("WORKSPACE", "WORKSPACE", FileName),
            ("NOTICE", "NOTICE", FileName),
            ("Makefile", "Makefile", FileName),
            (".gitignore", ".gitignore", FileName),
            (
                "docs/adr/ADR-025-User-Experience-Enhancements.md",
                "docs/adr/ADR-025-User-Experience-Enhancements.md",
                Path,
            ),
        ] {
            let expect = FileNameQuery { name: name.to_owned(), kind, place: None };
            assert_eq!(file_name(&tokens_of(question)), Some(expect), "{question}");
        }
    }

    #[test]
    fn globs_may_state_a_place() {
        let check = |question: &str, expect: Option<&str>| {
            let place = file_name(&tokens_of(question)).and_then(|asked| asked.place);
            assert_eq!(place.as_deref(), expect, "{question}");
        };
        check("*.rst in the user guide", Some("user guide"));
        check("find *.rst under the doc folder", Some("doc"));
        check("all *.rst", None);
        check("*.rst without the user guide", None);
        check("how are *.rst in the user guide rendered", None);
    }

    #[test]
    fn names_of_code_differ_from_files() {
        for name in ["config.json", "src/dat.rs", "docs/adr", "ADR-025", "Makefile"] {
            assert!(is_written_like_a_file(name), "{name}");
        }
        for name in ["Server.rnu", "date_parser.parse", "server.run", "src/server.py#Server.run", "run"] {
            assert!(!is_written_like_a_file(name), "{name}");
        }
    }

    #[test]
    fn one_word_after_lead_ins_is_returned() {
        let check = |question: &str, expect: Option<&str>| {
            assert_eq!(only_word(question).as_deref(), expect, "{question}");
        };
        check("makefile", Some("makefile"));
        check("find the file makefile", Some("makefile"));
        check("where is `my.thing`?", Some("my.thing"));
        check("src/server.go:642", Some("src/server.go"));
        check("build the project", None);
        check("", None);
    }

    #[test]
    fn other_questions_are_not_file_names() {
        for question in [
            "classes in auth.py",
            "what imports config.json",
            "Parser.parse",
            "authentication",
            "read/write",
            "net::open",
            "UTF-8",
            "v1.2.3",
            "https://example.com/a.js",
            "render()",
            "items[0]",
            "Map[str,int]",
            "{a,b}",
            "Builder.build",
            "component.props",
            "Workspace",
            "",
        ] {
            assert_eq!(file_name(&tokenize(question)), None, "{question}");
        }
    }
}
