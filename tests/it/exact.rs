//! Checks exact search over real indexes: after any sequence of changes, the search finds the same lines as a
//! scan of the redacted files, and finds no secret.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use cairn_testkit::work_tree::{commit, repository, write};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::Value;

use crate::harness::{Index, seed};

/// The lines with hits on all pages, as `PATH:LINE:text`.
fn hits(index: &Index, arguments: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let mut all = [&["grep"], arguments, &["--json"]].concat();
        if let Some(cursor) = &cursor {
            all.extend(["--cursor", cursor]);
        }
        let output = index.run(&all);
        let answer: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{arguments:?}: {}", String::from_utf8_lossy(&output.stderr)));
        for file in answer["matching_files"].as_array().expect("files") {
            let lines = file["lines"].as_array().expect("lines").iter().filter(|line| line["is_hit"] == true);
            let path = file["path"].as_str().expect("a path");
            found.extend(lines.map(|line| format!("{path}:{}:{}", line["line"], line["text"].as_str().expect("text"))));
        }
        // With `-U`, one hit may have several lines, so the number of hits is not compared with the number of
        // lines.
        let num_hits = if arguments.contains(&"-U") {
            found.len() as u64
        } else {
            answer["num_results"].as_u64().expect("a number")
        };
        assert!(num_hits >= found.len() as u64);
        match answer["next_cursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => {
                assert_eq!((answer["is_exact"].as_bool(), Some(num_hits)), (Some(true), Some(found.len() as u64)));
                return found;
            }
        }
    }
}

/// The lines of the files that contain the text.
fn scanned(files: &BTreeMap<String, String>, text: &str) -> Vec<String> {
    let lines = files
        .iter()
        .flat_map(|(path, content)| (1..).zip(content.lines()).map(move |(number, line)| (path, number, line)));
    lines
        .filter(|(_, _, line)| line.contains(text))
        .map(|(path, number, line)| format!("{path}:{number}:{line}"))
        .collect()
}

const WORDS: [&str; 9] = ["alpha", "beta_two", "Gamma", "δέλτα", "(x)", "zéro", "return", "=>", "tail"];

fn random_text(random: &mut StdRng) -> String {
    let line = |random: &mut StdRng| {
        let words = (0..random.random_range(0..6)).map(|_| WORDS[random.random_range(0..WORDS.len())]);
        words.collect::<Vec<_>>().join(" ")
    };
    (0..random.random_range(1..40)).map(|_| line(random) + "\n").collect()
}

fn apply(root: &Path, files: &mut BTreeMap<String, String>, random: &mut StdRng) {
    for _ in 0..random.random_range(1..4) {
        let path = format!("src/d{}/f{}.txt", random.random_range(0..3), random.random_range(0..6));
        if random.random_bool(0.25) {
            if files.remove(&path).is_some() {
                fs::remove_file(root.join(&path)).expect("removed");
            }
        } else {
            let text = random_text(random);
            write(root, &path, &text);
            files.insert(path, text);
        }
    }
}

#[test]
fn search_of_changed_trees_finds_the_same_lines_as_a_scan() {
    let mut random = StdRng::seed_from_u64(seed());
    let directory = repository();
    let (root, index) = (directory.path(), Index::new());
    let mut files = BTreeMap::from([("src/first.txt".to_owned(), "alpha\n".to_owned())]);
    write(root, "src/first.txt", "alpha\n");
    for _ in 0..12 {
        apply(root, &mut files, &mut random);
        commit(root, "change");
        index.index(root);
        for text in ["alpha", "beta_two Gamma", "δέλτα", "(x)", "é", "=> tail", "absent"] {
            let found = hits(&index, &["-F", text, "-n", "7"]);
            assert_eq!(found, scanned(&files, text), "{text}");
        }
    }
    index.ok(&["doctor"]);
}

#[test]
fn exact_search_finds_no_secrets_and_obeys_its_filters() {
    let directory = repository();
    let root = directory.path();
    write(root, "settings.py", "aws = \"AKIAIOSFODNN7EXAMPLF\"\nname = \"demo\"\n");
    write(root, "tests/test_settings.py", "def test_name():\n    assert name == 'demo'\n");
    commit(root, "first");
    let index = Index::new();
    index.index(root);
    assert_eq!(hits(&index, &["AKIAIOSFODNN7"]), [] as [&str; 0]);
    assert_eq!(hits(&index, &["REDACTED"]).len(), 1);
    assert_eq!(hits(&index, &["demo", "--tests", "exclude"]), ["settings.py:2:name = \"demo\""]);
    assert_eq!(hits(&index, &["-U", "name\\(\\):\\s+assert"]).len(), 2);
    let other = repository();
    write(other.path(), "a.py", "name = 'demo'\n");
    commit(other.path(), "first");
    index.ok(&["index", &other.path().to_string_lossy(), "--name", "a"]);
    assert_eq!(hits(&index, &["-w", "demo", "--repo", "all"])[0], "a.py:1:name = 'demo'");
    index.ok(&["remove", "a"]);
    assert_eq!(hits(&index, &["-w", "demo", "--repo", "all"]).len(), 2);
}
