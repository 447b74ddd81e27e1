//! Tests of sources with a file or a path that can never be read. Such a file is recorded, and all other
//! files are indexed.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use cairn_testkit::work_tree::{commit, git, repository, write};
use serde_json::Value;

use crate::harness::Index;

/// Indexes a source, and returns the number of unreadable files and the number of all errors.
fn index(source: &str, environment: &[(&str, &str)]) -> (u64, u64) {
    let index = Index::new();
    let mut command = index.command(&["index", source, "--name", "r", "--json"]);
    command.env("CAIRN_ALLOW_FILE", "true").envs(environment.iter().copied());
    let output = command.output().expect("the program starts");
    let reported = [String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)].concat();
    assert!(output.status.success(), "{source}: {reported}");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(answer["state"], "published", "{source}: {reported}");
    index.ok(&["show", "r", "a.py"]);
    let result = &answer["result"];
    (result["files"]["failed(unreadable)"].as_u64().unwrap_or(0), result["num_errors"].as_u64().unwrap_or(0))
}

/// Replaces files again and again until `done` is set. Each replacement has different content.
fn change_files(scratch: &Path, files: &[std::path::PathBuf], done: &AtomicBool) {
    let new = scratch.join("new");
    let mut number = 0;
    while !done.load(Ordering::Relaxed) {
        for file in files {
            number += 1;
            fs::write(&new, format!("# {number}\n")).expect("written");
            fs::rename(&new, file).expect("renamed");
        }
    }
}

/// A file that changes faster than the program can list and read it must not stop the run.
#[test]
fn files_that_always_change_do_not_stop_a_run() {
    for is_work_tree in [true, false] {
        let directory = if is_work_tree { repository() } else { tempfile::tempdir().expect("a directory") };
        let scratch = tempfile::tempdir().expect("a directory");
        let files = ["growing.py", "sub/.cairnignore", "sub/.gitattributes"];
        let files = files.map(|file| write(directory.path(), file, "# 0\n"));
        write(directory.path(), "a.py", "x = 1\n");
        if is_work_tree {
            commit(directory.path(), "first");
        }
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| change_files(scratch.path(), &files, &done));
            let indexed = std::panic::catch_unwind(|| index(&directory.path().to_string_lossy(), &[]));
            done.store(true, Ordering::Relaxed);
            indexed.expect("indexed");
        });
    }
}

/// Indexes the directory as a plain directory, a working tree, a bare repository and a URL.
fn in_every_form(directory: &Path, check: impl Fn(&str, &str)) {
    check("a directory", &directory.to_string_lossy());
    git(directory, &["init", "-q", "-b", "main"]);
    check("a working tree", &directory.to_string_lossy());
    commit(directory, "first");
    let bare = directory.join(".git").to_string_lossy().into_owned();
    check("a bare repository", &bare);
    check("a URL", &format!("file://{bare}"));
}

#[test]
fn deep_path_does_not_stop_a_run() {
    let directory = tempfile::tempdir().expect("a directory");
    write(directory.path(), "a.py", "x = 1\n");
    write(directory.path(), &format!("{}deep.py", "d/".repeat(1_100)), "x = 2\n");
    in_every_form(directory.path(), |form, source| assert_eq!(index(source, &[]).0, 1, "{form}"));
}

#[test]
fn unusable_git_configuration_does_not_stop_a_run() {
    let directory = repository();
    write(directory.path(), "a.py", "x = 1\n");
    commit(directory.path(), "first");
    let source = directory.path().to_string_lossy().into_owned();
    let home = tempfile::tempdir().expect("a directory");
    write(home.path(), ".gitconfig", "[core\n");
    let environment = [("HOME", home.path().to_str().expect("UTF-8"))];
    let bare = format!("{source}/.git");
    for source in [source.as_str(), bare.as_str(), format!("file://{bare}").as_str()] {
        assert_eq!(index(source, &environment), (0, 0), "{source}: the configuration of the user is not read");
    }
    write(directory.path(), ".git/info/exclude", "x\n".repeat(700_000));
    assert_eq!(index(&source, &[]), (1, 1));
    write(directory.path(), ".git/info/exclude", "x\n");
    write(directory.path(), ".git/config", "[core\n");
    assert_eq!(index(&source, &[]), (1, 1));
}

/// The default name of a repository may come from its `.cairn.yaml`. If this file is a link or a pipe, it
/// sets no name, and opening it does not wait for a writer.
#[test]
fn settings_file_that_is_a_pipe_or_a_link_does_not_stop_a_run() {
    let directory = tempfile::tempdir().expect("a directory");
    write(directory.path(), "a.py", "x = 1\n");
    let outside = tempfile::tempdir().expect("a directory");
    let other = write(outside.path(), "other.yaml", "name: outside\n");
    let settings = directory.path().join(".cairn.yaml");
    let check = |what: &str| {
        let index = Index::new();
        index.ok(&["index", &directory.path().to_string_lossy()]);
        let repos = index.ok(&["repos"]);
        assert!(!repos.contains("outside"), "{what}: {repos}");
    };
    assert!(Command::new("mkfifo").arg(&settings).status().expect("mkfifo").success());
    check("a pipe");
    fs::remove_file(&settings).expect("removed");
    symlink(other, &settings).expect("linked");
    check("a link");
}
