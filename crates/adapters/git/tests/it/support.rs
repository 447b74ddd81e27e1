//! Creates repositories with the `git` program in a temporary directory.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cairn_domain::{EntryKind, Source};
use cairn_git::{GitSettings, GitSources};
use cairn_ports::{ReadOptions, SnapshotTree, SourceError, SourceReader, TreeEntry};
use tempfile::TempDir;

/// A temporary directory with a repository `repo` and a directory for clones.
pub(crate) struct Fixture {
    pub(crate) directory: TempDir,
    pub(crate) repo: PathBuf,
}

impl Fixture {
    /// An empty repository on branch `main`.
    pub(crate) fn repository() -> Self {
        let directory = tempfile::tempdir().expect("temporary directory");
        // Sources report canonical paths.
        let root = fs::canonicalize(directory.path()).expect("canonical path");
        let fixture = Self { repo: root.join("repo"), directory };
        fs::create_dir(&fixture.repo).expect("directory");
        fixture.git(&["init", "--quiet", "--initial-branch", "main"]);
        fixture
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> Vec<u8> {
        self.git_with_input(arguments, b"")
    }

    pub(crate) fn git_with_input(&self, arguments: &[&str], input: &[u8]) -> Vec<u8> {
        self.run(arguments, input, &[])
    }

    fn run(&self, arguments: &[&str], input: &[u8], variables: &[(&str, &str)]) -> Vec<u8> {
        use std::io::Write;
        let mut child = Command::new("git")
            .args(["-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "protocol.file.allow=always"])
            .args(["-c", "commit.gpgsign=false", "-c", "core.excludesFile=/dev/null"])
            .args(arguments)
            .current_dir(&self.repo)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("git starts");
        child.stdin.take().expect("stdin").write_all(input).expect("git reads");
        let output = child.wait_with_output().expect("git ends");
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    }

    pub(crate) fn write(&self, path: impl AsRef<[u8]>, content: impl AsRef<[u8]>) {
        let path = self.repo.join(OsStr::from_bytes(path.as_ref()));
        fs::create_dir_all(path.parent().expect("parent")).expect("directories");
        fs::write(path, content).expect("written");
    }

    pub(crate) fn link(&self, path: &str, target: &str) {
        let path = self.repo.join(path);
        fs::create_dir_all(path.parent().expect("parent")).expect("directories");
        std::os::unix::fs::symlink(target, path).expect("linked");
    }

    pub(crate) fn commit_all(&self) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", "change"]);
    }

    /// Commits the staged files, at a given time and by a given author.
    pub(crate) fn commit_at(&self, seconds: i64, author: &str) {
        let author = format!("{author} <a@example.com>");
        let date = format!("{seconds} +0000");
        let arguments = ["commit", "--quiet", "--allow-empty", "-m", "change", "--date", &date, "--author", &author];
        self.run(&arguments, b"", &[("GIT_COMMITTER_DATE", &date)]);
    }

    pub(crate) fn head(&self) -> String {
        String::from_utf8(self.git(&["rev-parse", "HEAD"])).expect("text").trim().to_owned()
    }

    /// The commit of `main`, read without `git`.
    pub(crate) fn head_in_file(&self) -> String {
        fs::read_to_string(self.repo.join(".git/refs/heads/main")).expect("a reference").trim().to_owned()
    }

    pub(crate) fn clones(&self) -> PathBuf {
        self.directory.path().join("clones")
    }

    pub(crate) fn path(&self) -> String {
        self.repo.to_str().expect("UTF-8").to_owned()
    }

    /// The same repository as a bare source: only its objects are read.
    pub(crate) fn bare(&self) -> Source {
        Source::Bare { path: format!("{}/.git", self.path()) }
    }

    pub(crate) fn work_tree(&self) -> Source {
        Source::WorkTree { path: self.path() }
    }

    pub(crate) fn plain(&self) -> Source {
        Source::Directory { path: self.path() }
    }

    pub(crate) fn open(&self, source: &Source) -> Result<Box<dyn SnapshotTree>, SourceError> {
        GitSources::new(GitSettings::new(self.clones())).open(source, &ReadOptions::default())
    }
}

/// Settings that allow URLs to this machine.
pub(crate) fn remote_settings(fixture: &Fixture) -> GitSettings {
    let mut settings = GitSettings::new(fixture.clones());
    settings.remotes.allow_file = true;
    settings.remotes.allow_http = true;
    settings.remotes.allow_private_addresses = true;
    settings
}

/// The repository as a remote.
pub(crate) fn url(fixture: &Fixture) -> Source {
    Source::Url { url: format!("file://{}", fixture.path()) }
}

pub(crate) fn cause(error: &SourceError) -> String {
    std::error::Error::source(error).map(ToString::to_string).unwrap_or_default()
}

pub(crate) fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("text").trim().to_owned()
}

pub(crate) fn paths(tree: &dyn SnapshotTree) -> Vec<&str> {
    tree.entries().iter().map(|entry| entry.path.as_str()).collect()
}

pub(crate) fn find<'t>(tree: &'t dyn SnapshotTree, path: &str) -> &'t TreeEntry {
    tree.entries().iter().find(|entry| entry.path.as_str() == path).unwrap_or_else(|| panic!("no entry `{path}`"))
}

pub(crate) fn kinds(tree: &dyn SnapshotTree) -> Vec<(&str, EntryKind)> {
    tree.entries().iter().map(|entry| (entry.path.as_str(), entry.kind)).collect()
}

/// Writes a tree with unusual contents: deep and wide directories, links, names that are not UTF-8, and an
/// empty file.
pub(crate) fn odd_tree(fixture: &Fixture) {
    for number in 0..1_200 {
        fixture.write(format!("wide/d{}/f{number}.txt", number % 40), format!("content {number}\n"));
    }
    fixture.write(format!("{}deep.txt", "level/".repeat(120)), "deep\n");
    fixture.write(b"latin/caf\xe9.txt", "latin-1 name\n");
    fixture.write(b"odd/new\nline \\ back\t.txt", "odd name\n");
    fixture.write("größe/漢字.txt", "unicode name\n");
    fixture.write("empty", "");
    fixture.write("binary.bin", b"\x00\x01\x02");
    fixture.write("run.sh", "#!/bin/sh\n");
    make_executable(&fixture.repo.join("run.sh"));
    fixture.link("links/file", "../run.sh");
    fixture.link("links/outside", "/etc/passwd");
    fixture.link("links/cycle", ".");
    fixture.link("links/dangling", "nowhere");
}

fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("mode");
}

/// Creates a pipe in place of the file at this path.
pub(crate) fn make_pipe(path: &Path) {
    let _absent = fs::remove_file(path);
    fs::create_dir_all(path.parent().expect("parent")).expect("directories");
    assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo").success());
}
