//! Runs the program and creates repositories.

use std::path::Path;
use std::process::{Command, Output};

use cairn_testkit::work_tree::keep_if_failing;
use serde_json::Value;
use tempfile::TempDir;

pub(crate) const CAIRN: &str = env!("CARGO_BIN_EXE_cairn");

/// The index directory of one test. The directory is removed when the test ends. If the test fails, the
/// directory is kept for inspection.
pub(crate) struct Index {
    directory: TempDir,
}

impl Index {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().expect("a temporary directory") }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(CAIRN);
        command.args(arguments).env("CAIRN_HOME", self.path()).env_remove("CAIRN_CONFIG");
        // The tests run in the working tree of Cairn, and no question may index this tree.
        command.env("CAIRN_FIRST_USE_MAX_FILES", "0");
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the program starts")
    }

    /// Runs a command that must succeed, and returns its standard output.
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        let reported = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "cairn {arguments:?} failed: {errors} {reported}");
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let text = self.ok(&[arguments, &["--json"]].concat());
        serde_json::from_str(text.lines().last().unwrap_or_default()).expect("JSON")
    }

    pub(crate) fn index(&self, repository: &Path) -> Value {
        self.json(&["index", &repository.to_string_lossy(), "--name", "r"])
    }

    /// The digests by kind of record, so that the message of a failed test shows which kind differs.
    pub(crate) fn fingerprint(&self) -> Value {
        self.json(&["fingerprint"])["fingerprints"][0]["kinds"].clone()
    }
}

impl Drop for Index {
    fn drop(&mut self) {
        keep_if_failing(&mut self.directory);
    }
}

/// Builds a new index of the repository from scratch, and returns its fingerprint.
pub(crate) fn fresh_fingerprint(repository: &Path) -> Value {
    let index = Index::new();
    index.index(repository);
    index.fingerprint()
}

pub(crate) fn is_soak() -> bool {
    std::env::var_os("CAIRN_SOAK").is_some()
}

/// The seed in `CAIRN_SEED`, or a new random seed. The seed is printed, so that a failure can be repeated.
pub(crate) fn seed() -> u64 {
    let given = std::env::var("CAIRN_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = given.unwrap_or_else(rand::random);
    println!("CAIRN_SEED={seed}");
    seed
}
