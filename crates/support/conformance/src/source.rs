//! The conformance suite of `SourceReader`, including its trees and readers. Each run tests one kind of
//! source.

mod faults;

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use cairn_domain::{EntryKind, RepoPath, Source};
use cairn_ports::{ErrorKind, ReadOptions, SnapshotTree, SourceCache, SourceReader, TreeEntry};

pub use faults::faults;

use crate::suite::{Check, checks, expect_eq};

/// A kind of source that the suite can create and change.
pub trait SourceUnderTest: Send + Sync {
    fn reader(&self) -> &dyn SourceReader;

    /// Replaces all files of the source; the keys are paths. Each call creates a new state, even if the files
    /// are the same. The time of each state is one minute after the time of the previous state.
    fn hold(&self, files: &BTreeMap<Vec<u8>, Vec<u8>>) -> Result<Source>;

    /// Whether each state is a commit. The times of changes are known only for commits.
    fn has_history(&self) -> bool;

    /// Whether the head can be read without opening the tree.
    fn reports_head(&self) -> bool;
}

pub fn checks() -> Vec<Check<dyn SourceUnderTest>> {
    checks![
        every_path_is_listed_once_and_sorted,
        equal_contents_have_the_id_that_git_gives,
        contents_come_back,
        a_state_has_one_revision,
        a_change_shows_where_it_is,
        caches_change_nothing,
        a_tree_stays_as_it_was_opened,
        changes_are_dated_if_history_exists,
        the_head_follows_the_source,
        missing_source_is_not_found,
    ]
}

type Files = BTreeMap<Vec<u8>, Vec<u8>>;

fn files(files: &[(&[u8], &[u8])]) -> Files {
    files.iter().map(|(path, content)| (path.to_vec(), content.to_vec())).collect()
}

/// Files with unusual names, with names whose sort order is unusual, and with names that are similar to names
/// of folders. Some contents are empty, binary or equal.
fn many() -> Files {
    let odd = files(&[
        (b"a", b"same\n"),
        (b"a-b", b"1"),
        (b"a.b/c", b"2"),
        (b"b/c/d/e/f", b"deep"),
        (b"caf\xe9.txt", b"latin"),
        ("größe/漢字".as_bytes(), "ü".as_bytes()),
        (b"new\nline \\ back", b"odd"),
        (b"empty", b""),
        (b"zeros", b"\0\0\x01"),
        (b"z/again", b"same\n"),
    ]);
    let wide = (0..40).map(|number| (format!("wide/{number}").into_bytes(), format!("{number}\n").into_bytes()));
    odd.into_iter().chain(wide).collect()
}

fn open(subject: &dyn SourceUnderTest, source: &Source, cache: &SourceCache) -> Result<Box<dyn SnapshotTree>> {
    let options = ReadOptions { cache: cache.clone(), ..ReadOptions::default() };
    Ok(subject.reader().open(source, &options)?)
}

fn open_without_cache(subject: &dyn SourceUnderTest, source: &Source) -> Result<Box<dyn SnapshotTree>> {
    open(subject, source, &SourceCache::default())
}

fn path(bytes: &[u8]) -> Result<RepoPath> {
    Ok(RepoPath::from_bytes(bytes)?)
}

fn find<'t>(tree: &'t dyn SnapshotTree, bytes: &[u8]) -> Result<&'t TreeEntry> {
    let path = path(bytes)?;
    tree.entries().iter().find(|entry| entry.path == path).with_context(|| format!("the tree has no entry `{path}`"))
}

async fn every_path_is_listed_once_and_sorted(subject: &dyn SourceUnderTest) -> Result<()> {
    for held in [many(), files(&[(b"only", b"1")])] {
        let tree = open_without_cache(subject, &subject.hold(&held)?)?;
        let found: Vec<(String, u64)> =
            tree.entries().iter().map(|entry| (entry.path.to_string(), entry.size_bytes)).collect();
        let expected: Result<Vec<(RepoPath, u64)>> =
            held.iter().map(|(name, content)| Ok((path(name)?, content.len() as u64))).collect();
        let mut expected = expected?;
        expected.sort();
        let expected: Vec<(String, u64)> =
            expected.into_iter().map(|(path, size_bytes)| (path.to_string(), size_bytes)).collect();
        expect_eq!(found, expected);
        ensure!(tree.entries().iter().all(|entry| entry.kind == EntryKind::File && entry.unreadable.is_none()));
    }
    Ok(())
}

async fn equal_contents_have_the_id_that_git_gives(subject: &dyn SourceUnderTest) -> Result<()> {
    let held = files(&[(b"empty", b""), (b"hello", b"hello\n"), (b"in/hello", b"hello\n"), (b"other", b"hello")]);
    let tree = open_without_cache(subject, &subject.hold(&held)?)?;
    let id = |name: &[u8]| Ok::<_, anyhow::Error>(find(tree.as_ref(), name)?.blob.to_string());
    expect_eq!(id(b"empty")?, "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
    expect_eq!(id(b"hello")?, "ce013625030ba8dba906f756967f9e9ca394464a");
    expect_eq!(id(b"in/hello")?, id(b"hello")?);
    ensure!(id(b"other")? != id(b"hello")?, "other bytes have the same id");
    Ok(())
}

async fn contents_come_back(subject: &dyn SourceUnderTest) -> Result<()> {
    let held = many();
    let tree = open_without_cache(subject, &subject.hold(&held)?)?;
    // Two readers are used, because in production each thread has its own reader.
    let (mut first, mut second) = (tree.reader()?, tree.reader()?);
    for (name, content) in &held {
        let entry = find(tree.as_ref(), name)?;
        for reader in [&mut first, &mut second] {
            let found = reader.read(entry)?;
            ensure!(found == *content, "reading `{}` returned {found:?}", entry.path);
        }
    }
    Ok(())
}

async fn a_state_has_one_revision(subject: &dyn SourceUnderTest) -> Result<()> {
    let source = subject.hold(&many())?;
    let (one, again) = (open_without_cache(subject, &source)?, open_without_cache(subject, &source)?);
    expect_eq!(one.revision().label(), again.revision().label());
    expect_eq!(one.entries(), again.entries());
    let mut changed = many();
    changed.insert(b"a".to_vec(), b"other\n".to_vec());
    let other = open_without_cache(subject, &subject.hold(&changed)?)?;
    ensure!(one.revision().label() != other.revision().label(), "two different states have the same revision");
    Ok(())
}

async fn a_change_shows_where_it_is(subject: &dyn SourceUnderTest) -> Result<()> {
    let before = open_without_cache(subject, &subject.hold(&many())?)?;
    let mut held = many();
    held.insert(b"a".to_vec(), b"SAME\n".to_vec());
    held.insert(b"added".to_vec(), b"1".to_vec());
    held.remove(b"zeros".as_slice());
    let after = open_without_cache(subject, &subject.hold(&held)?)?;
    let contents = |tree: &dyn SnapshotTree| -> BTreeMap<String, String> {
        tree.entries().iter().map(|entry| (entry.path.to_string(), entry.blob.to_string())).collect()
    };
    let (before, after) = (contents(before.as_ref()), contents(after.as_ref()));
    let differs = |path: &&String| before.get(*path) != after.get(*path);
    let mut changed: Vec<&String> = before.keys().chain(after.keys()).filter(differs).collect();
    changed.sort();
    changed.dedup();
    expect_eq!(changed, ["a", "added", "zeros"]);
    Ok(())
}

async fn caches_change_nothing(subject: &dyn SourceUnderTest) -> Result<()> {
    let mut held = many();
    let mut cache = SourceCache { stats: b"foreign".to_vec(), history: b"foreign".to_vec() };
    for round in 0..6 {
        // The content always has the same length, so that only its bytes differ between the states.
        held.insert(b"wide/7".to_vec(), format!("{round:04}").into_bytes());
        if round % 3 == 2 {
            held.remove(format!("wide/{round}").as_bytes());
        }
        let source = subject.hold(&held)?;
        let (cached, uncached) = (open(subject, &source, &cache)?, open_without_cache(subject, &source)?);
        expect_eq!(cached.entries(), uncached.entries());
        expect_eq!(cached.revision().label(), uncached.revision().label());
        cache = cached.cache().clone();
    }
    Ok(())
}

/// An open tree shows the state in which it was opened, or reports that it cannot show this state any more.
/// An open tree never shows the bytes of another state.
async fn a_tree_stays_as_it_was_opened(subject: &dyn SourceUnderTest) -> Result<()> {
    let mut held = files(&[(b"changes", b"before"), (b"goes", b"before"), (b"stays", b"before")]);
    let tree = open_without_cache(subject, &subject.hold(&held)?)?;
    let entries = tree.entries().to_vec();
    held.insert(b"changes".to_vec(), b"after!".to_vec());
    held.remove(b"goes".as_slice());
    subject.hold(&held)?;
    expect_eq!(tree.entries(), entries);
    let mut reader = tree.reader()?;
    for entry in &entries {
        match reader.read(entry) {
            Ok(bytes) => ensure!(bytes == b"before", "`{}` shows another state", entry.path),
            Err(error) => {
                ensure!(error.kind == ErrorKind::Conflict && entry.path.as_str() != "stays", "{}: {error}", entry.path);
            }
        }
    }
    Ok(())
}

async fn changes_are_dated_if_history_exists(subject: &dyn SourceUnderTest) -> Result<()> {
    let mut held = files(&[(b"a", b"1"), (b"dir/b", b"1"), (b"dir/c", b"1")]);
    let mut cache = SourceCache::default();
    let mut dates = Vec::new();
    for (name, content) in [(b"a".as_slice(), "1"), (b"dir/b", "2"), (b"dir/b", "3"), (b"dir/c", "2")] {
        held.insert(name.to_vec(), content.as_bytes().to_vec());
        let tree = open(subject, &subject.hold(&held)?, &cache)?;
        cache = tree.cache().clone();
        let date = |name: &[u8]| Ok::<_, anyhow::Error>(find(tree.as_ref(), name)?.changed_at);
        dates.push([date(b"a")?, date(b"dir/b")?, date(b"dir/c")?]);
    }
    if !subject.has_history() {
        ensure!(dates.iter().flatten().all(Option::is_none), "a source without a history returned times: {dates:?}");
        return Ok(());
    }
    let minutes = |date: Option<i64>| Ok::<_, anyhow::Error>((date.context("a time")? - start(&dates)?) / 60);
    let found: Vec<Vec<i64>> = dates
        .iter()
        .map(|dates| dates.iter().map(|date| minutes(*date)).collect::<Result<_>>())
        .collect::<Result<_>>()?;
    expect_eq!(found, [vec![0, 0, 0], vec![0, 1, 0], vec![0, 2, 0], vec![0, 2, 3]]);
    Ok(())
}

fn start(dates: &[[Option<i64>; 3]]) -> Result<i64> {
    dates.first().and_then(|first| first[0]).context("a first time")
}

async fn the_head_follows_the_source(subject: &dyn SourceUnderTest) -> Result<()> {
    let options = ReadOptions::default();
    let mut heads = Vec::new();
    for content in [b"1", b"2"] {
        let source = subject.hold(&files(&[(b"a", content)]))?;
        let head = subject.reader().head(&source, &options)?;
        expect_eq!(head, subject.reader().head(&source, &options)?);
        expect_eq!(head.is_some(), subject.reports_head());
        if let Some(head) = head {
            expect_eq!(open_without_cache(subject, &source)?.revision().label(), head.to_string());
        }
        heads.push(head);
    }
    ensure!(heads[0].is_none() || heads[0] != heads[1], "the head did not change with the source");
    Ok(())
}

async fn missing_source_is_not_found(subject: &dyn SourceUnderTest) -> Result<()> {
    let nowhere = |path: &str| format!("{path}/nowhere/at/all");
    let source = match subject.hold(&files(&[(b"a", b"1")]))? {
        Source::WorkTree { path } => Source::WorkTree { path: nowhere(&path) },
        Source::Bare { path } => Source::Bare { path: nowhere(&path) },
        Source::Directory { path } => Source::Directory { path: nowhere(&path) },
        Source::Url { url } => Source::Url { url: nowhere(&url) },
    };
    let opened = subject.reader().open(&source, &ReadOptions::default());
    let kind = opened.err().map(|error| error.kind);
    ensure!(
        kind == Some(ErrorKind::NotFound),
        "opening the missing source {} returned the error {kind:?}",
        source.location()
    );
    Ok(())
}
