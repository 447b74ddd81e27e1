//! Tests of the search filters `--path` and `--since`. The filter `--since` uses the time at which a file was
//! last changed in the history.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use cairn_testkit::work_tree::{git, repository, write};

use crate::harness::{Index, fresh_fingerprint};

/// Commits all changes. The date of the commit is noon of the given day.
fn commit_on(root: &Path, day: &str) {
    git(root, &["add", "-A"]);
    let date = format!("{day}T12:00:00Z");
    let mut command = Command::new("git");
    command.arg("-C").arg(root).args([
        "-c",
        "user.name=t",
        "-c",
        "user.email=t@example.org",
        "commit",
        "-q",
        "-m",
        "x",
    ]);
    command.env("GIT_COMMITTER_DATE", &date).env("GIT_AUTHOR_DATE", &date);
    assert!(command.status().expect("git starts").success());
}

/// The sorted paths of the hits of a search for `importer` with these filters.
fn found(index: &Index, since: &[&str]) -> Vec<String> {
    let output = index.run(&[&["search", "importer", "--repo", "r", "--json"], since].concat());
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let results = answer["results"].as_array().expect("results").iter();
    let mut paths: Vec<String> = results.map(|result| result["path"].as_str().expect("a path").to_owned()).collect();
    paths.sort();
    paths.dedup();
    paths
}

fn importer(name: &str) -> String {
    format!("def importer_{name}():\n    \"\"\"The importer of {name}.\"\"\"\n    return \"{name}\"\n")
}

#[test]
fn path_filter_takes_files_folders_and_globs() {
    let directory = repository();
    let root = directory.path();
    // Each file has a different text, because equal texts would be combined into one hit.
    for (path, name) in [("src/a.py", "a"), ("src/deep/b.py", "b"), ("other/test_c.py", "c"), ("src.py", "d")] {
        write(root, path, importer(name));
    }
    commit_on(root, "2024-05-06");
    let index = Index::new();
    index.index(root);
    let check = |path: &str, expect: &[&str]| assert_eq!(found(&index, &["--path", path]), expect, "{path}");
    check("src", &["src/a.py", "src/deep/b.py"]);
    check("./src/", &["src/a.py", "src/deep/b.py"]);
    check("src/a.py", &["src/a.py"]);
    check("test_*", &["other/test_c.py"]);
    check("src/**/b.py", &["src/deep/b.py"]);
    check("a.py", &["src/a.py"]);
    check("deep", &[]);
}

#[test]
fn since_restricts_searches_to_recent_changes() {
    let directory = repository();
    let root = directory.path();
    write(root, "old.py", importer("old"));
    commit_on(root, "2020-03-01");
    write(root, "new.py", importer("new"));
    commit_on(root, "2024-05-06");
    let index = Index::new();
    index.index(root);
    assert_eq!(found(&index, &[]), ["new.py", "old.py"]);
    assert_eq!(found(&index, &["--since", "2020-03-01"]), ["new.py", "old.py"]);
    assert_eq!(found(&index, &["--since", "2020-03-02"]), ["new.py"]);
    assert_eq!(found(&index, &["--since", "7d"]), [""; 0]);
    let why = index.json(&["coverage", "r", "--why", "old.py"]);
    assert_eq!(why["changed_at"], "2020-03-01T12:00:00Z");
    // An edited, uncommitted file is treated as changed at the time of indexing.
    write(root, "old.py", importer("old") + "\n\nlater = 1\n");
    index.index(root);
    assert_eq!(found(&index, &["--since", "7d"]), ["old.py"]);
    assert_eq!(index.json(&["coverage", "r", "--why", "old.py"])["changed_at"], Value::Null);
    commit_on(root, "2024-06-07");
    index.index(root);
    assert_eq!(found(&index, &["--since", "2024-05-07"]), ["old.py"]);
    // The history of the branch `side` does not contain the later change of `old.py`.
    git(root, &["checkout", "-q", "-b", "side", "HEAD~1"]);
    index.index(root);
    assert_eq!(found(&index, &["--since", "2020-03-02"]), ["new.py"]);
    assert_eq!(index.fingerprint(), fresh_fingerprint(root));
}

#[test]
fn files_without_history_match_every_past_since() {
    let directory = tempfile::tempdir().expect("a folder");
    write(directory.path(), "a.py", importer("a"));
    let index = Index::new();
    index.index(directory.path());
    assert_eq!(found(&index, &["--since", "1h"]), ["a.py"]);
    assert_eq!(found(&index, &["--since", "2099-01-01"]), [""; 0]);
    assert_eq!(index.json(&["search", "importer", "--repo", "r"])["results"][0]["changed_at"], Value::Null);
}
