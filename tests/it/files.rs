//! Checks that all tools accept names of files, and that the command line, HTTP and MCP give the same
//! answers.

use std::path::Path;

use serde_json::{Value, json};

use cairn_testkit::work_tree::{commit, repository, write};

use crate::harness::Index;
use crate::remote::Server;
use crate::secrets::agent::answers;

const ADR: &str = "docs/adr/ADR-025-User-Experience-Enhancements.md";
const NUM_SETTINGS: usize = 25;

/// Names in questions, each with the path of the file or directory that has this name.
const NAMES: [(&str, &str); 4] = [
    ("ADR-025", ADR),
    ("config.json", "src/config.json"),
    ("Button.test", "ui/Button.test.tsx"),
    ("docs/adr", "docs/adr"),
];

fn make_repository(root: &Path) {
    write(root, ADR, "# ADR-025\n\nHow users see errors. See `src/config.json`.\n");
    write(root, "docs/adr/ADR-026-Queues.md", "# ADR-026\n\nHow jobs wait.\n");
    write(root, "docs/index.md", "# Documents\n\nBegin with ADR-025.\n");
    write(root, "src/config.json", "{ \"port\": 80 }\n");
    write(root, "src/server.ts", "import config from './config.json';\n\nexport function json() { return config; }\n");
    write(root, "ui/Button.tsx", "export function Button() { return null; }\n");
    write(root, "ui/Button.test.tsx", "import { Button } from './Button';\n\ntest('renders', () => Button());\n");
    write(root, "ui/ButtonGroup.test.tsx", "test('groups', () => 1);\n");
    write(root, "cmd/main.go", "package main\n\nfunc main() {}\n");
    write(root, "cmd/settings.go", "package main\n\nvar settings = 1\n");
    for number in 0..NUM_SETTINGS {
        write(root, &format!("apps/a{number:02}/settings.yaml"), format!("number: {number}\n"));
    }
    commit(root, "All");
}

fn indexed() -> (tempfile::TempDir, Index) {
    let source = repository();
    make_repository(source.path());
    let index = Index::new();
    index.index(source.path());
    (source, index)
}

/// A question, both as a command line and as a call of a tool.
struct AskedCall {
    command: Vec<String>,
    tool: &'static str,
    arguments: Value,
}

fn asked(command: &[&str], tool: &'static str, arguments: Value) -> AskedCall {
    AskedCall { command: command.iter().map(ToString::to_string).collect(), tool, arguments }
}

/// The answers of the command line, the HTTP API and MCP, in this order.
fn all_answers(index: &Index, server: &Server, questions: &[AskedCall]) -> Vec<[Value; 3]> {
    // The first answer is on the same line as the answer to `initialize`, and this line is skipped. So an
    // additional call is sent before the questions.
    let mut calls = vec![("workflow_guide", json!({}))];
    calls.extend(questions.iter().map(|asked| (asked.tool, asked.arguments.clone())));
    let answered = answers(index, &calls);
    let by_mcp = answered.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let by_mcp = by_mcp.map(|answer| answer["result"]["structuredContent"].clone());
    let commands = questions.iter().map(|asked| {
        let arguments: Vec<&str> = asked.command.iter().map(String::as_str).chain(["--json"]).collect();
        let json = |output: std::process::Output| {
            let text = if output.stdout.is_empty() { output.stderr } else { output.stdout };
            serde_json::from_slice::<Value>(&text).unwrap_or_else(|error| panic!("{arguments:?}: {error}"))
        };
        [json(index.run(&arguments)), json(server.run(index, &arguments))]
    });
    commands.zip(by_mcp).map(|([local, http], mcp)| [local, http, mcp]).collect()
}

/// The object with the fields that report a name other than the requested one. In an answer of MCP, this
/// object is the answer itself.
fn resolution(answer: &Value) -> &Value {
    answer.get("resolution").unwrap_or(answer)
}

#[test]
fn names_of_files_are_served_by_every_tool() {
    let (_source, index) = indexed();
    let server = Server::new(index.path());
    let mut questions = Vec::new();
    for (name, _) in NAMES {
        questions.push(asked(&["search", name], "search_code", json!({ "query": name })));
        questions.push(asked(&["show", "r", name], "read_code", json!({ "target": name })));
        let dependencies = json!({ "target": name, "mode": "dependencies" });
        questions.push(asked(&["graph", "deps", name], "analyze_relationship", dependencies));
    }
    let all = all_answers(&index, &server, &questions);
    for ((name, file), answers) in NAMES.iter().zip(all.chunks(3)) {
        let is_directory = *name == "docs/adr";
        for answer in &answers[0] {
            assert_eq!(answer["files"][0]["path"], *file, "{answer}");
            assert_eq!(answer["files"][0]["is_directory"], is_directory, "{answer}");
            assert!(answer["names"].as_array().is_none_or(Vec::is_empty), "{answer}");
        }
        for answer in &answers[1] {
            assert_eq!(answer["path"], *file, "{answer}");
            let label = if is_directory { Value::Null } else { json!("file") };
            assert_eq!(resolution(answer)["match"], label, "{answer}");
        }
        for answer in &answers[2] {
            let first = if is_directory { ADR } else { file };
            assert_eq!(answer["about"][0]["path"], first, "{answer}");
            let label = if is_directory { "directory" } else { "file" };
            assert_eq!(resolution(answer)["match"], label, "{answer}");
        }
        let edges = answers[2][0]["edges"].as_array().expect("edges");
        assert_eq!(edges.is_empty(), *name != "Button.test", "{name}: {edges:?}");
    }
    assert!(all[10][0]["text"].as_str().expect("a list").lines().eq([ADR, "docs/adr/ADR-026-Queues.md"]));
    let files = all[6][0]["files"].as_array().expect("files");
    assert!(files.iter().any(|file| file["path"] == "ui/ButtonGroup.test.tsx"), "{files:?}");
}

#[test]
fn mistyped_files_have_similar_files() {
    let (_source, index) = indexed();
    let server = Server::new(index.path());
    let name = "src/servr.ts";
    let questions = [
        asked(&["show", "r", name], "read_code", json!({ "target": name })),
        asked(&["graph", "dependents", name], "analyze_relationship", json!({ "target": name, "mode": "dependents" })),
    ];
    for answer in all_answers(&index, &server, &questions).iter().flatten() {
        let error = answer.get("error").unwrap_or(answer);
        let details = &error["details"];
        assert_eq!(error["code"], "not_found", "{answer}");
        assert_eq!(details["similar_files"][0], "src/server.ts", "{answer}");
        assert!(details["tool_suggestions"][0].to_string().contains("src/server.ts"), "{answer}");
    }
}

#[test]
fn lists_of_files_have_pages() {
    let (_source, index) = indexed();
    let server = Server::new(index.path());
    let arguments = json!({ "query": "settings.yaml", "target_type": "filename", "filename_only": true, "limit": 10 });
    let command = ["search", "settings.yaml", "--target-type", "filename", "--filename-only", "-n", "10"];
    let globs = json!({ "query": "apps/**/*.{yaml,yml}", "limit": 10 });
    let questions = [
        asked(&command, "search_code", arguments),
        asked(&["search", "apps/**/*.{yaml,yml}", "-n", "10"], "search_code", globs),
    ];
    for (question, answers) in questions.iter().zip(all_answers(&index, &server, &questions)) {
        for answer in &answers {
            assert_eq!(answer["num_results"], NUM_SETTINGS, "{answer}");
            assert_eq!(answer["files"].as_array().map(Vec::len), Some(10), "{answer}");
            assert_eq!(answer["cut"]["num_left"], NUM_SETTINGS - 10, "{answer}");
        }
        let mut cursor = answers[0]["next_cursor"].as_str().map(str::to_owned);
        let mut num_files = 10;
        while let Some(next) = cursor {
            let command: Vec<&str> = question.command.iter().map(String::as_str).chain(["--cursor", &next]).collect();
            let page = index.json(&command);
            num_files += page["files"].as_array().expect("files").len();
            cursor = page["next_cursor"].as_str().map(str::to_owned);
        }
        assert_eq!(num_files, NUM_SETTINGS);
    }
}

#[test]
fn tags_restrict_files_and_chunks() {
    let (_source, index) = indexed();
    let server = Server::new(index.path());
    let tags = json!(["indexed", ".go"]);
    let questions = [
        asked(
            &["search", "settings", "--tag", "indexed", "--tag", ".go"],
            "search_code",
            json!({ "query": "settings", "tag": tags }),
        ),
        asked(
            &["search", "settings", "--tag", "indexed", "--tag", ".go", "--target-type", "filename"],
            "search_code",
            json!({ "query": "settings", "tag": tags, "target_type": "filename" }),
        ),
    ];
    let all = all_answers(&index, &server, &questions);
    for answer in &all[0] {
        let results = answer["results"].as_array().expect("results");
        assert!(!results.is_empty() && results.iter().all(|result| result["language"] == "go"), "{answer}");
    }
    for answer in &all[1] {
        let files = answer["files"].as_array().expect("files");
        assert_eq!(files.len(), 1, "{answer}");
        assert_eq!(files[0]["path"], "cmd/settings.go", "{answer}");
    }
}

/// Checks the file names in the examples of the requirements.
#[test]
fn examples_of_file_searches_are_answered() {
    let (_source, index) = indexed();
    let paths = |arguments: &[&str]| {
        let answer = index.json(arguments);
        let path = |file: &Value| file["path"].as_str().expect("a path").to_owned();
        answer["files"].as_array().expect("files").iter().map(path).collect::<Vec<String>>()
    };
    let named = |query: &str| paths(&["search", query, "--target-type", "filename"]);
    assert_eq!(named("ADR-025"), [ADR]);
    let buttons = named("Button.test");
    assert_eq!(buttons[0], "ui/Button.test.tsx");
    assert!(buttons.contains(&"ui/ButtonGroup.test.tsx".to_owned()), "{buttons:?}");
    assert_eq!(named("**/ADR-025*.md"), [ADR]);
    assert_eq!(named("*.test.tsx"), ["ui/Button.test.tsx", "ui/ButtonGroup.test.tsx"]);
    assert_eq!(paths(&["search", "config.json", "--target-type", "filename", "--filename-only"]), ["src/config.json"]);
    assert_eq!(paths(&["search", "find the ADR-025 document"]), [ADR]);
    let exact = index.run(&["search", "confg.json", "--target-type", "filename", "--exact-filename"]);
    assert_eq!(exact.status.code(), Some(3), "{exact:?}");
    assert_eq!(named("confg.json"), ["src/config.json"]);
}
