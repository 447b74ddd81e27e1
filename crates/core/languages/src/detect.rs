//! Detects the language of a file. The file's name decides first, then its extension, then its first line. If
//! several languages have the same extension, the file's text decides.

use std::sync::OnceLock;

use cairn_domain::RepoPath;
use rustc_hash::FxHashMap;

use crate::row::LanguageRow;
use crate::table::{by_name, languages};

/// Maps whole file names, extensions and name prefixes to rows. If several rows list the same name, the first
/// row is used.
struct Index {
    file_names: FxHashMap<&'static str, &'static LanguageRow>,
    extensions: FxHashMap<&'static str, &'static LanguageRow>,
    prefixes: Vec<(&'static str, &'static LanguageRow)>,
}

fn index() -> &'static Index {
    static INDEX: OnceLock<Index> = OnceLock::new();
    INDEX.get_or_init(|| {
        let mut index =
            Index { file_names: FxHashMap::default(), extensions: FxHashMap::default(), prefixes: Vec::new() };
        for row in languages() {
            row.file_names.iter().for_each(|name| _ = index.file_names.entry(name).or_insert(row));
            row.extensions.iter().for_each(|extension| _ = index.extensions.entry(extension).or_insert(row));
            index.prefixes.extend(row.file_name_prefixes.iter().map(|prefix| (*prefix, row)));
        }
        index
    })
}

/// Returns the language of a file, or None if the language is unknown. `head` is the first few kilobytes of
/// the content. `head` is read only if the name does not decide.
pub fn language_of(path: &RepoPath, head: &[u8]) -> Option<&'static LanguageRow> {
    let name = path.file_name();
    if let Some(row) = index().file_names.get(name) {
        return Some(row);
    }
    let extension = path.extension();
    if let Some(row) = by_content(&extension, head) {
        return Some(row);
    }
    // The extension decides before the prefix, so `Makefile.py` is Python. `Dockerfile.dev` has no known
    // extension, so its prefix decides.
    let by_extension = || index().extensions.get(extension.as_str()).copied();
    let by_prefix = || index().prefixes.iter().find(|(prefix, _)| name.starts_with(prefix)).map(|(_, row)| *row);
    let by_head = || by_interpreter(head).or_else(|| by_shell_functions(&extension, head));
    by_extension().or_else(by_prefix).or_else(by_head)
}

/// Decides by the text of the file if several languages have the same extension.
fn by_content(extension: &str, head: &[u8]) -> Option<&'static LanguageRow> {
    let has_any = |marks: &[&str]| marks.iter().any(|mark| memchr::memmem::find(head, mark.as_bytes()).is_some());
    let starts_with_any = |marks: &[&str]| {
        let text = head.trim_ascii_start();
        marks.iter().any(|mark| text.starts_with(mark.as_bytes()))
    };
    match extension {
        "h" if has_any(OBJECTIVE_C_MARKS) => by_name("objective-c"),
        "h" if has_any(CPP_MARKS) => by_name("cpp"),
        "m" if has_any(OBJECTIVE_C_MARKS) || has_any(&["#import", "#include"]) => by_name("objective-c"),
        "m" => by_name("matlab"),
        // Translation files of Qt are XML.
        "ts" if starts_with_any(&["<?xml", "<!DOCTYPE TS", "<TS"]) => by_name("xml"),
        "inc" if starts_with_any(&["<?php"]) => by_name("php"),
        "v" if has_any(&["endmodule", "`timescale"]) => by_name("verilog"),
        "pl" if has_any(&[":-"]) && !has_any(&["use strict", "my $", "#!"]) => by_name("prolog"),
        _ => None,
    }
}

const OBJECTIVE_C_MARKS: &[&str] = &["@interface", "@implementation", "@protocol", "@property", "@import "];

/// Texts that identify a C++ header. `extern "C"` is not in this list, because C headers also contain this
/// text inside `#ifdef __cplusplus`.
const CPP_MARKS: &[&str] = &[
    "\nclass ",
    "\nnamespace ",
    "\ntemplate",
    "std::",
    "\nusing ",
    "public:",
    "private:",
    "protected:",
    "constexpr ",
    "nullptr",
    "virtual ",
    "noexcept",
    "operator=",
    "operator(",
    "#include <string>",
    "#include <vector>",
    "#include <memory>",
    "static_cast<",
];

fn by_interpreter(head: &[u8]) -> Option<&'static LanguageRow> {
    let line = head.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?;
    let mut words = line.split_whitespace();
    let mut program = words.next()?.rsplit('/').next()?;
    if program == "env" {
        program = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
        program = program.rsplit('/').next()?;
    }
    let program = program.trim_end_matches(|last: char| last.is_ascii_digit() || last == '.' || last == '-');
    languages().iter().find(|row| row.interpreters.contains(&program))
}

/// Recognises a library of shell functions. Such a file is read by other scripts, so its name often has no
/// extension, and it has no `#!` line.
fn by_shell_functions(extension: &str, head: &[u8]) -> Option<&'static LanguageRow> {
    if !extension.is_empty() {
        return None;
    }
    let lines = || head.split(|byte| *byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok());
    let is_shell_word = |line: &str| {
        let first = line.split_whitespace().next().unwrap_or_default();
        matches!(first.trim_end_matches(';'), "local" | "fi" | "done" | "esac")
    };
    (lines().any(starts_shell_function) && lines().any(is_shell_word)).then(|| by_name("bash")).flatten()
}

/// Whether the line starts the definition of a shell function: `name() {`, `name ()` or `function name {`.
fn starts_shell_function(line: &str) -> bool {
    let (is_marked, rest) = match line.strip_prefix("function ") {
        Some(rest) => (true, rest.trim_start()),
        None => (false, line),
    };
    let is_part = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-' | '.' | ':');
    let after = rest.trim_start_matches(is_part);
    let after_parentheses = after.trim_start().strip_prefix("()").map(str::trim);
    let is_named = after.len() < rest.len();
    let ends = |after: &str| after.is_empty() || after.starts_with('{');
    is_named && after_parentheses.map_or_else(|| is_marked && ends(after.trim()), ends)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, head: &str, expect: Option<&str>) {
        let path = RepoPath::parse(path).expect("valid");
        assert_eq!(language_of(&path, head.as_bytes()).map(|row| row.name), expect, "{path}");
    }

    #[test]
    fn language_is_detected_by_name_or_extension() {
        check("a/b.py", "", Some("python"));
        check("a/b.PYI", "", Some("python"));
        check("x.rs", "", Some("rust"));
        check("x.go", "", Some("go"));
        check("go.mod", "", Some("go-module"));
        check("a.mjs", "", Some("javascript"));
        check("a.jsx", "", Some("javascript"));
        check("a.ts", "", Some("typescript"));
        check("a.d.ts", "", Some("typescript"));
        check("a.tsx", "", Some("tsx"));
        check("a.kts", "", Some("kotlin"));
        check("Dockerfile", "", Some("dockerfile"));
        check("Dockerfile.dev", "", Some("dockerfile"));
        check("docker/Dockerfile.py", "", Some("python"));
        check("Rakefile", "", Some("ruby"));
        check("n.ipynb", "", Some("jupyter-notebook"));
        check("README.md", "", Some("markdown"));
        check("LICENSE", "", Some("text"));
        check("x.zzz", "", None);
        check("noext", "", None);
    }

    #[test]
    fn language_is_detected_by_content() {
        check("x.h", "#include <stdio.h>\nint f(void);\n", Some("c"));
        check("x.h", "#pragma once\nnamespace a {\n", Some("cpp"));
        check("x.h", "@interface Foo : NSObject\n", Some("objective-c"));
        check("x.m", "#import <Foo.h>\n", Some("objective-c"));
        check("x.m", "function y = f(x)\n", Some("matlab"));
        check("x.ts", "<?xml version=\"1.0\"?>", Some("xml"));
    }

    #[test]
    fn language_is_detected_by_interpreter() {
        check("run", "#!/usr/bin/env python3\n", Some("python"));
        check("run", "#!/bin/bash\n", Some("bash"));
        check("run", "#!/usr/bin/env -S FOO=1 node\n", Some("javascript"));
        check("run", "#!/usr/bin/python3.11 -u\n", Some("python"));
        check("run", "#!/usr/bin/unknown\n", None);
        check("run", "#!", None);
        check("run", "#!/usr/bin/env", None);
    }

    #[test]
    fn library_of_shell_functions_is_detected() {
        check("lib/common-functions", "# Copyright\nfunction run_d() {\n    local x=1\n}\n", Some("bash"));
        check("lib/functions", "in_target () {\n  if true; then\n    x\n  fi\n}\n", Some("bash"));
        check("lib/functions", "function exists\n{\n    for x; do y; done\n}\ndone\n", Some("bash"));
        // Only the beginning of a definition is not enough, and other languages look similar.
        check("notes", "run () {\n}\n", None);
        check("notes", "function of the office\nlocal authority\n", None);
        check("notes.txt2", "run() {\n  local x\n}\n", None);
        check("notes", "The call run() { returns.\n  fi\n", None);
    }
}
