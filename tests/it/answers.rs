//! Checks that a hit shows exactly the lines from its `start_line` to its `end_line`.

use std::fs;

use serde_json::Value;

use cairn_testkit::work_tree::write;

use crate::harness::{Index, seed};
use cairn_testkit::Mutation;

#[test]
fn hits_show_the_lines_of_their_spans() {
    let mutation = Mutation::new(seed(), 40);
    let small: String = (0..60).map(|number| format!("\n\n\ndef small_{number}():\n    return {number}\n")).collect();
    write(mutation.root(), "app/small.py", small);
    let index = Index::new();
    index.index(mutation.root());
    let mut num_shown = 0;
    for query in ["small", "load", "parse token", "importer", "fetch user path"] {
        let answer = index.json(&["search", query, "--limit", "40", "--max-tokens", "20000"]);
        for hit in answer["results"].as_array().expect("results") {
            num_shown += usize::from(check(&mutation, hit));
        }
    }
    assert!(num_shown > 40, "{num_shown}");
}

/// Checks the text of a hit against its file. Returns false for a hit whose text is generated (patterns and
/// summaries).
fn check(mutation: &Mutation, hit: &Value) -> bool {
    let (path, text) = (hit["path"].as_str().expect("a path"), hit["text"].as_str().expect("a text"));
    if matches!(hit["kind"].as_str(), Some("pattern" | "summary")) {
        return false;
    }
    let (start, end) = (hit["start_line"].as_u64().expect("a line"), hit["end_line"].as_u64().expect("a line"));
    let file = fs::read_to_string(mutation.root().join(path)).expect("the file");
    let lines: Vec<&str> = file.lines().collect();
    let shown: Vec<&str> = text.lines().collect();
    assert!(shown.len() as u64 <= end - start + 1, "{hit}");
    assert_eq!(lines[start as usize - 1..][..shown.len()], shown, "{hit}");
    true
}
