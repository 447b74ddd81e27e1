//! Checks that an index equals an index built from scratch after any sequence of changes.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::harness::{Index, is_soak, seed};
use cairn_testkit::Mutation;

/// The number of operations between two checks.
const EVERY: usize = 10;

#[test]
fn incremental_equals_from_scratch() {
    let num_operations = if is_soak() { 500 } else { 30 };
    let num_files = if is_soak() { 220 } else { 60 };
    let mut mutation = Mutation::new(seed(), num_files);
    let index = Index::new();
    index.index(mutation.root());
    for number in 1..=num_operations {
        mutation.step();
        let indexed = index.index(mutation.root());
        if number % EVERY == 0 {
            let fresh = Index::new();
            let built = fresh.index(mutation.root());
            assert_eq!(index.fingerprint(), fresh.fingerprint(), "after {number} operations: {:#?}", mutation.log);
            assert_eq!(counts(&indexed), counts(&built), "after {number} operations: {:#?}", mutation.log);
        }
    }
}

/// The counts of a result that refer to the whole snapshot. A run that reads only some files copies the
/// counts of the other files.
fn counts(indexed: &Value) -> BTreeMap<&'static str, &Value> {
    let of_snapshot =
        ["files_indexed", "symbols", "chunks", "edges", "patterns", "edges_by_resolution", "unresolved", "secrets"];
    of_snapshot.into_iter().map(|name| (name, &indexed["result"][name])).collect()
}

#[test]
fn second_run_changes_nothing() {
    let mutation = Mutation::new(seed(), 20);
    let index = Index::new();
    let first = index.index(mutation.root());
    assert_eq!(first["state"], "published");
    let before = index.fingerprint();
    let again = index.index(mutation.root());
    assert!(again["run_id"].is_null(), "{again}");
    assert_eq!(index.fingerprint(), before);
}

#[test]
fn changed_file_is_parsed_alone() {
    let mut mutation = Mutation::new(seed(), 40);
    let index = Index::new();
    let first = index.index(mutation.root());
    mutation.step();
    let files = first["result"]["files_parsed"].as_u64().expect("a number");
    assert!(files >= 40, "{first}");
    cairn_testkit::work_tree::write(mutation.root(), "app/one.py", "def only_this():\n    return 1\n");
    index.index(mutation.root());
    cairn_testkit::work_tree::write(mutation.root(), "app/one.py", "def only_that():\n    return 2\n");
    let second = index.index(mutation.root());
    assert_eq!(second["result"]["files_parsed"], 1, "{second}");
    assert_eq!(second["result"]["chunks_embedded"], 1, "{second}");
}

#[test]
fn equal_content_is_embedded_once() {
    let mutation = Mutation::new(seed(), 20);
    let text = "def stands_twice(count):\n    return count * 2\n";
    cairn_testkit::work_tree::write(mutation.root(), "app/once.py", text);
    let index = Index::new();
    index.index(mutation.root());
    cairn_testkit::work_tree::write(mutation.root(), "copies/elsewhere.py", text);
    let copied = index.index(mutation.root());
    assert_eq!(copied["result"]["chunks_embedded"], 0, "{copied}");
    assert!(copied["result"]["cache_hits"].as_u64() > Some(0), "{copied}");
    let fork = index.json(&["index", &mutation.root().to_string_lossy(), "--name", "fork"]);
    assert_eq!(fork["result"]["chunks_embedded"], 0, "{fork}");
}

#[test]
fn vector_is_kept_while_a_manifest_uses_it() {
    let mutation = Mutation::new(seed(), 20);
    let (path, text) = ("app/once.py", "def stands_a_while(count):\n    return count * 3\n");
    let index = Index::new();
    let run = |arguments: &[&str]| -> Value {
        let mut command = index.command(&[arguments, &["--json"]].concat());
        let output = command.env("CAIRN_SWEEP_GRACE_MS", "0").output().expect("the program starts");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        serde_json::from_str(text.lines().last().unwrap_or_default()).expect("JSON")
    };
    let root = mutation.root().to_string_lossy().into_owned();
    let embedded = |text: &str| {
        cairn_testkit::work_tree::write(mutation.root(), path, text);
        run(&["index", &root, "--name", "r"])["result"]["chunks_embedded"].clone()
    };
    embedded("VALUE = 1\n");
    assert_eq!(embedded(text), 1);
    run(&["index", &root, "--name", "fork"]);
    embedded("VALUE = 1\n");
    assert_eq!(embedded(text), 0, "the vector was removed, although the fork refers to it");
    run(&["remove", "fork"]);
    assert_eq!(embedded("VALUE = 2\n"), 1);
    assert_eq!(embedded(text), 1, "the vector was kept, although no manifest refers to it");
}
