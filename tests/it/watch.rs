//! Checks that `cairn watch` detects changes on disk, indexes them, and ends after a signal.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use cairn_testkit::work_tree::{commit, git, repository, write};

use crate::harness::{Index, fresh_fingerprint};

/// The deadline is much longer than any wait in these tests.
const DEADLINE: Duration = Duration::from_secs(120);

/// Checks a condition repeatedly until it is true. Each check starts a process, so no pause is needed between
/// two checks.
fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < DEADLINE, "the condition is not true after {DEADLINE:?}: {what}");
    }
}

/// A `cairn watch` process that has begun to watch.
struct Watch(Child);

impl Watch {
    fn start(index: &Index) -> Self {
        let mut child = index.command(&["watch"]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("starts");
        let mut errors = BufReader::new(child.stderr.take().expect("standard error"));
        let mut line = String::new();
        while !line.contains("watching") {
            line.clear();
            assert!(errors.read_line(&mut line).expect("a line") > 0, "`cairn watch` ended before it began to watch");
        }
        // The output is read to its end, so that the process never blocks on a full pipe.
        std::thread::spawn(move || errors.lines().for_each(drop));
        Self(child)
    }

    /// Sends the signal to the process, and returns its exit code.
    fn end(mut self, signal: &str) -> Option<i32> {
        let sent = Command::new("kill").args([signal, &self.0.id().to_string()]).status();
        assert!(sent.expect("kill starts").success());
        let mut code = None;
        eventually("it ends", || {
            code = self.0.try_wait().expect("a state");
            code.is_some()
        });
        code.and_then(|code| code.code())
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // The process still runs only if a test has failed.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn shows(index: &Index, path: &str, text: &str) -> bool {
    String::from_utf8_lossy(&index.run(&["show", "r", path]).stdout).contains(text)
}

fn num_runs(index: &Index) -> usize {
    index.json(&["runs", "--limit", "1000"])["runs"].as_array().expect("runs").len()
}

fn covered(index: &Index) -> Vec<String> {
    let coverage = index.json(&["coverage", "r"]);
    let entries = coverage["entries"].as_array().expect("entries").iter();
    entries.map(|entry| entry["path"].as_str().expect("a path").to_owned()).collect()
}

fn function(name: &str) -> String {
    format!("def {name}():\n    return \"{name}\"\n")
}

fn first_commits(root: &Path) {
    write(root, ".gitignore", "ignored/\n*.log\n");
    for number in 0..10 {
        write(root, &format!("app/file_{number}.py"), function(&format!("first_{number}")));
    }
    commit(root, "first");
}

#[test]
fn working_tree_is_followed() {
    let directory = repository();
    let root = directory.path();
    first_commits(root);
    git(root, &["checkout", "-q", "-b", "side"]);
    write(root, "app/file_0.py", function("on_side"));
    write(root, "only_on_side.py", function("only_on_side"));
    commit(root, "side");
    git(root, &["checkout", "-q", "main"]);
    let index = Index::new();
    index.index(root);
    let watch = Watch::start(&index);

    write(root, "app/file_1.py", function("edited"));
    eventually("an edit shows", || shows(&index, "app/file_1.py", "edited"));
    write(root, "new/deep/folder/added.py", function("added"));
    eventually("a file in a new folder is found", || shows(&index, "new/deep/folder/added.py", "added"));
    std::fs::remove_file(root.join("app/file_2.py")).expect("removed");
    eventually("a deleted file is no longer listed", || !covered(&index).contains(&"app/file_2.py".to_owned()));

    let before = num_runs(&index);
    for number in 0..100 {
        write(root, &format!("burst/file_{number}.py"), function(&format!("burst_{number}")));
    }
    eventually("a burst shows", || covered(&index).iter().filter(|path| path.starts_with("burst/")).count() == 100);
    let num_bursts = num_runs(&index) - before;
    assert!(num_bursts < 20, "{num_bursts} runs for one burst of 100 files");

    // Ignored files are not listed and start no run.
    let before = num_runs(&index);
    write(root, "ignored/never.py", function("never"));
    write(root, "noise.log", "never");
    write(root, "app/file_3.py", function("after_ignored"));
    eventually("a change after the ignored files is found", || shows(&index, "app/file_3.py", "after_ignored"));
    assert!(num_runs(&index) - before <= 2, "ignored files began runs");
    assert!(covered(&index).iter().all(|path| !path.contains("never") && !path.contains("noise")));

    commit(root, "all of it");
    git(root, &["checkout", "-q", "side"]);
    eventually("another branch shows", || {
        shows(&index, "app/file_0.py", "on_side") && !covered(&index).iter().any(|path| path.starts_with("burst/"))
    });
    eventually("the last state is indexed", || index.fingerprint() == fresh_fingerprint(root));
    assert_eq!(watch.end("-TERM"), Some(0));
    assert_eq!(index.json(&["status"])["runs_in_progress"], serde_json::json!([]));
    assert!(index.run(&["doctor"]).status.success());
}

#[test]
fn bare_repository_is_polled_for_its_head() {
    let directory = repository();
    let root = directory.path();
    first_commits(root);
    let folder = tempfile::tempdir().expect("a folder");
    let bare = folder.path().join("r.git");
    git(root, &["clone", "-q", "--bare", ".", &bare.to_string_lossy()]);
    let index = Index::new();
    index.index(&bare);
    let watch = Watch::start(&index);
    write(root, "app/file_1.py", function("pushed"));
    commit(root, "pushed");
    git(root, &["push", "-q", &bare.to_string_lossy(), "main"]);
    eventually("a push shows", || shows(&index, "app/file_1.py", "pushed"));
    assert_eq!(watch.end("-INT"), Some(0));
    assert_eq!(index.fingerprint(), fresh_fingerprint(&bare));
}

#[test]
fn removed_repository_is_not_followed() {
    let directory = repository();
    first_commits(directory.path());
    let other = repository();
    first_commits(other.path());
    let index = Index::new();
    index.index(directory.path());
    index.ok(&["index", &other.path().to_string_lossy(), "--name", "other"]);
    let watch = Watch::start(&index);
    index.ok(&["remove", "r"]);
    // The change in the other directory is detected after the change in this directory. So a run for the
    // later change shows that the first change was ignored.
    write(directory.path(), "src/new.py", function("unseen"));
    write(other.path(), "src/new.py", function("seen"));
    eventually("the change in the other directory is indexed", || {
        index.run(&["show", "other", "src/new.py"]).status.success()
    });
    let names: Vec<String> = index.json(&["repos"])["repositories"]
        .as_array()
        .expect("repositories")
        .iter()
        .map(|repository| repository["name"].to_string())
        .collect();
    assert_eq!(names, ["\"other\""]);
    assert_eq!(watch.end("-INT"), Some(0));
}

#[test]
fn nothing_to_watch_is_an_error() {
    let index = Index::new();
    let output = index.run(&["watch"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("index a repository first"));
}
