//! Tests the effect of the environment variables on a process. The test program runs itself with these
//! variables.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};

use cairn_faults::{fail_point, poison_point};

const CHILD: &str = "CAIRN_TEST_CHILD";

/// Passes the points `test::first` and `test::second` three times, and names each pass as separate work.
/// Prints the result of each call of `first`.
fn pass_points() {
    for number in 0..3 {
        poison_point!("work {number}");
        println!("outcome: {}", first().unwrap_or_else(|message| message));
        fail_point!("test::second");
    }
}

fn first() -> Result<String, String> {
    fail_point!("test::first", Err);
    Ok("passed".to_owned())
}

/// Runs the named test of this program in a child process, with the given environment variable.
fn child(test: &str, variable: &str, value: &str) -> Output {
    let program = std::env::current_exe().expect("the path of this program");
    let mut command = Command::new(program);
    command.args(["--exact", test, "--nocapture"]).env(CHILD, "1").env(variable, value);
    command.output().expect("this program starts")
}

fn is_child() -> bool {
    let is_child = std::env::var_os(CHILD).is_some();
    if is_child {
        cairn_faults::arm();
        pass_points();
    }
    is_child
}

fn outcomes(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().filter_map(|line| Some(line.split_once("outcome: ")?.1.to_owned())).collect()
}

#[test]
fn process_is_killed_at_the_selected_passage() {
    if is_child() {
        return;
    }
    let output = child("process::process_is_killed_at_the_selected_passage", "CAIRN_KILL_AT", "test::second:1");
    assert_eq!((output.status.signal(), outcomes(&output).len()), (Some(9), 2), "{output:?}");
}

#[test]
fn process_aborts_at_the_selected_passage() {
    if is_child() {
        return;
    }
    let output = child("process::process_aborts_at_the_selected_passage", "CAIRN_FAIL_AT", "test::first:2:abort");
    assert_eq!((output.status.signal(), outcomes(&output).len()), (Some(6), 2), "{output:?}");
}

#[test]
fn only_poisoned_work_aborts_the_process() {
    if is_child() {
        return;
    }
    let output = child("process::only_poisoned_work_aborts_the_process", "CAIRN_POISON", "work 2");
    assert_eq!((output.status.signal(), outcomes(&output).len()), (Some(6), 2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("overflowed its stack"), "{output:?}");
}

#[test]
fn only_the_selected_passage_fails() {
    if is_child() {
        return;
    }
    let output = child("process::only_the_selected_passage_fails", "CAIRN_FAIL_AT", "test::first:1");
    assert_eq!(outcomes(&output), ["passed", "injected fault", "passed"], "{output:?}");
}

#[test]
fn selected_passage_sleeps() {
    if is_child() {
        return;
    }
    let started = std::time::Instant::now();
    let output = child("process::selected_passage_sleeps", "CAIRN_FAIL_AT", "test::second:0:sleep=300");
    assert!(output.status.success() && started.elapsed().as_millis() >= 300, "{output:?}");
}

#[test]
fn each_point_is_logged_once() {
    if is_child() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("points");
    std::fs::write(&log, "earlier\n").expect("written");
    let output = child("process::each_point_is_logged_once", "CAIRN_POINTS_LOG", &log.to_string_lossy());
    assert!(output.status.success(), "{output:?}");
    assert_eq!(std::fs::read_to_string(&log).expect("the log"), "earlier\ntest::first\ntest::second\n");
}

#[test]
fn unreadable_variable_ends_the_process() {
    if is_child() {
        return;
    }
    let output = child("process::unreadable_variable_ends_the_process", "CAIRN_KILL_AT", "test::first");
    assert!(!output.status.success() && outcomes(&output).is_empty(), "{output:?}");
}
