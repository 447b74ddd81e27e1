//! Recognises questions that are only the name of a file or directory.

use serde::Serialize;

use crate::identifiers::{is_bare_file, is_document_id, is_file_text, is_word_pair};
use crate::symbol::has_only_lead_ins;
use crate::tokens::Token;

/// The name of a file or directory, if the question consists of this name and at most a lead-in such as
/// "find".
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FileNameQuery {
    pub name: String,
    pub kind: FileNameKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileNameKind {
    /// A name with an ending, or the known name of a file: `config.json`, `Makefile`.
    FileName,
    /// The beginning of the names of several files: `Button.test`.
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
    let (index, kind) =
        (0..tokens.len()).filter(is_only).find_map(|index| Some((index, kind(&tokens[index].text)?)))?;
    Some(FileNameQuery { name: tokens[index].text.clone(), kind })
}

/// Whether a text is written like the name or the path of a file, and not like a name of code.
pub fn is_written_like_a_file(text: &str) -> bool {
    kind(text).is_some()
}

fn kind(text: &str) -> Option<FileNameKind> {
    let is_name = text.chars().all(|character| !character.is_whitespace() && !"()<>:;=\"'|&$#!,".contains(character));
    if !is_name || !text.chars().any(char::is_alphanumeric) {
        return None;
    }
    if text.contains(['*', '?']) && (text.contains(['.', '/']) || text.contains("**")) {
        return Some(FileNameKind::Glob);
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
            ("`config.json`", "config.json", FileName),
            ("find config.json", "config.json", FileName),
            ("find the ADR-025 document", "ADR-025", DocumentId),
            ("where is Button.test.tsx?", "Button.test.tsx", FileName),
            ("src/net/tcp.rs", "src/net/tcp.rs", Path),
            ("**/ADR-025*.md", "**/ADR-025*.md", Glob),
            ("Makefile", "Makefile", FileName),
            (".gitignore", ".gitignore", FileName),
            (
                "docs/adr/ADR-025-User-Experience-Enhancements.md",
                "docs/adr/ADR-025-User-Experience-Enhancements.md",
                Path,
            ),
        ] {
            let expect = FileNameQuery { name: name.to_owned(), kind };
            assert_eq!(file_name(&tokenize(question)), Some(expect), "{question}");
        }
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
    fn other_questions_are_no_file_names() {
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
            "",
        ] {
            assert_eq!(file_name(&tokenize(question)), None, "{question}");
        }
    }
}
