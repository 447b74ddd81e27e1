//! Recognises generated files by a marker in the head, and minified files by the length of their lines.

use cairn_domain::RepoPath;
use memchr::memchr;
use memchr::memmem::Finder;
use memchr::memrchr;

/// The treatment of generated and minified files.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum GeneratedPolicy {
    /// Recorded as `skipped(generated)`.
    #[default]
    Skip,
    /// Indexed, but ranked low.
    KeepLowWeight,
}

/// The head in which a marker counts: at most this many bytes, and at most this many lines of code.
const HEAD_BYTES: usize = 4 * 1024;
const HEAD_CODE_LINES: usize = 3;

/// A longer line is long. Scripts and style sheets have shorter lines than prose and data.
const LONG_LINE_BYTES: usize = 5_000;
const LONG_SCRIPT_LINE_BYTES: usize = 1_000;

/// The beginnings of comment lines in the languages that Cairn supports.
const COMMENT_LEADERS: &[&str] = &[
    "//", "#", "/*", "*", "--", ";", "<!--", "%", "\"\"\"", "'''", "{-", "(*", "@rem", "@REM", "rem ", "REM ", "dnl ",
];

/// Pairs that open and close a comment of several lines.
const BLOCKS: &[(&str, &str)] =
    &[("/*", "*/"), ("<!--", "-->"), ("\"\"\"", "\"\"\""), ("'''", "'''"), ("{-", "-}"), ("(*", "*)")];

/// Documents: they may mention their generator, and are written to be read.
const DOCUMENTS: &[&str] = &["md", "markdown", "mdx", "rst", "adoc", "txt", "org"];

/// Manifests of packages: they name the packages that a repository publishes and needs, even if a tool
/// rewrote them.
const MANIFESTS: &[&str] = &[
    "Cargo.toml",
    "package.json",
    "go.mod",
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "composer.json",
    "mix.exs",
];

/// The part of a path that `is_generated` depends on.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Kind {
    Manifest,
    Other { extension: String },
}

pub(crate) fn kind_of(path: &RepoPath) -> Kind {
    if MANIFESTS.contains(&path.file_name()) {
        return Kind::Manifest;
    }
    Kind::Other { extension: path.extension() }
}

/// Whether a tool wrote the file.
///
/// By marker: a comment within the head contains `@generated` or `DO NOT EDIT`, begins with `Code generated
/// by` or similar, or states that the file is generated and must not be edited. A marker in quotes or
/// backticks does not count. In documents only `@generated` counts. Manifests of packages are never
/// generated.
///
/// By lines: more than half of the bytes are in lines of over 5,000 bytes (1,000 for scripts and style
/// sheets). Notebooks always have long lines and are never minified.
pub(crate) fn is_generated(path: &RepoPath, text: &str) -> bool {
    let Kind::Other { extension } = kind_of(path) else { return false };
    let is_marker = if DOCUMENTS.contains(&extension.as_str()) { is_plain_marker } else { is_any_marker };
    has_marker(text, is_marker) || is_minified(&extension, text)
}

fn has_marker(text: &str, is_marker: fn(&str) -> bool) -> bool {
    let head = &text.as_bytes()[..text.len().min(HEAD_BYTES)];
    if !may_have_marker(head) {
        return false;
    }
    // The cut can only break the last character of the head. No marker has that character.
    let head = String::from_utf8_lossy(head);
    let (mut block_end, mut code_lines) = (None, 0);
    for line in head.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let opened = BLOCKS.iter().find(|(open, _)| line.starts_with(open));
        let is_comment = block_end.is_some() || COMMENT_LEADERS.iter().any(|leader| line.starts_with(leader));
        if is_comment && is_marker(line) {
            return true;
        }
        if !is_comment {
            code_lines += 1;
            if code_lines > HEAD_CODE_LINES {
                return false;
            }
        }
        block_end = match (block_end, opened) {
            (Some(end), _) => Some(end).filter(|end| !line.contains(end)),
            (None, Some((open, end))) => Some(*end).filter(|end| !line[open.len()..].contains(end)),
            (None, None) => None,
        };
    }
    false
}

/// A quick test that nearly every file fails, so that few files are read line by line.
fn may_have_marker(head: &[u8]) -> bool {
    ["enerated", "DO NOT EDIT", "ENERATED"].iter().any(|word| Finder::new(word).find(head).is_some())
}

fn is_plain_marker(line: &str) -> bool {
    is_alone(line, "@generated")
}

fn is_any_marker(line: &str) -> bool {
    if is_plain_marker(line) || is_alone(line, "DO NOT EDIT") {
        return true;
    }
    let lower = line.to_ascii_lowercase();
    let says_generated = lower.contains("generated") && !lower.contains('`');
    let forbids_edits = ["do not edit", "do not modify", "don't edit", "not be edited", "changes will be lost"]
        .iter()
        .any(|phrase| lower.contains(phrase));
    let content = lower.trim_start_matches(|character: char| !character.is_alphanumeric() && character != '<');
    let names_tool = TOOL_PHRASES.iter().any(|phrase| content.starts_with(phrase));
    (says_generated && forbids_edits) || names_tool
}

/// The beginnings of notes that tools write into generated files. In the middle of a sentence the same words
/// are prose.
const TOOL_PHRASES: &[&str] = &[
    "code generated by ",
    "code generated from ",
    "automatically generated by ",
    "auto-generated by ",
    "autogenerated by ",
    "<auto-generated",
    "this file was generated by ",
    "this file was automatically generated ",
    "this file has been automatically generated ",
    "this file is automatically generated ",
    "this code was generated by ",
];

/// Whether the line contains the marker as a separate word, not in quotes or backticks.
fn is_alone(line: &str, marker: &str) -> bool {
    let Some(start) = line.find(marker) else { return false };
    let before = line[..start].chars().next_back();
    let after = line[start + marker.len()..].chars().next();
    let is_quote = |character: char| matches!(character, '`' | '\'' | '"' | '“' | '‘');
    let word = |character: char| character.is_alphanumeric() || character == '_';
    let triple = line[..start].ends_with("\"\"\"") || line[..start].ends_with("'''");
    !before.is_some_and(|character| word(character) || (is_quote(character) && !triple)) && !after.is_some_and(word)
}

fn is_minified(extension: &str, text: &str) -> bool {
    let limit = match extension {
        "ipynb" => return false,
        "js" | "mjs" | "cjs" | "jsx" | "css" => LONG_SCRIPT_LINE_BYTES,
        _ => LONG_LINE_BYTES,
    };
    bytes_in_long_lines(text.as_bytes(), limit) * 2 > text.len()
}

/// Looks at about one byte in `limit`: if each window of that length has a line end, no line in it is long.
fn bytes_in_long_lines(bytes: &[u8], limit: usize) -> usize {
    let (mut start, mut long) = (0, 0);
    while bytes.len() - start > limit {
        if let Some(end) = memrchr(b'\n', &bytes[start..=start + limit]) {
            start += end + 1;
            continue;
        }
        let end = memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |end| start + end + 1);
        long += end - start;
        start = end;
    }
    long
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn generated(name: &str, text: &str) -> bool {
        is_generated(&RepoPath::parse(name).expect("path"), text)
    }

    fn check(text: &str, expect: bool) {
        assert_eq!(generated("file.rs", text), expect, "{text}");
    }

    #[test]
    fn markers_in_the_head_are_found() {
        check("// Code generated by protoc-gen-go. DO NOT EDIT.\n\npackage pb\n", true);
        check("# @generated\nx = 1\n", true);
        check("/**\n * @generated SignedSource<<abc>>\n */\n", true);
        check("/*\n   DO NOT EDIT\n*/\nint x;\n", true);
        check("# -*- coding: utf-8 -*-\n# Generated by the protocol buffer compiler.  DO NOT EDIT!\n", true);
        check("// <auto-generated>\n//   This code was generated by a tool.\n", true);
        check("<?php\n// This file is auto-generated, do not edit.\n", true);
        check("\"\"\"DO NOT EDIT\"\"\"\n", true);
        check("<!-- This page is generated; do not modify it. -->\n<p>", true);
        check(&format!("{}# @generated\n", "# License text of usual length.\n".repeat(40)), true);
        check("-- Automatically generated by sqlgen\nSELECT 1;\n", true);
    }

    #[test]
    fn quoted_markers_do_not_count() {
        check("//! Finds `@generated` and `DO NOT EDIT` in files.\n", false);
        check("// Skips files with \"Code generated by \" in them.\n", false);
        check("let marker = \"@generated\";\n", false);
        check("# Values are generated on demand.\n", false);
        check("a\nb\nc\nd\n# @generated\n", false);
        check("// user@generated.example\n", false);
        check(&format!("{}// @generated\n", "// x\n".repeat(2_000)), false);
        check("DO NOT EDIT the headings of this page.\n", false);
        check("// Include code generated by `meta/gen.rs`. It has the settings.\n", false);
    }

    #[test]
    fn documents_and_manifests_are_kept() {
        let check = |name: &str, text: &str, expect: bool| assert_eq!(generated(name, text), expect, "{name}: {text}");
        check("README.md", "<!-- DO NOT EDIT THIS FILE. It is generated from the sources. -->\n# Title\n", false);
        check("api.md", "<!-- @generated -->\n# Title\n", true);
        check("Cargo.toml", "# THIS FILE IS AUTOMATICALLY GENERATED BY CARGO\n# do not edit\n", false);
        check("config.toml", "# THIS FILE IS AUTOMATICALLY GENERATED, do not edit\n", true);
    }

    #[test]
    fn minified_files_have_long_lines() {
        let check = |extension: &str, text: &str, expect: bool| {
            assert_eq!(generated(&format!("f.{extension}"), text), expect, "{extension} of {} bytes", text.len());
        };
        let long = |length: usize| "a=1;".repeat(length / 4);
        check("js", &long(2_000), true);
        check("js", &format!("/* licence */\n{}\n", long(5_000)), true);
        check("rs", &long(2_000), false);
        check("rs", &long(1 << 20), true);
        check("js", &format!("{}{}", "let x = 1;\n".repeat(500), long(2_000)), false);
        check("md", &"A paragraph in one line. ".repeat(100), false);
        check("ipynb", &long(100_000), false);
        check("py", "", false);
    }

    proptest! {
        #[test]
        fn long_lines_are_counted_exactly(lengths in prop::collection::vec(0usize..40, 0..40), limit in 1usize..30) {
            let text: String = lengths.iter().map(|length| "x".repeat(*length) + "\n").collect();
            // A line is long if text and line end together exceed the limit by more than the line end.
            let expect: usize = lengths.iter().filter(|length| **length > limit).map(|length| length + 1).sum();
            prop_assert_eq!(bytes_in_long_lines(text.as_bytes(), limit), expect);
        }
    }
}
