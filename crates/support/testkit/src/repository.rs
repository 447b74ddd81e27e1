//! Small git repositories on disk, whose commit ids are the same on every machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

/// The author and committer of every commit.
const PERSON: &str = "Fixture";
const EMAIL: &str = "fixture@example.org";
/// The time of the first commit, in seconds since 1970. The time of each further commit is one minute after
/// that of the previous commit.
const FIRST_COMMIT_AT: u64 = 1_700_000_000;

/// A working tree in a temporary directory. The directory is removed when this value is dropped.
///
/// Paths are relative to the root of the working tree. Commits have a fixed author and fixed times, and the
/// user's git configuration is not read. So the same steps give the same commit ids everywhere.
pub struct FixtureRepository {
    directory: TempDir,
    num_commits: u64,
}

impl FixtureRepository {
    /// Creates an empty repository with the branch `main`. The program `git` must be in `PATH`.
    pub fn new() -> Result<Self> {
        let repository = Self { directory: TempDir::new()?, num_commits: 0 };
        repository.git(&["init", "--quiet", "--initial-branch=main"])?;
        Ok(repository)
    }

    pub fn root(&self) -> &Path {
        self.directory.path()
    }

    /// Writes a file, and creates its folders.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) -> Result<()> {
        let target = self.root().join(path);
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&target, content).with_context(|| format!("writing {path}"))
    }

    pub fn read(&self, path: &str) -> Result<String> {
        fs::read_to_string(self.root().join(path)).with_context(|| format!("reading {path}"))
    }

    pub fn rename(&self, from: &str, to: &str) -> Result<()> {
        let target = self.root().join(to);
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::rename(self.root().join(from), target).with_context(|| format!("cannot rename {from} to {to}"))
    }

    /// Removes a file, or a folder with its content.
    pub fn remove(&self, path: &str) -> Result<()> {
        let target = self.root().join(path);
        let removed = if target.is_dir() { fs::remove_dir_all(&target) } else { fs::remove_file(&target) };
        removed.with_context(|| format!("removing {path}"))
    }

    /// Commits the working tree as it is, even if nothing has changed. Returns the commit id.
    pub fn commit(&mut self, message: &str) -> Result<String> {
        self.git(&["add", "--all", "."])?;
        self.num_commits += 1;
        self.git(&["commit", "--quiet", "--allow-empty", "--no-verify", "-m", message])?;
        self.head()
    }

    pub fn head(&self) -> Result<String> {
        Ok(self.git(&["rev-parse", "HEAD"])?.trim().to_owned())
    }

    /// Runs git in the repository, and returns its output.
    pub fn git(&self, arguments: &[&str]) -> Result<String> {
        let at = Duration::from_secs(FIRST_COMMIT_AT + 60 * self.num_commits).as_secs();
        let date = format!("{at} +0000");
        let output = Command::new("git")
            .current_dir(self.root())
            .args(["-c", "core.autocrlf=false", "-c", "commit.gpgSign=false", "-c", "core.hooksPath=/dev/null"])
            .args(arguments)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .envs([("GIT_AUTHOR_NAME", PERSON), ("GIT_AUTHOR_EMAIL", EMAIL), ("GIT_AUTHOR_DATE", &date)])
            .envs([("GIT_COMMITTER_NAME", PERSON), ("GIT_COMMITTER_EMAIL", EMAIL), ("GIT_COMMITTER_DATE", &date)])
            .env_remove("GIT_DIR")
            .env_remove("GIT_WORK_TREE")
            .env_remove("GIT_INDEX_FILE")
            .output()
            .context("git cannot be run")?;
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "git {} failed: {}", arguments.join(" "), errors.trim());
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Creates a bare clone of this repository in another directory, as on a git server.
    pub fn bare_clone(&self) -> Result<(TempDir, PathBuf)> {
        let directory = TempDir::new()?;
        let path = directory.path().join("clone.git");
        let target = path.to_str().context("the temporary path is not UTF-8")?;
        self.git(&["clone", "--quiet", "--bare", "--no-hardlinks", ".", target])?;
        Ok((directory, path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build() -> Result<FixtureRepository> {
        let mut repository = FixtureRepository::new()?;
        repository.write("src/main.py", "print('hello')\n")?;
        repository.commit("First")?;
        repository.rename("src/main.py", "app/main.py")?;
        repository.commit("Second")?;
        Ok(repository)
    }

    #[test]
    fn same_steps_give_same_commits() -> Result<()> {
        let (first, second) = (build()?, build()?);
        assert_eq!(first.head()?, second.head()?);
        assert_eq!(first.git(&["ls-tree", "-r", "--name-only", "HEAD"])?, "app/main.py\n");
        assert_eq!(first.git(&["log", "-1", "--format=%at %an"])?, "1700000120 Fixture\n");
        Ok(())
    }

    #[test]
    fn bare_clone_has_the_same_head() -> Result<()> {
        let repository = build()?;
        let (_directory, path) = repository.bare_clone()?;
        let head = fs::read_to_string(path.join("packed-refs"))?;
        assert!(head.contains(&repository.head()?), "{head}");
        Ok(())
    }
}
