//! Tests of settings that cannot be used, of syncs that fail, and of output that cannot be written.

use std::fs;
use std::process::{Output, Stdio};

use cairn_testkit::work_tree::write;
use serde_json::Value;
use tempfile::TempDir;

use crate::harness::Index;

fn directory() -> TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    write(directory.path(), "src/store.py", "def save(item):\n    return item\n\n\ndef load():\n    return save(1)\n");
    write(directory.path(), "README.md", "# Store\n\nSaves items.\n");
    directory
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs the command in both forms of output, and checks the exit code 4 and the texts of the error.
fn check_invalid_settings(index: &Index, arguments: &[&str], texts: &[&str]) {
    let output = index.run(arguments);
    let shown = errors(&output);
    assert_eq!(output.status.code(), Some(4), "{arguments:?}: {shown}");
    let output = index.run(&[arguments, &["--json"]].concat());
    assert_eq!(output.status.code(), Some(4), "{arguments:?}: {output:?}");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(answer["error"]["code"], "invalid_settings", "{answer}");
    let message = answer["error"]["message"].as_str().unwrap_or_default();
    for text in texts {
        assert!(shown.contains(text) && message.contains(text), "{arguments:?}: `{text}` is not in {shown}");
    }
}

#[test]
fn invalid_settings_end_every_command_with_code_4() {
    let index = Index::new();
    let config = index.path().join("config.toml");
    fs::write(&config, "wrkers = 1\n[embedding]\nkind = 'htp'\n").expect("written");
    // The faults of all sections are in one list.
    let texts = ["`workers`", "[embedding] `kind`: expected `local` or `http`"];
    check_invalid_settings(&index, &["repos"], &texts);
    check_invalid_settings(&index, &["index", "."], &texts);
    fs::write(&config, "workers = = 1\n").expect("written");
    check_invalid_settings(&index, &["repos"], &["line 1"]);
    fs::remove_file(&config).expect("removed");

    let list = index.path().join("list.yaml");
    fs::write(&list, "- path: a\n- path: b\n  include: ['src/**', '[x']\n").expect("written");
    check_invalid_settings(&index, &["index", &list.to_string_lossy()], &["line 3", "include", "invalid pattern «[x»"]);

    let cluster = index.path().join("cluster.toml");
    fs::write(&cluster, "[neo4j]\nurl = 'bolt://h'\nmax_connection = 3\n[s3]\nbucket = 'artifacts'\n")
        .expect("written");
    let cluster = cluster.to_string_lossy().into_owned();
    let output = index
        .command(&["--cluster", &cluster, "topology", "check"])
        .env("CAIRN__S3__SECRET_ACCESS_KEY", "hunter2hunter2")
        .output()
        .expect("the program starts");
    let shown = errors(&output);
    assert_eq!(output.status.code(), Some(4), "{shown}");
    for text in [
        "[neo4j] `max_connection`: unknown key; the nearest known key is `max_connections`",
        "[s3] `secret_access_key`: expected `{ env = \"NAME\" }` or `{ file = \"PATH\" }`, never the secret itself",
    ] {
        assert!(shown.contains(text), "{shown}");
    }
    assert!(!shown.contains("hunter2") && !shown.contains("untagged"), "{shown}");
}

#[test]
fn yaml_with_too_many_values_is_refused_in_plain_words() {
    let directory = directory();
    let levels =
        (1..9).map(|level| format!("a{level}: &a{level} [{}]\n", vec![format!("*a{}", level - 1); 9].join(", ")));
    let text = format!("a0: &a0 [x]\n{}", levels.collect::<String>());
    write(directory.path(), ".cairn.yaml", text);
    let index = Index::new();
    let path = directory.path().to_string_lossy().into_owned();
    check_invalid_settings(&index, &["index", &path], &["too many or too deeply nested values"]);
}

/// Checks that all commands about the state of repositories report the failure of the last sync.
fn check_failure_is_reported(index: &Index, reason: &str) {
    let year = "at 20";
    for command in ["repos", "status"] {
        let shown = index.ok(&[command]);
        assert!(shown.contains(reason) && shown.contains(year), "{command}: {shown}");
        let answer = index.json(&[command]);
        let last = &answer["repositories"][0]["last_sync"];
        assert!(last["failure"].as_str().is_some_and(|failure| failure.contains(reason)), "{answer}");
        assert!(last["at"].as_str().is_some_and(|at| at.starts_with("20")), "{answer}");
    }
    let doctor = index.run(&["doctor"]);
    let shown = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(!doctor.status.success(), "{shown}");
    assert!(shown.contains("last sync of r: failed at 20") && shown.contains(reason), "{shown}");
}

#[test]
fn failed_sync_is_reported_until_a_sync_succeeds() {
    let (index, directory) = (Index::new(), directory());
    let path = directory.path().to_string_lossy().into_owned();
    let arguments = ["index", &path, "--name", "r"];
    let over = index.command(&arguments).env("CAIRN_MAX_CHUNKS", "1").output().expect("the program starts");
    assert!(!over.status.success(), "{over:?}");
    check_failure_is_reported(&index, "over_budget");
    index.ok(&arguments);
    let last = index.json(&["repos"])["repositories"][0]["last_sync"].clone();
    assert!(last["failure"].is_null() && last["at"].is_string(), "{last}");
    assert!(index.run(&["doctor"]).status.success());

    write(directory.path(), ".cairn.yaml", "include: ['[x']\n");
    assert_eq!(index.run(&["index"]).status.code(), Some(4));
    check_failure_is_reported(&index, "invalid_settings");
    // The commit of the refused state is not known.
    let found = index.run(&["search", "save"]);
    let shown = errors(&found);
    assert!(shown.contains("a newer state could not be indexed") && !shown.contains("newer commit"), "{shown}");
    let source = &index.json(&["search", "save"])["sources"][0];
    assert!(source.get("newer_commit").is_none() && source["newer_state"] == "failed", "{source}");

    fs::remove_file(directory.path().join(".cairn.yaml")).expect("removed");
    index.ok(&["index"]);
    assert!(index.run(&["doctor"]).status.success());
    assert!(!errors(&index.run(&["search", "save"])).contains("newer"));
}

#[test]
fn label_of_an_uncommitted_state_is_not_cut() {
    let directory = directory();
    cairn_testkit::work_tree::git(directory.path(), &["init", "-q"]);
    let index = Index::new();
    let shown = index.ok(&["index", &directory.path().to_string_lossy(), "--name", "r"]);
    let commit = index.json(&["repos"])["repositories"][0]["published"]["commit"].clone();
    let commit = commit.as_str().expect("a label");
    assert!(commit.starts_with("uncommitted-") && commit.len() > 12, "{commit}");
    assert!(shown.contains(&format!("{commit}:")), "{shown}");
}

#[test]
fn commands_end_without_a_panic_if_their_output_is_closed() {
    let (index, directory) = (Index::new(), directory());
    index.index(directory.path());
    let file = directory.path().join("src/store.py").to_string_lossy().into_owned();
    let path = directory.path().to_string_lossy().into_owned();
    let commands: [&[&str]; 26] = [
        &["--help"],
        &["--version"],
        &["search", "--help"],
        &["completions", "bash"],
        &["index", &path, "--name", "r"],
        &["search", "save"],
        &["grep", "save"],
        &["show", "r", "src/store.py"],
        &["graph", "callers", "save"],
        &["graph", "sample", "--class", "exact"],
        &["patterns"],
        &["modules", "--repo", "r"],
        &["repos"],
        &["status"],
        &["stats"],
        &["runs"],
        &["runs", "cancel"],
        &["coverage", "r"],
        &["secrets", "r"],
        &["fingerprint"],
        &["doctor"],
        &["guide", "recovering"],
        &["dead-letters", "list"],
        &["invalidate", &file],
        &["repos", "--no-such-option"],
        &["show", "r", "no/such/file"],
    ];
    for command in commands {
        for form in [&[][..], &["--json"]] {
            let arguments = [command, form].concat();
            let expect = index.run(&arguments).status.code();
            let output = with_closed_output(&index, &arguments);
            let shown = errors(&output);
            assert!(!shown.contains("panicked") && !shown.contains("Broken pipe"), "{arguments:?}: {shown}");
            assert_eq!(output.status.code(), expect, "{arguments:?}: {shown}");
        }
    }
}

/// Runs a command whose standard output is a pipe without a reader.
fn with_closed_output(index: &Index, arguments: &[&str]) -> Output {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let child = index.command(arguments).stdout(writer).stderr(Stdio::piped()).spawn().expect("the program starts");
    child.wait_with_output().expect("the program ends")
}

#[test]
fn output_that_is_lost_is_an_error() {
    let index = Index::new();
    index.ok(&["status"]);
    for form in [&[][..], &["--json"]] {
        let device = fs::File::options().write(true).open("/dev/full").expect("opened");
        let mut command = index.command(&[&["status"], form].concat());
        let output = command.stdout(device).stderr(Stdio::piped()).spawn().and_then(|child| child.wait_with_output());
        let output = output.expect("the program ends");
        let shown = errors(&output);
        assert!(!output.status.success() && shown.contains("the output cannot be written"), "{shown}");
        assert!(!shown.contains("panicked") && !shown.contains("os error"), "{shown}");
    }
}
