//! A cluster of a test's own, and repositories for it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};
use cairn_cluster::{Inside, LocalCluster, Servers, Space};
use tempfile::TempDir;
use toml::Table;

/// A prepared cluster in a space of its own, its folder, and a look inside. None: the test is left out.
pub(crate) struct Ground {
    pub(crate) cluster: LocalCluster,
    pub(crate) inside: Inside,
    pub(crate) directory: TempDir,
}

impl Ground {
    #[track_caller]
    pub(crate) fn servers() -> Option<Servers> {
        Servers::given()
    }

    pub(crate) async fn prepare(servers: &Servers, overrides: &Table) -> Result<Self> {
        let mut directory = tempfile::tempdir()?;
        directory.disable_cleanup(std::env::var_os("CAIRN_KEEP").is_some());
        let space = Space::create(servers).await?;
        let cluster = LocalCluster::prepare(directory.path(), servers, &space, overrides).await?;
        let inside = Inside::open(&cluster.settings()).await?;
        Ok(Self { cluster, inside, directory })
    }
}

impl Drop for Ground {
    /// A failing test leaves its logs.
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.directory.disable_cleanup(true);
        }
        if self.directory.path().exists() {
            eprintln!("logs: {}", self.directory.path().display());
        }
    }
}

pub(crate) fn git(repository: &Path, arguments: &[&str]) -> Result<()> {
    let identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"];
    let mut command = Command::new("git");
    command.arg("-C").arg(repository).args(identity).args(arguments);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    command.env("GIT_AUTHOR_DATE", "2026-01-01T00:00:00Z").env("GIT_COMMITTER_DATE", "2026-01-01T00:00:00Z");
    let output = command.output()?;
    ensure!(output.status.success(), "git {arguments:?} failed: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// A repository with one commit of these files.
pub(crate) fn repository(parent: &Path, name: &str, files: &[(String, String)]) -> Result<PathBuf> {
    let path = parent.join(name);
    fs::create_dir_all(&path)?;
    git(&path, &["init", "-q", "-b", "main"])?;
    write_and_commit(&path, files)?;
    Ok(path)
}

pub(crate) fn write_and_commit(repository: &Path, files: &[(String, String)]) -> Result<()> {
    for (path, text) in files {
        let path = repository.join(path);
        path.parent().map(fs::create_dir_all).transpose()?;
        fs::write(path, text)?;
    }
    git(repository, &["add", "-A"])?;
    git(repository, &["commit", "-q", "--allow-empty", "-m", "work"])
}
