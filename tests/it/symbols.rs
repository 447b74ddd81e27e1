//! Checks that the command line and MCP resolve names of symbols in the same way, over a real index. `remote`
//! compares the command line with HTTP.

use std::path::Path;

use cairn_testkit::work_tree::{commit, repository, write};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::Index;
use crate::secrets::agent::answers;

const SERVER: &str = "class Server:\n    def run(self):\n        return self.work()\n";
const CLIENT: &str = "class Client:\n    def run(self):\n        return self.send()\n";
const TABLE: &str = "ROWS(first)\nconst TABLE_NAMES = [1]\n";

pub(crate) fn write_symbols(root: &Path) {
    write(root, "src/server.py", SERVER);
    write(root, "src/net/client.py", CLIENT);
    write(root, "src/date_parser.py", "class DateParser:\n    def parse_text(self, text):\n        return text\n");
    write(
        root,
        "src/main.py",
        "from src.server import Server\n\n\ndef main():\n    server = Server()\n    server.run()\n",
    );
    write(root, "tables/first.tbl", TABLE);
    for number in 0..3 {
        let text = format!("def plan_{number}(rows):\n    zt = Zorblatt(rows, {number})\n    return zt\n");
        write(root, &format!("src/plan_{number}.py"), text);
    }
    write(root, "src/zorblatt.py", "class Zorblatt:\n    pass\n\n\ndef open_zorblatt(rows):\n    return rows\n");
}

fn indexed() -> (Index, TempDir) {
    let source = repository();
    write_symbols(source.path());
    commit(source.path(), "Symbols");
    let index = Index::new();
    index.index(source.path());
    (index, source)
}

/// Calls the tools over MCP and returns their structured answers.
fn called(index: &Index, calls: &[(&str, Value)]) -> Vec<Value> {
    let all = answers(index, calls);
    // The first answer is that of `initialize`.
    let answered = serde_json::Deserializer::from_str(&all).into_iter::<Value>().skip(1);
    answered.map(|answer| answer.expect("JSON")["result"]["structuredContent"].take()).collect()
}

/// The resolved name and the kind of match in the label of an answer.
fn label(answer: &Value) -> (&Value, &Value) {
    (&answer["resolved_to"], &answer["match"])
}

#[test]
fn show_and_read_code_resolve_a_target_alike() {
    let (index, _source) = indexed();
    let cases = [
        ("Server.run", "src/server.py", Value::Null),
        ("Server.rnu", "src/server.py", json!("fuzzy")),
        ("server.run", "src/server.py", json!("case")),
        ("DateParser.parseText", "src/date_parser.py", json!("style")),
        ("DateParser.parse", "src/date_parser.py", json!("fuzzy")),
        ("src/net/client.py#Client.run", "src/net/client.py", Value::Null),
        ("src/net/client.py#rnu", "src/net/client.py", json!("fuzzy")),
        ("TABLE_NAMES", "tables/first.tbl", json!("heuristic")),
        ("tables/first.tbl#TABLE_NAMES", "tables/first.tbl", json!("heuristic")),
        ("openZt", "src/zorblatt.py", json!("fuzzy")),
    ];
    let calls = cases.clone().map(|(target, ..)| ("read_code", json!({"target": target})));
    for ((target, path, matched), read) in cases.into_iter().zip(called(&index, &calls)) {
        let shown = index.json(&["show", target]);
        assert_eq!((&shown["path"], label(&shown).1), (&json!(path), &matched), "{target}: {shown}");
        assert_eq!((&read["path"], label(&read)), (&shown["path"], label(&shown)), "{target}: {read}");
    }
}

#[test]
fn searches_resolve_names_in_indexed_and_changed_files_alike() {
    let (index, source) = indexed();
    write(source.path(), "src/late.py", "def restock_shelves(rows):\n    return rows\n");
    let cases = [
        ("src/net/client.py#Client.run", "auto", "src/net/client.py"),
        ("src/server.py#run", "auto", "src/server.py"),
        ("src/server.py#rnu", "symbol", "src/server.py"),
        ("restock_shelves", "auto", "src/late.py"),
        ("restockShelves", "symbol", "src/late.py"),
        ("TABLE_NAMES", "auto", "tables/first.tbl"),
        ("TABLE_NAMES", "symbol", "tables/first.tbl"),
        ("openZt", "symbol", "src/zorblatt.py"),
    ];
    let calls =
        cases.map(|(query, target_type, _)| ("search_code", json!({"query": query, "target_type": target_type})));
    for ((query, target_type, path), found) in cases.into_iter().zip(called(&index, &calls)) {
        let printed = index.json(&["search", query, "--target-type", target_type]);
        for answer in [&printed, &found] {
            assert_eq!(answer["results"][0]["path"], path, "{query} {target_type}: {answer}");
        }
        assert_eq!(printed["names"], found["names"], "{query}");
        assert_eq!(printed["results"][0]["name_match"], found["results"][0]["name_match"], "{query}");
    }
    let late = index.json(&["search", "restock_shelves"]);
    assert_eq!((&late["names"][0]["path"], &late["names"][0]["line"]), (&json!("src/late.py"), &json!(1)));
    assert_eq!(late["results"][0]["name_match"]["match"], "changed");
}

/// A command in a working tree reads code of another repository only if this tree does not contain this exact
/// name. A note in the answer then names both repositories.
#[test]
fn exact_name_of_another_repository_is_shown_with_a_note() {
    let (index, source) = indexed();
    let other = repository();
    write(other.path(), "src/stock.py", "def open_zorblat(rows):\n    return rows\n");
    commit(other.path(), "Stock");
    index.ok(&["index", &other.path().to_string_lossy(), "--name", "stock"]);
    let shown = |name: &str| -> Value {
        let output = index.command(&["show", name, "--json"]).current_dir(source.path()).output().expect("a program");
        let text = String::from_utf8_lossy(&output.stdout);
        serde_json::from_str(text.lines().last().unwrap_or_default()).expect("JSON")
    };
    let exact = shown("open_zorblat");
    assert_eq!((&exact["repository"], label(&exact).1), (&json!("stock"), &Value::Null), "{exact}");
    assert_eq!(exact["notes"], json!(["not in r; found in stock"]), "{exact}");
    for name in ["open_zorblatt", "open_zorblatts"] {
        let own = shown(name);
        assert_eq!((&own["repository"], &own["notes"]), (&json!("r"), &Value::Null), "{name}: {own}");
    }
}

/// A file that is newer than the index is found by its path and by its name, and is labelled.
#[test]
fn new_files_are_found_by_their_names() {
    let (index, source) = indexed();
    write(source.path(), "src/late.py", "def restock_shelves(rows):\n    return rows\n");
    for (name, argument) in [("src/late.py", "path"), ("src/late.py", "target"), ("late.py", "target")] {
        let shown = index.json(&["show", name]);
        let read = called(&index, &[("read_code", json!({argument: name}))]).remove(0);
        for answer in [shown, read] {
            assert_eq!((&answer["path"], &answer["match"]), (&json!("src/late.py"), &json!("changed")), "{answer}");
            assert!(answer["text"].as_str().is_some_and(|text| text.contains("restock_shelves")), "{answer}");
        }
    }
    let found = index.json(&["search", "late.py", "--target-type", "filename"]);
    assert_eq!(found["files"][0]["path"], "src/late.py", "{found}");
    assert!(found["notes"].to_string().contains("changed after they were indexed"), "{found}");
}

/// The text of a file that was edited or removed on disk is that of the index, and the answer says so.
#[test]
fn indexed_text_of_a_changed_file_has_a_note() {
    let (index, source) = indexed();
    let notes = |name: &str| index.json(&["show", name])["notes"].take();
    assert_eq!(notes("src/server.py"), Value::Null);
    write(source.path(), "src/server.py", "class Server:\n    pass\n");
    std::fs::remove_file(source.path().join("src/net/client.py")).expect("removed");
    let expect =
        |happened: &str| json!([format!("The file {happened} after it was indexed; the text is that of the index.")]);
    assert_eq!(notes("src/server.py"), expect("changed"));
    assert_eq!(notes("Server.run"), expect("changed"));
    assert_eq!(notes("src/net/client.py"), expect("was removed"));
    assert_eq!(notes("src/main.py"), Value::Null);
}

/// If too many files changed to read them all, the answer about an absent name states the number of changed
/// files.
#[test]
fn number_of_changed_files_that_are_not_read_is_stated() {
    let (index, source) = indexed();
    for number in 0..250 {
        let name = if number == 249 { "balance_ledger".to_owned() } else { format!("restock_{number:03}_shelf") };
        write(source.path(), &format!("src/new_{number:03}.py"), format!("def {name}():\n    pass\n"));
    }
    assert_eq!(index.json(&["show", "restock_007_shelf"])["match"], "changed");
    let output = index.run(&["show", "balance_ledger", "--json"]);
    let text = String::from_utf8_lossy(&output.stdout);
    let error: Value = serde_json::from_str(text.lines().last().unwrap_or_default()).expect("JSON");
    let hint = error["error"]["details"]["next_action_hint"].as_str().unwrap_or_default();
    assert!(hint.contains("not searched: 50 of 250 changed files"), "{error}");
    let read = called(&index, &[("read_code", json!({"symbol": "balance_ledger"}))]).remove(0);
    let call = &read["details"]["tool_suggestions"][0];
    assert_eq!(call["tool"], "index_repository", "{read}");
    called(&index, &[("index_repository", call["arguments"].clone())]);
    assert_eq!(index.json(&["show", "balance_ledger"])["path"], "src/new_249.py");
}

#[test]
fn relations_of_names_in_files_are_found_alike() {
    let (index, _source) = indexed();
    for name in ["src/server.py#Server.run", "src/server.py#Server.rnu"] {
        let printed = index.json(&["graph", "callers", name]);
        let call = ("analyze_relationship", json!({"target": name, "mode": "callers"}));
        let called = called(&index, &[call]).remove(0);
        assert_eq!(printed["about"][0]["path"], "src/server.py", "{name}: {printed}");
        assert_eq!((&printed["about"], &printed["edges"]), (&called["about"], &called["edges"]), "{name}");
    }
    let error = index.run(&["graph", "callers", "TABLE_NAMES"]);
    assert!(String::from_utf8_lossy(&error.stderr).contains("«tables/first.tbl», line 2"), "{error:?}");
    let answer = index.json(&["search", "what calls src/server.py#Server.run"]);
    assert_eq!((&answer["results"][0]["symbol"], &answer["query_type"]), (&json!("main"), &json!("relationship")));
}

#[test]
fn context_decides_between_definitions() {
    let (index, _source) = indexed();
    for (context, path) in [("src/server.py", "src/server.py"), ("src/net/tcp.py", "src/net/client.py")] {
        let shown = index.json(&["show", "run", "--context-path", context]);
        assert_eq!(shown["path"], path, "{context}");
        for target_type in ["auto", "symbol"] {
            let found = index.json(&["search", "run", "--target-type", target_type, "--context-path", context]);
            assert_eq!(found["results"][0]["path"], path, "{context} {target_type}");
        }
        let about = index.json(&["graph", "callers", "run", "--context-path", context]);
        assert_eq!(about["about"][0]["path"], path, "{context}");
    }
}
