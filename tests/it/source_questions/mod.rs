//! Asks the questions in the requirements of Cairn, and compares the answers with the page
//! `docs/source-questions.md`. The repository contains the code and documents that the questions are about.
//!
//! `scripts/source-questions` writes the page.

mod expectation;
mod page;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use self::expectation::Expectation;
use crate::harness::Index;

const QUESTIONS: &str = include_str!("questions.txt");

/// A question, with the answer that is expected.
struct ListedQuestion<'a> {
    /// The words of the command before the question.
    command: Vec<&'a str>,
    question: &'a str,
    expected: Expectation<'a>,
}

impl<'a> ListedQuestion<'a> {
    /// Reads a line of the list; None for an empty line and for a comment.
    fn read(line: &'a str) -> Option<Self> {
        let (asked, expected) = line.rsplit_once(" => ").filter(|_| !line.starts_with('#'))?;
        let (command, question) = match asked.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
            Some((command, question)) => (command.split(' ').collect(), question),
            None => (vec!["search"], asked),
        };
        Some(Self { command, question, expected: Expectation::read(expected) })
    }

    fn answer(&self, index: &Index) -> Value {
        let (name, options) = self.command.split_first().expect("a command");
        let mut words = vec![*name];
        words.extend(options);
        words.extend([self.question, "--json"]);
        let output = index.run(&words);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{words:?}: {error}: {text}"))
    }
}

fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/it/source_questions")
}

/// Copies a directory. The indexed repository must not be inside the working tree of Cairn, so it is copied.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder").flatten() {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            std::fs::copy(&from, &to).expect("a file");
        }
    }
}

#[test]
fn page_of_the_source_questions_is_current() {
    let (root, index) = (tempfile::tempdir().expect("a temporary directory"), Index::new());
    copy(&here().join("repository"), root.path());
    index.json(&["index", &root.path().to_string_lossy(), "--name", "shop"]);
    let (mut text, mut faults, mut asked_before) = (page::HEAD.to_owned(), Vec::new(), BTreeSet::new());
    for line in QUESTIONS.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            text.push_str(&format!("\n## {title}\n"));
        }
        let Some(asked) = ListedQuestion::read(line) else { continue };
        assert!(asked_before.insert((asked.command.clone(), asked.question)), "twice: {line}");
        let answer = asked.answer(&index);
        faults.extend(asked.expected.fault(&answer).map(|fault| format!("{}: {fault}", asked.question)));
        text.push_str(&page::entry(&asked.command, asked.question, &answer));
    }
    assert!(asked_before.len() > 60, "{} questions", asked_before.len());
    let file = here().join("../../../docs/source-questions.md");
    if std::env::var_os("WRITE_SOURCE_QUESTIONS").is_some() {
        std::fs::write(&file, &text).expect("the page");
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    let differs = written.lines().zip(text.lines()).find(|(written, now)| written != now);
    assert!(written == text, "the page is out of date; run scripts/source-questions. First difference: {differs:?}");
}
