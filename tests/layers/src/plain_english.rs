//! Checks that comments, documents, messages and test names are plain English, as far as a program can.
//!
//! Some words and sentence openers hide the subject of a sentence. They are banned, and so are comment lines
//! over 110 columns. Code in backticks, code blocks, questions and fixtures are exempt.

use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

use crate::manifests::root;

const MAX_COLUMNS: usize = 110;
/// Files that are not checked: inputs and expected outputs of tests, and generated lists of names.
const EXEMPT: &[&str] = &[
    "crates/core/syntax/tests/golden",
    "crates/core/linking/tests/fixtures",
    "crates/core/syntax/test_data",
    "tests/layers/src/plain_english.rs",
    "docs/figures/edges.md",
];

struct Rules {
    words: Regex,
    opener: Regex,
    test_name: Regex,
    code: Regex,
    question: Regex,
    string: Regex,
}

impl Rules {
    fn new() -> Self {
        let regex = |pattern: &str| Regex::new(pattern).expect("a pattern");
        Self {
            words: regex(
                r"(?i)\b(stands?|tells?|told|nobody|whoever|whomever|whosoever)\b|\b(is|are|was|were|be) said\b|\bat the door\b",
            ),
            opener: regex(
                r"(?:^|[.:;!?] +)(Of (?:an?|the)|What (?:is|are|was|were|an?|the|it|no|of|has|had|can|does|did|comes|holds|makes|decides|must|may|will|would|they|its|each|every|one|such|this|that)|Who(?:m|se)?) ",
            ),
            test_name: regex(
                r"^\s*(?:async )?fn (?:(?:what|whom?|whose|whoever|of)_\w+|\w*(?:nobody|whoever|_told|_stands?_|_tells?_|_is_said|_are_said)\w*)\(\)",
            ),
            code: regex(r"`[^`]*`"),
            question: regex(r#"(^|\s)"[^"]*\?""#),
            string: regex(r#""((?:[^"\\]|\\.)*)""#),
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

    fn faults_of_source(&self, text: &str) -> Vec<(usize, String)> {
        let mut faults = Vec::new();
        let mut is_code = false;
        for (index, line) in text.lines().enumerate() {
            let number = index + 1;
            let comment =
                line.trim_start().strip_prefix("//").map(|rest| rest.trim_start_matches(['/', '!']).trim_start());
            let Some(comment) = comment else {
                is_code = false;
                if self.test_name.is_match(line) {
                    faults.push((number, "test name".to_owned()));
                }
                let strings = self.string.captures_iter(line).filter(|found| found[1].contains(' '));
                faults.extend(strings.filter_map(|found| self.fault(&found[1])).map(|fault| (number, fault)));
                continue;
            };
            if comment.starts_with("```") {
                is_code = !is_code;
            } else if !is_code && !comment.starts_with('|') {
                faults.extend(too_long(line).or_else(|| self.fault(comment)).map(|fault| (number, fault)));
            }
        }
        faults
    }

    fn faults_of_document(&self, text: &str) -> Vec<(usize, String)> {
        let mut faults = Vec::new();
        let mut is_code = false;
        for (index, line) in text.lines().enumerate() {
            if line.trim_start().starts_with("```") {
                is_code = !is_code;
            } else if !is_code {
                let length = if line.starts_with('|') { None } else { too_long(line) };
                faults.extend(length.or_else(|| self.fault(line)).map(|fault| (index + 1, fault)));
            }
        }
        faults
    }
}

fn too_long(line: &str) -> Option<String> {
    let columns = line.chars().count();
    (columns > MAX_COLUMNS && !line.contains("http")).then(|| format!("{columns} columns"))
}

/// Returns all Rust sources and Markdown documents of this repository that are not exempt.
pub(crate) fn texts() -> Vec<PathBuf> {
    let root = root();
    let mut found: Vec<PathBuf> = fs::read_dir(&root)
        .expect("the root")
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_file())
        .collect();
    for folder in ["bench", "crates", "demo", "docs", "runbooks", "services", "tests", "training"] {
        collect(&root.join(folder), &mut found);
    }
    let is_text = |path: &Path| path.extension().is_some_and(|extension| extension == "rs" || extension == "md");
    let is_exempt = |path: &Path| EXEMPT.iter().any(|exempt| path.starts_with(root.join(exempt)));
    found.retain(|path| is_text(path) && !is_exempt(path));
    found.sort();
    found
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for path in fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()) {
        if path.is_file() {
            found.push(path);
        } else if path.file_name().is_some_and(|name| name != "target") {
            collect(&path, found);
        }
    }
}

#[test]
fn texts_are_plain() {
    let (rules, root, mut faults) = (Rules::new(), root(), Vec::new());
    let texts = texts();
    assert!(texts.len() > 500, "only {} files were found", texts.len());
    for path in texts {
        let text = fs::read_to_string(&path).unwrap_or_default();
        let is_document = path.extension().is_some_and(|extension| extension == "md");
        let found = if is_document { rules.faults_of_document(&text) } else { rules.faults_of_source(&text) };
        let name = path.strip_prefix(&root).unwrap_or(&path).display();
        faults.extend(found.into_iter().map(|(line, fault)| format!("{name}:{line}: {fault}")));
    }
    assert!(faults.is_empty(), "{} lines are not plain (STYLE: CONTRIBUTING.md):\n{}", faults.len(), faults.join("\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn banned_texts_are_found() {
        let check = |text: &str, expect: &[&str]| {
            let faults: Vec<String> = Rules::new().faults_of_source(text).into_iter().map(|(_, fault)| fault).collect();
            assert_eq!(faults, expect, "{text}");
        };
        check("// The caller's view.", &[]);
        check("/// Who asks.", &["opener `Who`"]);
        check("//! Fine. Of the request, only the name counts.", &["opener `Of the`"]);
        check("/// It tells the caller.", &["word `tells`"]);
        check("/// `tells` is a word in code.", &[]);
        check("/// \"what calls told?\" is a question.", &[]);
        check("let text = \"nobody asks\";", &["word `nobody`"]);
        check("fn what_is_gone_is_told() {", &["test name"]);
        check("fn whole_line() {", &[]);
        check("// ```text\n// nobody\n// ```", &[]);
        check(&format!("// {}", "x".repeat(MAX_COLUMNS)), &["113 columns"]);
    }

    #[test]
    fn tables_of_documents_may_be_wide() {
        let long = "x".repeat(200);
        let faults = Rules::new().faults_of_document(&format!("| {long} |\n{long}\n```\n{long}\n```"));
        assert_eq!(faults, [(2, "200 columns".to_owned())]);
    }
}
