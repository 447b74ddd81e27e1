//! Checks that an answer comes from a single generation. While commits are indexed, another process queries
//! the index, and every answer must contain exactly one marker.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use cairn_testkit::work_tree::{commit, repository, write};

use crate::harness::{Index, is_soak};

const NUM_FILES: usize = 20;

fn write_marker(root: &std::path::Path, marker: usize) {
    for file in 0..NUM_FILES {
        let text = format!(
            "def marked_{file}():\n    \"\"\"Carries the marker of this state.\"\"\"\n    return \"marker_{marker:04}\"\n"
        );
        write(root, &format!("app/file_{file}.py"), text);
    }
}

/// The markers in a text.
fn markers(text: &str) -> BTreeSet<usize> {
    text.match_indices("marker_").filter_map(|(at, _)| text.get(at + 7..at + 11)?.parse().ok()).collect()
}

fn ask(index: &Index, arguments: &[&str]) -> Option<(Value, String)> {
    let output = index.run(&[arguments, &["--json"]].concat());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    output.status.success().then(|| (serde_json::from_str(&text).expect("JSON"), text))
}

#[test]
fn every_answer_contains_one_marker() {
    let num_commits = if is_soak() { 50 } else { 6 };
    let directory = repository();
    let index = Index::new();
    write_marker(directory.path(), 0);
    commit(directory.path(), "0");
    index.index(directory.path());
    let ended = AtomicBool::new(false);
    let num_answers = std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let (mut newest, mut num_answers) = (0, 0);
            while !ended.load(Ordering::SeqCst) {
                let search = ["search", "carries the marker of this state", "--limit", "50", "--repo", "r"];
                let Some((first, mut text)) = ask(&index, &search) else { panic!("a search failed") };
                let cursor = first["next_cursor"].as_str().map(ToOwned::to_owned);
                // The second page may be fetched after a publication. The second page must still show the
                // state of the first page.
                if let Some(cursor) = cursor {
                    let page = ask(&index, &[&search[..], &["--cursor", &cursor]].concat());
                    text.push_str(&page.expect("a second page").1);
                }
                let seen = markers(&text);
                assert_eq!(seen.len(), 1, "one answer contains several markers: {seen:?}");
                let shown = ask(&index, &["show", "r", "app/file_3.py"]).expect("a file").1;
                let shown = markers(&shown);
                assert_eq!(shown.len(), 1);
                for marker in seen.into_iter().chain(shown) {
                    assert!(
                        marker >= newest,
                        "an answer contains marker {marker} after an answer with marker {newest}"
                    );
                    newest = marker;
                }
                num_answers += 2;
            }
            num_answers
        });
        for marker in 1..=num_commits {
            write_marker(directory.path(), marker);
            commit(directory.path(), &marker.to_string());
            index.index(directory.path());
        }
        ended.store(true, Ordering::SeqCst);
        reader.join().expect("no reader failed")
    });
    println!("{num_answers} answers over {num_commits} commits");
    assert!(num_answers > num_commits);
}

#[test]
fn pages_are_complete_across_a_publication() {
    let directory = repository();
    let index = Index::new();
    write_marker(directory.path(), 0);
    commit(directory.path(), "0");
    index.index(directory.path());
    let page = |cursor: Option<&str>| {
        let mut arguments = vec!["search", "carries the marker of this state", "--limit", "7", "--repo", "r"];
        arguments.extend(cursor.into_iter().flat_map(|cursor| ["--cursor", cursor]));
        ask(&index, &arguments).expect("a page").0
    };
    let mut paths = Vec::new();
    let mut answer = page(None);
    let num_results = answer["num_results"].as_u64().expect("a count") as usize;
    let mut marker = 0;
    loop {
        for result in answer["results"].as_array().expect("results") {
            paths.push(format!("{}:{}", result["path"], result["start_line"]));
        }
        let Some(cursor) = answer["next_cursor"].as_str().map(ToOwned::to_owned) else { break };
        marker += 1;
        write_marker(directory.path(), marker);
        commit(directory.path(), "next");
        index.index(directory.path());
        answer = page(Some(&cursor));
    }
    let distinct: BTreeSet<&String> = paths.iter().collect();
    assert_eq!((paths.len(), distinct.len()), (num_results, num_results), "{paths:?}");
    assert!(marker >= 2, "only {marker} generations were published between pages");
}
