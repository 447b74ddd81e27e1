//! Checks that comments, documents, messages and test names are plain English, as far as a program can.
//!
//! Some words and sentence openers hide the subject of a sentence. These words and openers are banned.
//! Comment lines with more than 110 columns are banned too. Code in backticks, code blocks, questions and
//! fixtures are exempt.

use std::fs;
use std::path::Path;

use regex::Regex;

use crate::manifests::root;
use crate::prose::{Form, Piece, pieces};

const MAX_COLUMNS: usize = 110;
/// Files that are not checked: inputs and expected outputs of tests, and generated lists of names.
const EXEMPT: &[&str] = &[
    "crates/core/linking/test_data",
    "crates/core/question/data",
    "crates/core/syntax/test_data",
    "crates/core/syntax/tests/golden",
    "docs/figures/edges.md",
    "tests/it/source_questions/repository",
    "tests/layers/src/plain_english.rs",
];
/// Hidden folders with files of the project.
const HIDDEN: &[&str] = &[".ci", ".config"];

struct Rules {
    words: Regex,
    opener: Regex,
    test_name: Regex,
    code: Regex,
    question: Regex,
}

impl Rules {
    fn new() -> Self {
        let regex = |pattern: &str| Regex::new(pattern).expect("a pattern");
        Self {
            words: regex(
                r"(?i)\b(stands?|tells?|told|nobody|whoever|whomever|whosoever)\b|\b(is|are|was|were|be) said\b|\bat the door\b",
            ),
            opener: regex(r"(?:^[\s>-]*|[.:;!?] +)(Of|What|Who(?:m|se)?) "),
            test_name: regex(
                r"^\s*(?:async )?fn (?:(?:what|whom?|whose|whoever|of)_\w+|\w*(?:nobody|whoever|_told|_stands?_|_tells?_|_is_said|_are_said)\w*)\(\)",
            ),
            code: regex(r"`[^`]*`"),
            question: regex(r#"(^|\s)"[^"]*\?""#),
        }
    }

    /// Returns the first fault in a piece of prose.
    fn fault(&self, prose: &str) -> Option<String> {
        let prose = self.code.replace_all(prose, "");
        let prose = self.question.replace_all(&prose, "");
        if let Some(found) = self.words.find(&prose) {
            return Some(format!("word `{}`", found.as_str()));
        }
        let opener = self.opener.captures(&prose).filter(|_| !prose.trim_end().ends_with('?'))?;
        Some(format!("opener `{}`", &opener[1]))
    }

    /// Returns the faults of a file, each with its line.
    fn faults(&self, form: Form, text: &str) -> Vec<(usize, String)> {
        let mut faults: Vec<(usize, String)> = Vec::new();
        let lines: Vec<&str> = text.lines().collect();
        for Piece { line, text, is_comment } in pieces(form, text) {
            // Tables may be wide.
            let is_wide = is_comment && !text.starts_with('|');
            let length = if is_wide { too_long(lines[line - 1]) } else { None };
            // A text without spaces is a key or a name, and its words are not checked.
            let is_prose = is_comment || text.contains(' ');
            let fault = || text.split('\n').filter(|_| is_prose).find_map(|text| self.fault(text));
            faults.extend(length.or_else(fault).map(|fault| (line, fault)));
        }
        if form == Form::Rust {
            let names = lines.iter().enumerate().filter(|(_, line)| self.test_name.is_match(line));
            faults.extend(names.map(|(index, _)| (index + 1, "test name".to_owned())));
        }
        faults
    }
}

fn too_long(line: &str) -> Option<String> {
    let columns = line.chars().count();
    (columns > MAX_COLUMNS && !line.contains("http")).then(|| format!("{columns} columns"))
}

/// A file that people read.
pub(crate) struct Text {
    /// The path relative to the root.
    pub(crate) name: String,
    pub(crate) form: Form,
    pub(crate) text: String,
}

/// Returns all sources, scripts, settings and documents of this repository that are not exempt, sorted by
/// name.
pub(crate) fn texts() -> Vec<Text> {
    let mut found = Vec::new();
    collect(&root(), &root(), &mut found);
    found.sort_by(|left, right| left.name.cmp(&right.name));
    found
}

fn collect(root: &Path, folder: &Path, found: &mut Vec<Text>) {
    for path in fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()) {
        let name = path.strip_prefix(root).expect("below the root").display().to_string();
        let is_hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if EXEMPT.contains(&name.as_str()) || path.is_symlink() {
            continue;
        }
        if path.is_dir() && path.file_name().is_some_and(|name| name != "target" && name != "node_modules") {
            if !is_hidden || HIDDEN.contains(&name.as_str()) {
                collect(root, &path, found);
            }
        } else if let Ok(text) = fs::read_to_string(&path)
            && let Some(form) = Form::of(&path, &text)
        {
            found.push(Text { name, form, text });
        }
    }
}

#[test]
fn texts_are_plain() {
    let (rules, mut faults, mut forms) = (Rules::new(), Vec::new(), Vec::new());
    for Text { name, form, text } in texts() {
        forms.push(form);
        faults.extend(rules.faults(form, &text).into_iter().map(|(line, fault)| format!("{name}:{line}: {fault}")));
    }
    let forms = |form: Form| forms.iter().filter(|other| **other == form).count();
    let num_files = [Form::Rust, Form::Markdown, Form::Python, Form::Comments("#")].map(forms);
    assert!(num_files.into_iter().zip([500, 50, 20, 50]).all(|(num, least)| num > least), "{num_files:?} files");
    assert!(faults.is_empty(), "{} lines are not plain (STYLE: CONTRIBUTING.md):\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn exempt_paths_exist() {
    let missing: Vec<&&str> = EXEMPT.iter().chain(HIDDEN).filter(|path| !root().join(path).exists()).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn banned_texts_are_found() {
        let check = |text: &str, expect: &[&str]| {
            let faults: Vec<String> =
                Rules::new().faults(Form::Rust, text).into_iter().map(|(_, fault)| fault).collect();
            assert_eq!(faults, expect, "{text}");
        };
        check("// The caller's view.", &[]);
        check("/// Who asks.", &["opener `Who`"]);
        check("//! Fine. Of the request, only the name counts.", &["opener `Of`"]);
        check("//! Of every ten files, one is read.", &["opener `Of`"]);
        check("/// What to ask.", &["opener `What`"]);
        check("/// What is asked?", &[]);
        check("f(); // It tells the caller.", &["word `tells`"]);
        check("/// It tells the caller.", &["word `tells`"]);
        check("/// `tells` is a word in code.", &[]);
        check("/// \"what calls told?\" is a question.", &[]);
        check("let text = \"nobody asks\";", &["word `nobody`"]);
        check("let text = \"a text \\\n  that nobody reads\";", &["word `nobody`"]);
        check("let text = \"first line\\nWho asks\";", &["opener `Who`"]);
        check("let text = r\"^nobody$\";", &[]);
        check("fn what_is_gone_is_told() {", &["test name"]);
        check("fn whole_line() {", &[]);
        check("// ```text\n// nobody\n// ```", &[]);
        check(&format!("// {}", "x".repeat(MAX_COLUMNS)), &["113 columns"]);
        check(&format!("{}; // End", "x".repeat(MAX_COLUMNS)), &["118 columns"]);
    }

    #[test]
    fn banned_texts_are_found_in_scripts() {
        let check = |form: Form, text: &str, expect: &[(usize, &str)]| {
            let faults = Rules::new().faults(form, text);
            let faults: Vec<(usize, &str)> = faults.iter().map(|(line, fault)| (*line, fault.as_str())).collect();
            assert_eq!(faults, expect, "{text}");
        };
        let long = "x".repeat(MAX_COLUMNS);
        check(
            Form::Comments("#"),
            &format!("# {long}\nrun {long}\n# Who asks."),
            &[(1, "112 columns"), (3, "opener `Who`")],
        );
        check(Form::Comments("#"), "#!/bin/sh\nrun # It tells the caller.", &[(2, "word `tells`")]);
        check(
            Form::Python,
            &format!("\"\"\"{long}\"\"\"\nadd(help=\"nobody asks\")"),
            &[(1, "116 columns"), (2, "word `nobody`")],
        );
        check(Form::Python, "\"\"\"One.\n\nOf the rest, nothing.\n\"\"\"\n", &[(3, "opener `Of`")]);
    }

    #[test]
    fn tables_of_documents_may_be_wide() {
        let long = "x".repeat(200);
        let faults = Rules::new().faults(Form::Markdown, &format!("| {long} |\n{long}\n```\n{long}\n```"));
        assert_eq!(faults, [(2, "200 columns".to_owned())]);
    }
}
