//! Runs local mode in the way that a user runs it. Tests compare a cluster with local mode.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::program;

/// An index directory of local mode, with the same operator rules as the cluster.
#[derive(Clone, Debug)]
pub struct LocalMode {
    home: PathBuf,
    operator: PathBuf,
}

impl LocalMode {
    pub fn new(home: &Path, operator: &Path) -> Self {
        Self { home: home.to_owned(), operator: operator.to_owned() }
    }

    pub fn command(&self, arguments: &[&str]) -> Result<Command> {
        let mut command = Command::new(program("cairn")?);
        command.args(arguments).env("CAIRN_HOME", &self.home).env("CAIRN_CONFIG", &self.operator);
        command.env_remove("CAIRN_CLUSTER_CONFIG").env_remove("CAIRN_SERVER");
        // A question must not index the working tree in which the test runs.
        command.env("CAIRN_FIRST_USE_MAX_FILES", "0");
        Ok(command)
    }

    /// Runs `cairn` with these arguments and returns its standard output. Fails if `cairn` fails.
    pub fn ok(&self, arguments: &[&str]) -> Result<String> {
        let output = self.command(arguments)?.output().context("cannot start cairn")?;
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "cairn {} failed: {errors}", arguments.join(" "));
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Indexes repositories with one command. Each repository is given by its name and URL.
    pub fn index(&self, repositories: impl IntoIterator<Item = (String, String)>) -> Result<()> {
        let entry = |(name, url)| format!("  - name: {name}\n    url: {url}\n");
        let entries: String = repositories.into_iter().map(entry).collect();
        let list = self.operator.with_file_name("repositories.yaml");
        std::fs::write(&list, format!("repositories:\n{entries}"))?;
        self.ok(&["index", &list.to_string_lossy()]).map(drop)
    }

    /// The output of `cairn fingerprint`: one object for each repository, sorted by name.
    pub fn fingerprints(&self) -> Result<Vec<Value>> {
        let reported = self.ok(&["fingerprint", "--json"])?;
        let mut reported: Value = serde_json::from_str(reported.lines().last().unwrap_or_default())?;
        Ok(reported["fingerprints"].as_array_mut().map(std::mem::take).unwrap_or_default())
    }
}
