//! Faults that a test plants in sources. Each wrapper adds exactly one fault.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use anyhow::Result;
use cairn_domain::{BlobId, RepoPath, Revision, Source};
use cairn_ports::{ContentReader, ReadOptions, SnapshotTree, SourceCache, SourceError, SourceReader, TreeEntry};

use crate::faulty::{Faulty, planted};
use crate::source::SourceUnderTest;
use crate::suite::PlantedFault;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    LosesPaths,
    ListsBackwards,
    RepeatsPaths,
    ListsWhatIsNotThere,
    TruncatesContents,
    ReadsTheFirstFile,
    GivesOneIdToAll,
    TrustsItsCache,
    InventsTimes,
    ForgetsTimes,
    OpensWhatIsNotThere,
}

const ALL: [(&str, Fault, &str); 10] = [
    ("loses a path", Fault::LosesPaths, "every_path_is_listed_once_and_sorted"),
    ("lists backwards", Fault::ListsBackwards, "every_path_is_listed_once_and_sorted"),
    ("lists a path twice", Fault::RepeatsPaths, "every_path_is_listed_once_and_sorted"),
    ("lists paths that do not exist", Fault::ListsWhatIsNotThere, "every_path_is_listed_once_and_sorted"),
    ("cuts contents", Fault::TruncatesContents, "contents_come_back"),
    ("returns the content of the first file for every file", Fault::ReadsTheFirstFile, "contents_come_back"),
    ("gives the same id to all contents", Fault::GivesOneIdToAll, "equal_contents_have_the_id_that_git_gives"),
    ("trusts its cache after any change", Fault::TrustsItsCache, "caches_change_nothing"),
    ("gives the same time to all changes", Fault::InventsTimes, "changes_are_dated_if_history_exists"),
    ("opens paths that do not exist", Fault::OpensWhatIsNotThere, "missing_source_is_not_found"),
];

pub fn faults(has_history: bool) -> Vec<PlantedFault<dyn SourceUnderTest>> {
    let of_history = has_history.then_some((
        "does not return times of changes",
        Fault::ForgetsTimes,
        "changes_are_dated_if_history_exists",
    ));
    planted(ALL.into_iter().chain(of_history), |faulty| Box::new(faulty))
}

/// The entries for each cache. A planted fault returns these entries without checking whether the cache is
/// still valid.
static TRUSTED: Mutex<BTreeMap<Vec<u8>, Vec<TreeEntry>>> = Mutex::new(BTreeMap::new());

impl SourceUnderTest for Faulty<dyn SourceUnderTest, Fault> {
    fn reader(&self) -> &dyn SourceReader {
        self
    }

    fn hold(&self, files: &BTreeMap<Vec<u8>, Vec<u8>>) -> Result<Source> {
        self.inner.hold(files)
    }

    fn has_history(&self) -> bool {
        self.inner.has_history()
    }

    fn reports_head(&self) -> bool {
        self.inner.reports_head()
    }
}

impl SourceReader for Faulty<dyn SourceUnderTest, Fault> {
    fn head(&self, source: &Source, options: &ReadOptions) -> Result<Option<BlobId>, SourceError> {
        self.inner.reader().head(source, options)
    }

    fn open(&self, source: &Source, options: &ReadOptions) -> Result<Box<dyn SnapshotTree>, SourceError> {
        let opened = self.inner.reader().open(source, options);
        if self.fault == Fault::OpensWhatIsNotThere && opened.is_err() {
            let revision = Revision::Commit(BlobId([0; 20]));
            let cache = SourceCache::default();
            return Ok(Box::new(FaultyTree { inner: None, fault: self.fault, revision, entries: Vec::new(), cache }));
        }
        let inner = opened?;
        let mut entries = inner.entries().to_vec();
        spoil(self.fault, &mut entries);
        if self.fault == Fault::TrustsItsCache {
            let mut trusted = TRUSTED.lock().unwrap_or_else(PoisonError::into_inner);
            let key = |cache: &SourceCache| [cache.stats.as_slice(), b"/", &cache.history].concat();
            if let Some(known) = trusted.get(&key(&options.cache)).filter(|_| options.cache != SourceCache::default()) {
                entries.clone_from(known);
            }
            trusted.insert(key(inner.cache()), entries.clone());
        }
        let (revision, cache) = (inner.revision().clone(), inner.cache().clone());
        Ok(Box::new(FaultyTree { inner: Some(inner), fault: self.fault, revision, entries, cache }))
    }
}

fn spoil(fault: Fault, entries: &mut Vec<TreeEntry>) {
    match fault {
        Fault::LosesPaths => drop(entries.pop()),
        Fault::ListsBackwards => entries.reverse(),
        Fault::RepeatsPaths => entries.extend(entries.last().cloned()),
        Fault::ListsWhatIsNotThere => {
            let more = entries.last().cloned().zip(RepoPath::parse("~").ok());
            entries.extend(more.map(|(entry, path)| TreeEntry { path, ..entry }));
        }
        Fault::GivesOneIdToAll => entries.iter_mut().for_each(|entry| entry.blob = BlobId([1; 20])),
        Fault::InventsTimes => entries.iter_mut().for_each(|entry| entry.changed_at = Some(1_000_000_000)),
        Fault::ForgetsTimes => entries.iter_mut().for_each(|entry| entry.changed_at = None),
        _ => {}
    }
}

struct FaultyTree {
    /// None if the path does not exist.
    inner: Option<Box<dyn SnapshotTree>>,
    fault: Fault,
    revision: Revision,
    entries: Vec<TreeEntry>,
    cache: SourceCache,
}

impl SnapshotTree for FaultyTree {
    fn revision(&self) -> &Revision {
        &self.revision
    }

    fn branch(&self) -> Option<&str> {
        self.inner.as_ref()?.branch()
    }

    fn entries(&self) -> &[TreeEntry] {
        &self.entries
    }

    fn reader(&self) -> Result<Box<dyn ContentReader>, SourceError> {
        let inner = self.inner.as_ref().map(|inner| inner.reader()).transpose()?;
        Ok(Box::new(FaultyReader { inner, fault: self.fault, first: self.entries.first().cloned() }))
    }

    fn cache(&self) -> &SourceCache {
        &self.cache
    }
}

struct FaultyReader {
    inner: Option<Box<dyn ContentReader>>,
    fault: Fault,
    first: Option<TreeEntry>,
}

impl ContentReader for FaultyReader {
    fn read(&mut self, entry: &TreeEntry) -> Result<Vec<u8>, SourceError> {
        let Some(inner) = &mut self.inner else { return Ok(Vec::new()) };
        let entry = self.first.as_ref().filter(|_| self.fault == Fault::ReadsTheFirstFile).unwrap_or(entry);
        let mut bytes = inner.read(entry)?;
        if self.fault == Fault::TruncatesContents {
            bytes.pop();
        }
        Ok(bytes)
    }
}
