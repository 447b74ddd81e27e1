//! Working trees that a test changes in the same way as a user. Any failure in this module makes the test
//! fail.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// Keeps the directory if the test is failing.
pub fn keep_if_failing(directory: &mut TempDir) {
    if std::thread::panicking() {
        directory.disable_cleanup(true);
        println!("kept {}", directory.path().display());
    }
}

/// Runs git and returns its output. Panics if git fails.
pub fn git(repository: &Path, arguments: &[&str]) -> String {
    let identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"];
    let mut command = Command::new("git");
    command.arg("-C").arg(repository).args(identity).args(arguments);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    let output = command.output().expect("git starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?} failed: {errors}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// A directory with an empty git repository.
pub fn repository() -> TempDir {
    let directory = tempfile::tempdir().expect("a temporary directory");
    git(directory.path(), &["init", "-q", "-b", "main"]);
    directory
}

/// Writes a file below the root, and creates its folders.
pub fn write(root: &Path, path: &str, text: impl AsRef<[u8]>) -> PathBuf {
    let file = root.join(path);
    fs::create_dir_all(file.parent().expect("a folder")).expect("folders");
    fs::write(&file, text).expect("a file");
    file
}

/// Commits all changes.
pub fn commit(repository: &Path, message: &str) {
    git(repository, &["add", "-A"]);
    git(repository, &["commit", "-q", "--allow-empty", "-m", message]);
}
