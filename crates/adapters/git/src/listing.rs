//! The parts that all listings share: the limits, the order, and the digest that identifies a state of the
//! files on disk.

use cairn_domain::{Digest, Digester};
use cairn_ports::{ErrorKind, ListedSoFar, ListingLimit, SourceError, TreeEntry};

use crate::failure::failure;

/// Counts the entries of a listing. Returns an error if the limit of the adapter or of the caller is
/// exceeded.
pub(crate) struct Counter<'l> {
    key: &'l str,
    max_entries: usize,
    limit: &'l ListingLimit,
    listed: ListedSoFar,
}

impl<'l> Counter<'l> {
    pub(crate) fn new(key: &'l str, max_entries: usize, limit: &'l ListingLimit) -> Self {
        Self { key, max_entries, limit, listed: ListedSoFar::default() }
    }

    /// Checks the number of paths of the whole listing, which is known before the first entry exists.
    pub(crate) fn expect(&self, num_paths: u64) -> Result<(), SourceError> {
        self.check_entries(num_paths)?;
        self.limit.check(ListedSoFar { num_paths, size_bytes: 0 })
    }

    /// Counts an entry and checks the limits. Call this function before the entry is stored.
    pub(crate) fn add(&mut self, size_bytes: u64) -> Result<(), SourceError> {
        self.listed.num_paths += 1;
        self.listed.size_bytes = self.listed.size_bytes.saturating_add(size_bytes);
        self.check_entries(self.listed.num_paths)?;
        self.limit.check(self.listed)
    }

    /// Checks a number of paths against the adapter's limit alone.
    pub(crate) fn check_entries(&self, num_paths: u64) -> Result<(), SourceError> {
        if num_paths <= self.max_entries as u64 {
            return Ok(());
        }
        let message = format!("the source has more than {} paths (`sources.max_entries`)", self.max_entries);
        Err(failure(ErrorKind::TooLarge, "open", self.key, message))
    }

    /// Checks a number of directories against the same limit, because the walk visits each directory.
    pub(crate) fn check_directories(&self, num_directories: u64) -> Result<(), SourceError> {
        if num_directories <= self.max_entries as u64 {
            return Ok(());
        }
        let message = format!("the source has more than {} directories (`sources.max_entries`)", self.max_entries);
        Err(failure(ErrorKind::TooLarge, "open", self.key, message))
    }
}

/// Sorts by path and removes repeated paths.
///
/// Names are unique within a directory and within a well-formed tree. So two equal neighbours mean that one
/// file was found twice (on disk and in the index), or that the tree is forged.
pub(crate) fn sort(entries: &mut Vec<TreeEntry>) {
    entries.sort_unstable_by(|left, right| left.path.cmp(&right.path));
    entries.dedup_by(|left, right| left.path == right.path);
}

/// Hashes the paths, kinds, ids and sizes of a sorted tree.
pub(crate) fn digest(entries: &[TreeEntry]) -> Digest {
    let add = |digester: Digester, entry: &TreeEntry| {
        digester.text(entry.path.as_str()).number(entry.kind as u64).bytes(&entry.blob.0).number(entry.size_bytes)
    };
    Digester::new("tree").list(entries, add).digest()
}
