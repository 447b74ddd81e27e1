//! Prepares the environment of a measurement: servers, clusters that use them, and repositories to index.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use cairn_cluster::{Environment, Servers};
use cairn_domain::{Lane, RepositoryId, Source};
use cairn_servers::Fleet;
use cairn_testkit::Mutation;
use tempfile::TempDir;
use toml::Table;

/// Maximum time that a measurement waits until its repositories are indexed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(3 * 3600);

/// Servers that only this process uses.
pub(crate) struct Field {
    _fleet: Fleet,
    servers: Servers,
    directory: TempDir,
}

impl Field {
    pub(crate) async fn start() -> Result<Self> {
        let directory = tempfile::tempdir()?;
        let fleet = Fleet::start(directory.path()).await?;
        let lines: String =
            fleet.variables().iter().map(|(name, value)| format!("export {name}='{value}'\n")).collect();
        Ok(Self { _fleet: fleet, servers: Servers::read(&lines)?, directory })
    }

    /// Returns the data folder of a server.
    pub(crate) fn data(&self, server: &str) -> PathBuf {
        self.directory.path().join(server)
    }

    /// Starts a cluster with one process of each service. The cluster shares no vhost, bucket or namespace
    /// with other clusters. Its logs are kept if a measurement fails.
    pub(crate) async fn cluster(&self) -> Result<Environment> {
        let mut environment = Environment::prepare(&self.servers, &Table::new()).await?;
        environment.keep();
        environment.cluster.start_all().await?;
        Ok(environment)
    }
}

/// Requests the sync of a repository in the lane for background work.
pub(crate) async fn ask(environment: &Environment, name: &str, path: &Path) -> Result<(RepositoryId, u64)> {
    let source = Source::Url { url: url(path) };
    environment.inside.enqueue(name, source, Lane::Bulk).await
}

pub(crate) fn url(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// Generates repositories with different contents.
pub(crate) fn generated(num_repositories: usize, num_files: usize) -> Vec<(String, Mutation)> {
    let make = |number: usize| (format!("small-{number:04}"), Mutation::new(number as u64, num_files));
    (0..num_repositories).map(make).collect()
}

/// Writes a list of repositories that `cairn index` can read.
pub(crate) fn write_list<'a>(path: &Path, repositories: impl Iterator<Item = (&'a str, &'a Path)>) -> Result<()> {
    let mut text = String::from("repositories:\n");
    for (name, root) in repositories {
        text.push_str(&format!("  - url: {}\n    name: {name}\n", url(root)));
    }
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
