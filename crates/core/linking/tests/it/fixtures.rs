//! Runs the fixtures in `test_data/`. Each fixture is one text file. A fixture contains the files of a small
//! repository and the edges that linking must find.
//!
//! ```text
//! An optional sentence that explains the case.
//! //- path/of/a/file.py
//! …its text…
//! //- edges CALLS IMPORTS
//! file.py:3 caller CALLS other.py:callee exact
//! ```
//!
//! A section `edges KIND…` lists all edges of the given kinds. A fixture may have several `edges` sections.

use std::fs;
use std::path::{Path, PathBuf};

use cairn_domain::EdgeKind;

use crate::support::{lines, link_parsed, parse};

/// A parsed fixture.
struct Fixture {
    /// The path and the text of each file.
    files: Vec<(String, String)>,
    /// The kinds of each `edges` section, and the edges that the section lists.
    expected: Vec<(Vec<EdgeKind>, Vec<String>)>,
}

impl Fixture {
    fn parse(text: &str) -> Result<Fixture, String> {
        let mut fixture = Fixture { files: Vec::new(), expected: Vec::new() };
        let sections = text.split_inclusive('\n').fold(Vec::<(&str, String)>::new(), |mut sections, line| {
            match (line.strip_prefix("//- "), sections.last_mut()) {
                (Some(header), _) => sections.push((header.trim_end(), String::new())),
                (None, Some((_, body))) => body.push_str(line),
                // The line belongs to the sentence that explains the case.
                (None, None) => {}
            }
            sections
        });
        for (header, body) in sections {
            match header.strip_prefix("edges ") {
                Some(kinds) => {
                    let kinds: Option<Vec<EdgeKind>> = kinds.split(' ').map(edge_kind).collect();
                    let kinds = kinds.ok_or_else(|| format!("`{header}` names an unknown kind of edge"))?;
                    fixture.expected.push((kinds, body.lines().map(str::to_owned).collect()));
                }
                None => fixture.files.push((header.to_owned(), body)),
            }
        }
        let is_complete = !fixture.files.is_empty() && !fixture.expected.is_empty();
        is_complete.then_some(fixture).ok_or_else(|| "needs a file and a section `//- edges KIND…`".to_owned())
    }

    /// The differences between the found edges and the expected edges, as lines for the message of a failed
    /// test.
    fn differences(&self) -> Vec<String> {
        let files: Vec<(&str, &str)> = self.files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let linked = link_parsed(&parse(&files));
        self.expected.iter().flat_map(|(kinds, expected)| compare(&lines(&linked, kinds), expected)).collect()
    }
}

fn edge_kind(name: &str) -> Option<EdgeKind> {
    EdgeKind::ALL.iter().copied().find(|kind| kind.as_str() == name)
}

/// Compares two lists of edges. Each edge must occur the same number of times in both lists.
fn compare(found: &[String], expected: &[String]) -> Vec<String> {
    let mut missing = expected.to_vec();
    let mut differences = Vec::new();
    for line in found {
        match missing.iter().position(|other| other == line) {
            Some(index) => _ = missing.remove(index),
            None => differences.push(format!("  unexpected: {line}")),
        }
    }
    differences.extend(missing.iter().map(|line| format!("  missing:    {line}")));
    differences
}

fn fixtures() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("test_data");
    let languages = fs::read_dir(folder).expect("readable").map(|entry| entry.expect("readable").path());
    let mut paths: Vec<PathBuf> = languages
        .flat_map(|language| fs::read_dir(language).expect("test_data must contain one folder for each language"))
        .map(|entry| entry.expect("readable").path())
        .collect();
    paths.sort();
    paths
}

#[test]
fn fixtures_link_to_the_expected_edges() {
    let paths = fixtures();
    assert!(paths.len() >= 73, "only {} fixtures", paths.len());
    let mut failures = Vec::new();
    for path in &paths {
        let text = fs::read_to_string(path).expect("readable");
        let differences = Fixture::parse(&text).map_or_else(|error| vec![error], |fixture| fixture.differences());
        if !differences.is_empty() {
            failures.push(format!("{}:\n{}", path.display(), differences.join("\n")));
        }
    }
    assert!(failures.is_empty(), "{} of {} fixtures:\n{}", failures.len(), paths.len(), failures.join("\n"));
}

#[test]
fn every_linked_language_has_a_fixture() {
    let used: Vec<String> = fixtures().iter().flat_map(|path| languages_of(path)).collect();
    for row in cairn_languages::languages().iter().filter(|row| row.grammar.is_some()) {
        assert!(used.iter().any(|name| name == row.name), "no fixture contains a file in {}", row.name);
    }
}

fn languages_of(fixture: &Path) -> Vec<String> {
    let fixture = Fixture::parse(&fs::read_to_string(fixture).expect("readable")).expect("valid");
    fixture.files.iter().map(|(path, text)| crate::support::Parsed::new(path, text).facts.language).collect()
}

#[test]
fn differences_list_missing_and_unexpected_edges() {
    let text = "//- a.py\ndef f(): pass\ndef g(): f()\n//- edges CALLS\na.py:2 g CALLS a.py:h exact\n";
    let expected = ["  unexpected: a.py:2 g CALLS a.py:f exact", "  missing:    a.py:2 g CALLS a.py:h exact"];
    assert_eq!(Fixture::parse(text).expect("valid").differences(), expected);
    assert!(Fixture::parse("//- a.py\n//- edges SHOUTS\n").is_err(), "an unknown kind");
    assert!(Fixture::parse("//- a.py\n").is_err(), "no edges");
}
