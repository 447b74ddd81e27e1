//! Tests that a first run that was stopped is finished by a later question.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use super::{command, errors, names, tree};
use crate::harness::Index;
use crate::mcp::Session;

/// The first run sleeps at this failpoint for longer than the test takes.
const LONG_RUN: (&str, &str) = ("CAIRN_FAIL_AT", "pipeline::before_work:0:sleep=20000");
/// The process is killed at this failpoint, while the run is unfinished.
const KILLED: (&str, &str) = ("CAIRN_KILL_AT", "pipeline::worked:1");

/// Starts a command, and returns when its run has begun.
fn begin(mut command: Command, index: &Index) -> Child {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program starts");
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let first = lines.next().expect("a line").expect("UTF-8");
    assert!(first.contains("is not indexed yet"), "{first}");
    std::thread::spawn(move || lines.for_each(drop));
    let started = Instant::now();
    while index.json(&["runs"])["runs"].as_array().is_none_or(Vec::is_empty) {
        assert!(started.elapsed() < Duration::from_secs(60), "no run has begun");
    }
    child
}

fn is_answered(index: &Index, root: &Path) {
    let output = command(index, root, &["search", "parse_http_date"]).output().expect("the program starts");
    let (shown, found) = (errors(&output), String::from_utf8_lossy(&output.stdout).into_owned());
    assert!(shown.contains("indexed 3 files"), "the question did not finish the first run: {shown}{found}");
    assert!(output.status.success() && found.contains("src/dates.py"), "{shown}{found}");
}

#[test]
fn killed_first_run_is_finished_by_the_next_question() {
    let (tree, index) = (tree(), Index::new());
    let mut asked = command(&index, tree.path(), &["search", "parse_http_date"]);
    assert!(!asked.env(KILLED.0, KILLED.1).status().expect("the program starts").success());
    assert_eq!(names(&index).len(), 1, "it is registered, but not indexed");
    is_answered(&index, tree.path());
}

#[test]
fn killed_first_run_of_an_agent_is_finished_by_the_next_session() {
    let (tree, index) = (tree(), Index::new());
    let mut mcp = command(&index, tree.path(), &["mcp"]);
    mcp.env(KILLED.0, KILLED.1);
    let question = json!({ "query": "parse_http_date" });
    let mut killed = Session::start(mcp);
    assert!(killed.try_call("search_code", &question).is_none(), "it was killed");
    killed.end();
    let mut session = Session::start(command(&index, tree.path(), &["mcp"]));
    let answer = session.call("search_code", &question);
    assert!(answer.notice().contains("its 3 files are indexed now"), "{}", answer.result);
    assert_eq!(answer.structured()["results"][0]["path"], "src/dates.py", "{}", answer.result);
    session.end();
}

#[test]
fn run_above_the_time_limit_is_continued() {
    let (tree, index) = (tree(), Index::new());
    let mut asked = command(&index, tree.path(), &["search", "parse_http_date"]);
    asked.env(LONG_RUN.0, LONG_RUN.1).env("CAIRN_FIRST_USE_TIMEOUT_SECONDS", "1");
    let output = asked.output().expect("the program starts");
    let shown = errors(&output);
    assert!(!output.status.success() && shown.contains("was not indexed within 1 s"), "{shown}");
    assert!(shown.contains("try: ") && shown.contains(" index "), "{shown}");
    is_answered(&index, tree.path());
}

#[test]
fn signal_cancels_the_first_run() {
    let (tree, index) = (tree(), Index::new());
    let mut asked = command(&index, tree.path(), &["search", "parse_http_date"]);
    asked.env(LONG_RUN.0, LONG_RUN.1);
    let mut child = begin(asked, &index);
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.expect("kill starts").success());
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    assert_eq!(index.json(&["runs"])["runs"][0]["state"], "cancelled");
    is_answered(&index, tree.path());
}

#[test]
fn question_waits_for_the_first_run_of_another_process() {
    let (tree, index) = (tree(), Index::new());
    let mut asked = command(&index, tree.path(), &["search", "parse_http_date"]);
    asked.env("CAIRN_FAIL_AT", "pipeline::before_work:0:sleep=3000");
    let mut child = begin(asked, &index);
    is_answered(&index, tree.path());
    assert!(child.wait().expect("it ends").success());
    assert_eq!(names(&index).len(), 1);
}
