//! Reads names in code spans: the files and symbols that a document mentions, and the files that the document
//! lists as entry points.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use cairn_domain::Mention;
use cairn_languages::languages;

use super::blocks::Block;
use super::inline::code_spans;
use super::outline::{Outline, RowKind};
use crate::chunker::Lines;

const LONGEST_MENTION: usize = 200;
/// The maximum number of mentions. A document with more mentions is probably only a list of names, so further
/// mentions are left out.
const MOST_MENTIONS: usize = 5_000;

/// Extensions of files in formats without a grammar. Extensions such as `log` and `text` are not included,
/// because they are also common names of attributes, as in `console.log`.
const OTHER_EXTENSIONS: [&str; 29] = [
    "adoc", "bat", "cfg", "conf", "css", "csv", "gradle", "html", "ini", "ipynb", "json", "less", "lock", "md", "mk",
    "mod", "proto", "ps1", "rst", "scss", "sql", "svelte", "tf", "toml", "txt", "vue", "xml", "yaml", "yml",
];

/// Extensions of files. A name without a slash is a file if it has one of these extensions. If not, the name
/// is a symbol.
static FILE_EXTENSIONS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    let parsed = languages().iter().filter(|row| row.grammar.is_some()).flat_map(|row| row.extensions);
    OTHER_EXTENSIONS.iter().chain(parsed).copied().collect()
});

#[derive(Default)]
pub(super) struct Mentions {
    pub(super) all: Vec<Mention>,
    pub(super) entry_points: Vec<Mention>,
}

/// The names in the code spans of prose and headings, in order of position.
pub(super) fn find(lines: &Lines<'_>, outline: &Outline, sections: &[Block]) -> Mentions {
    let mut mentions = Mentions::default();
    let mut sections = sections.iter().filter(|section| mentions_entry_points(&section.name)).peekable();
    let mut introduces_list = false;
    for (row, &kind) in outline.rows.iter().enumerate() {
        while sections.next_if(|section| section.rows.end <= row).is_some() {}
        let is_under = sections.peek().is_some_and(|section| section.rows.start <= row);
        let text = lines.row(row);
        if kind == RowKind::Hidden || mentions.all.len() >= MOST_MENTIONS {
            continue;
        }
        let speaks = mentions_entry_points(text);
        introduces_list = (speaks && text.trim_ascii_end().ends_with(':')) || (introduces_list && continues_list(text));
        let is_beside = speaks || introduces_list;
        for span in code_spans(text) {
            let Some(name) = name_of(span) else { continue };
            let mention = Mention { text: name.to_owned(), line: row as u32 + 1 };
            if (is_under || is_beside) && is_file(name) {
                mentions.entry_points.push(mention.clone());
            }
            mentions.all.push(mention);
        }
    }
    mentions
}

/// Whether the text contains "entry point", "entry points", "entrypoint" or "entry-point", in upper or lower
/// case.
fn mentions_entry_points(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr::memchr2_iter(b'e', b'E', bytes).any(|at| {
        let Some(word) = bytes.get(at..at + 5) else { return false };
        let after = &bytes[at + 5..];
        let after = after.strip_prefix(b" ").or(after.strip_prefix(b"-")).unwrap_or(after);
        word.eq_ignore_ascii_case(b"entry") && after.get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"point"))
    })
}

/// Whether the row can belong to a list or table after a row that mentions entry points.
fn continues_list(row: &str) -> bool {
    let text = row.trim_ascii_start();
    text.is_empty()
        || text.len() < row.len()
        || ["- ", "* ", "+ ", "|"].iter().any(|marker| text.starts_with(marker))
        || text.trim_start_matches(|digit: char| digit.is_ascii_digit()).starts_with(". ")
            && text.starts_with(|digit: char| digit.is_ascii_digit())
}

/// The name of the file or symbol in a code span, without call brackets, `./` and line number. None for
/// commands, options, URLs, globs, numbers and other text.
pub(super) fn name_of(span: &str) -> Option<&str> {
    if span.len() > LONGEST_MENTION || span.contains("://") {
        return None;
    }
    let name = match span.split_once('(') {
        Some((name, arguments)) if arguments.ends_with(')') => name,
        Some(_) => return None,
        None => span,
    };
    let name = name.strip_prefix("./").unwrap_or(name);
    let name = match name.rsplit_once(':') {
        Some((file, line)) if is_file(file) && line.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') => file,
        _ => name,
    };
    let is_name_byte = |byte: u8| byte.is_ascii_alphanumeric() || byte >= 0x80 || b"_.:/-#@$".contains(&byte);
    let starts_well =
        name.starts_with(|first: char| first.is_alphanumeric() || matches!(first, '_' | '.' | '/' | '@' | '$'));
    let has_letter = name.bytes().any(|byte| byte.is_ascii_alphabetic() || byte >= 0x80);
    (starts_well && has_letter && name.bytes().all(is_name_byte)).then_some(name)
}

/// Whether the name is a file name: it contains a slash, has a known extension, or is the name of a
/// well-known file without extension.
pub(super) fn is_file(name: &str) -> bool {
    if name.contains('/') {
        return true;
    }
    match name.rsplit_once('.') {
        Some((stem, extension)) => !stem.is_empty() && FILE_EXTENSIONS.contains(extension),
        None => {
            matches!(name, "Makefile" | "Dockerfile" | "Rakefile" | "Gemfile" | "Procfile" | "Jenkinsfile" | "Justfile")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_spans_with_a_name_are_mentions() {
        let check = |span, expect| assert_eq!(name_of(span), expect, "{span}");
        check("src/main.rs", Some("src/main.rs"));
        check("./src/main.rs:12", Some("src/main.rs"));
        check("UserService.get()", Some("UserService.get"));
        check("connect(host, port)", Some("connect"));
        check("std::io::Read", Some("std::io::Read"));
        check("größe", Some("größe"));
        check("cargo build", None);
        check("--flag", None);
        check("https://example.com/a", None);
        check("**/*.rs", None);
        check("42", None);
        check("f(", None);
        check("", None);
    }

    #[test]
    fn files_differ_from_symbols() {
        for file in ["main.py", "server.cjs", "types.d.mts", "app.toml", "src/lib", "Dockerfile", "a.b.ts"] {
            assert!(is_file(file), "{file}");
        }
        for symbol in ["os.path", "main", ".py", "User.name"] {
            assert!(!is_file(symbol), "{symbol}");
        }
    }
}
