//! Finds the names that a text of any language declares.
//!
//! The rules are approximate. They need to be right only in most lines, because the names of many chunks are
//! counted.

use cairn_domain::{ChunkKind, ChunkRecord};

use crate::code_lines::code_lines;

/// Maximum number of names of one text.
const MAX_NAMES: usize = 32;
/// Keywords that are directly before a declared name.
const DECLARING: [&str; 21] = [
    "class",
    "const",
    "def",
    "defmacro",
    "defmodule",
    "defp",
    "enum",
    "fn",
    "fun",
    "func",
    "function",
    "interface",
    "macro_rules",
    "module",
    "object",
    "protocol",
    "record",
    "struct",
    "sub",
    "trait",
    "type",
];
/// Keywords that may be before the keyword of a declaration.
const MODIFIERS: [&str; 20] = [
    "abstract",
    "async",
    "data",
    "default",
    "export",
    "extern",
    "final",
    "inline",
    "internal",
    "local",
    "open",
    "override",
    "private",
    "protected",
    "pub",
    "public",
    "sealed",
    "static",
    "suspend",
    "unsafe",
];
/// Keywords of statements. A line that begins with such a keyword declares nothing.
const STATEMENTS: [&str; 20] = [
    "await", "case", "catch", "do", "elif", "else", "except", "for", "foreach", "guard", "if", "loop", "match",
    "return", "switch", "throw", "try", "unless", "when", "while",
];

/// Whether a chunk contains code.
pub(crate) fn is_code(chunk: &ChunkRecord) -> bool {
    matches!(
        chunk.kind,
        ChunkKind::Function | ChunkKind::Method | ChunkKind::Class | ChunkKind::Group | ChunkKind::Summary
    )
}

/// The names that the lines of a text declare, without duplicates, in the order of the text.
pub(crate) fn declared_names(text: &str) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    for name in code_lines(text).filter_map(declared_name) {
        if found.len() < MAX_NAMES && !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

fn declared_name(line: &str) -> Option<&str> {
    name_after_keyword(line).or_else(|| name_before_parameters(line))
}

/// The name in a line such as `pub fn open_file(` or `export class FileReader`.
fn name_after_keyword(line: &str) -> Option<&str> {
    let mut rest = line.trim_start();
    loop {
        let (word, after) = first_word(rest)?;
        if DECLARING.contains(&word) {
            return name_at(after);
        }
        if !MODIFIERS.contains(&word) {
            return None;
        }
        // A modifier may have an argument: `pub(crate)`.
        rest = without_group(after.trim_start());
    }
}

/// The name at the start of a text. The name may follow a receiver, as in Go (`func (file *File) Open`), or
/// the name of an owner (`def self.open`).
fn name_at(text: &str) -> Option<&str> {
    let (mut word, mut after) = first_word(without_group(text.trim_start_matches([' ', '\t', '!', '*'])))?;
    while let Some(rest) = after.strip_prefix('.').or_else(|| after.strip_prefix("::")) {
        (word, after) = first_word(rest)?;
    }
    // Some declarations have two keywords: `enum class Color`.
    if DECLARING.contains(&word) { name_at(after) } else { Some(word) }
}

/// The text after the parentheses at its start.
fn without_group(text: &str) -> &str {
    match text.strip_prefix('(').and_then(|text| text.split_once(')')) {
        Some((_, after)) => after.trim_start(),
        None => text,
    }
}

/// The name in a line such as `public void openFile(String path) {`, which begins a body and has no keyword
/// such as `fn` directly before the name.
fn name_before_parameters(line: &str) -> Option<&str> {
    let line = line.trim();
    let head = line.strip_suffix('{')?.split_once('(').filter(|_| is_closed(line))?.0.trim_end();
    let is_plain = |character: char| is_part_of_name(character) || " \t<>,[]*&:~".contains(character);
    let (first, _) = first_word(head)?;
    if !head.chars().all(is_plain) || STATEMENTS.contains(&first) {
        return None;
    }
    head.rsplit(|character: char| !is_part_of_name(character)).next().filter(|name| !name.is_empty())
}

/// Whether each parenthesis in the line is closed. The call of a function that gets a callback also ends with
/// `{`, but its parenthesis remains open: `setTimeout(() => {`.
fn is_closed(line: &str) -> bool {
    line.matches('(').count() == line.matches(')').count()
}

/// The name at the start of a text, and the text after it.
fn first_word(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|character: char| !is_part_of_name(character)).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

fn is_part_of_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_' || character == '$'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_of_many_languages_have_names() {
        let check = |text: &str, expect: &[&str]| assert_eq!(declared_names(text), expect, "{text}");
        check("pub(crate) async fn open_file(path: &str) {\n    read(path)\n}", &["open_file"]);
        check("def open_file(path):\n    return read(path)\n\nclass FileReader(Base):", &["open_file", "FileReader"]);
        check("def self.open_file", &["open_file"]);
        check("func (file *File) OpenFile() error {", &["OpenFile"]);
        check("export default function openFile() {", &["openFile"]);
        check("const openFile = () => {", &["openFile"]);
        check("public static List<File> openFiles(String path) {", &["openFiles"]);
        check("int open_file(const char *path) {", &["open_file"]);
        check("handleClick(event) {", &["handleClick"]);
        check("function M.open_file(path)", &["open_file"]);
        check("macro_rules! open_all {", &["open_all"]);
        check("enum class FileKind {", &["FileKind"]);
        check("defp open_file(path) do", &["open_file"]);
    }

    #[test]
    fn statements_declare_nothing() {
        let check = |text: &str| assert_eq!(declared_names(text), [""; 0], "{text}");
        check("if (is_open(file)) {");
        check("} else if (is_open(file)) {");
        check("for name in all_names(file) {");
        check("match open_file(path) {");
        check("setTimeout(() => {");
        check("useEffect(function () {");
        check("open_file(path)");
        check("let file = open_file(path);");
        check("type(open_file)");
        check("record = open_file(path)");
        check("module.exports = open_file");
        check("# def open_file(path):");
        check("größe(open_file) {");
    }
}
