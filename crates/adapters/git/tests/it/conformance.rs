//! Checks that each kind of source fulfils the contract of the port: working trees, bare repositories, plain
//! directories and remotes.

use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::{AtomicI64, Ordering};

use anyhow::Result;
use cairn_conformance::source::{self, SourceUnderTest};
use cairn_conformance::suite;
use cairn_domain::Source;
use cairn_git::{GitSettings, GitSources};
use cairn_ports::SourceReader;

use crate::support::Fixture;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    WorkTree,
    Bare,
    Directory,
    Remote,
}

struct Subject {
    kind: Kind,
    fixture: Fixture,
    sources: GitSources,
    minute: AtomicI64,
}

impl Subject {
    fn open(kind: Kind) -> Box<dyn SourceUnderTest> {
        let fixture = Fixture::repository();
        if kind == Kind::Directory {
            fs::remove_dir_all(fixture.repo.join(".git")).expect("removed");
        }
        let mut settings = GitSettings::new(fixture.clones());
        settings.remotes.allow_file = true;
        Box::new(Self { kind, fixture, sources: GitSources::new(settings), minute: AtomicI64::new(0) })
    }
}

impl SourceUnderTest for Subject {
    fn reader(&self) -> &dyn SourceReader {
        &self.sources
    }

    fn hold(&self, files: &BTreeMap<Vec<u8>, Vec<u8>>) -> Result<Source> {
        for entry in fs::read_dir(&self.fixture.repo)? {
            let entry = entry?;
            match entry.file_type()?.is_dir() {
                true if entry.file_name() == ".git" => {}
                true => fs::remove_dir_all(entry.path())?,
                false => fs::remove_file(entry.path())?,
            }
        }
        for (path, content) in files {
            self.fixture.write(path, content);
        }
        if self.kind != Kind::Directory {
            self.fixture.git(&["add", "--all"]);
            let minute = self.minute.fetch_add(1, Ordering::Relaxed);
            self.fixture.commit_at(1_700_000_000 + 60 * minute, "author");
        }
        Ok(match self.kind {
            Kind::WorkTree => self.fixture.work_tree(),
            Kind::Bare => self.fixture.bare(),
            Kind::Directory => self.fixture.plain(),
            Kind::Remote => Source::Url { url: format!("file://{}", self.fixture.path()) },
        })
    }

    /// A fetch from a remote transfers only one commit, so remotes have no history.
    fn has_history(&self) -> bool {
        matches!(self.kind, Kind::WorkTree | Kind::Bare)
    }

    fn reports_head(&self) -> bool {
        matches!(self.kind, Kind::Bare | Kind::Remote)
    }
}

async fn check(kind: Kind) -> Result<()> {
    let open = async || Ok(Subject::open(kind));
    suite::passes(&source::checks(), open).await?;
    suite::catches(&source::checks(), &source::faults(Subject::open(kind).has_history()), open).await
}

#[tokio::test]
async fn working_trees_pass_the_suite() -> Result<()> {
    check(Kind::WorkTree).await
}

#[tokio::test]
async fn bare_repositories_pass_the_suite() -> Result<()> {
    check(Kind::Bare).await
}

#[tokio::test]
async fn directories_pass_the_suite() -> Result<()> {
    check(Kind::Directory).await
}

#[tokio::test]
async fn remotes_pass_the_suite() -> Result<()> {
    check(Kind::Remote).await
}
