//! The parts that all listings share: the limits, the order, and the digest that identifies a state of the
//! files on disk.

use std::collections::HashSet;

use cairn_domain::{Digest, Digester, RepoPath};
use cairn_ports::{ErrorKind, ListedSoFar, ListingLimit, SourceError, SyncMeter, TreeEntry};

use crate::blob_id::NO_BLOB;
use crate::failure::failure;
use crate::settings::Limits;

/// Counts the entries of a listing. Returns an error if the limit of the adapter or of the caller is
/// exceeded, or if the sync was stopped.
pub(crate) struct Counter<'l> {
    key: &'l str,
    max_entries: usize,
    limit: &'l ListingLimit,
    meter: &'l SyncMeter,
    listed: ListedSoFar,
    num_directories: u64,
}

impl<'l> Counter<'l> {
    pub(crate) fn new(key: &'l str, max_entries: usize, limit: &'l ListingLimit, meter: &'l SyncMeter) -> Self {
        Self { key, max_entries, limit, meter, listed: ListedSoFar::default(), num_directories: 0 }
    }

    /// Checks the numbers of the whole listing, which are known before the first entry exists.
    pub(crate) fn expect(&self, whole: ListedSoFar) -> Result<(), SourceError> {
        self.check_entries(whole.num_paths)?;
        self.limit.check(ListedSoFar { is_complete: true, ..whole })
    }

    /// Counts a directory that is not the root, and checks the limits. Call this function before the
    /// directory is stored.
    pub(crate) fn add_directory(&mut self, path: &[u8]) -> Result<(), SourceError> {
        self.num_directories += 1;
        self.listed.path_bytes = self.listed.path_bytes.saturating_add(path.len() as u64);
        self.check_directories(self.num_directories)?;
        self.limit.check(self.listed)
    }

    /// Counts an entry and checks the limits. Call this function before the entry is stored.
    pub(crate) fn add(&mut self, path: &RepoPath, size_bytes: u64) -> Result<(), SourceError> {
        self.listed.num_paths += 1;
        self.listed.path_bytes = self.listed.path_bytes.saturating_add(path.as_str().len() as u64);
        self.listed.size_bytes = self.listed.size_bytes.saturating_add(size_bytes);
        self.check_entries(self.listed.num_paths)?;
        self.limit.check(self.listed)
    }

    /// Checks the limits after the last entry was added.
    pub(crate) fn check_complete(&self) -> Result<(), SourceError> {
        self.limit.check(ListedSoFar { is_complete: true, ..self.listed })
    }

    /// Checks a number of paths against the limit of the adapter, but not against the limit of the caller.
    /// The source has at least `num_paths` paths.
    pub(crate) fn check_entries(&self, num_paths: u64) -> Result<(), SourceError> {
        self.check("paths", num_paths)
    }

    /// Checks a number of directories against the limit for paths, because the walk visits each directory.
    pub(crate) fn check_directories(&self, num_directories: u64) -> Result<(), SourceError> {
        self.check("directories", num_directories)
    }

    /// Returns an error if the sync was stopped.
    pub(crate) fn check_stopped(&self) -> Result<(), SourceError> {
        self.meter.check("open", self.key)
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.meter.is_stopped()
    }

    fn check(&self, what: &str, figure: u64) -> Result<(), SourceError> {
        self.check_stopped()?;
        let limit = self.max_entries;
        if figure <= limit as u64 {
            return Ok(());
        }
        let message = format!("the source has at least {figure} {what}; the limit is {limit} (`sources.max_entries`)");
        Err(failure(ErrorKind::TooLarge, "open", self.key, message))
    }
}

/// Checks how many of the listed paths have the same content as another path.
pub(crate) fn check_contents(entries: &[TreeEntry], limit: &ListingLimit) -> Result<(), SourceError> {
    let (mut contents, mut listed) = (HashSet::new(), ListedSoFar { is_complete: true, ..ListedSoFar::default() });
    for entry in entries {
        listed.num_paths += 1;
        listed.size_bytes = listed.size_bytes.saturating_add(entry.size_bytes);
        listed.path_bytes = listed.path_bytes.saturating_add(entry.path.as_str().len() as u64);
        listed.num_repeated += u64::from(entry.blob != NO_BLOB && !contents.insert(entry.blob));
    }
    limit.check(listed)
}

/// The entry that represents a path that is too deep or too long, and everything below it.
pub(crate) struct Excess {
    pub(crate) path: Vec<u8>,
    /// The reason why the entry is unreadable.
    pub(crate) why: String,
}

/// The length of the digest in the path of an `Excess`, including the separator.
const DIGEST_BYTES: usize = 17;

/// Checks a path and the directories above it. `None` if all of them are within the limits.
///
/// A directory that is too deep is listed under its own path. A path that is too long is listed under its
/// first bytes, followed by a digest of the path. So each listed path has a limited length, and two different
/// long paths become two different entries.
pub(crate) fn excess_of(path: &[u8], is_directory: bool, limits: &Limits) -> Option<Excess> {
    let Limits { max_depth, max_path_bytes, .. } = *limits;
    if path.len() <= max_path_bytes && path.len() < max_depth {
        return None;
    }
    let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(position, _)| position);
    for (num_above, end) in slashes.chain([path.len()]).enumerate() {
        let is_directory = is_directory || end < path.len();
        if end > max_path_bytes {
            let begin = &path[..max_path_bytes.saturating_sub(DIGEST_BYTES)];
            let digest = &blake3::hash(&path[..end]).to_hex()[1..DIGEST_BYTES];
            let why = format!("the path has {end} bytes; the limit is {max_path_bytes}");
            return Some(Excess { path: [begin, b"~", digest.as_bytes()].concat(), why });
        }
        if is_directory && num_above >= max_depth {
            let why = format!("directories are listed to a depth of {max_depth}");
            return Some(Excess { path: path[..end].to_vec(), why });
        }
    }
    None
}

/// Sorts by path and removes repeated paths.
///
/// Names are unique within a directory and within a well-formed tree. So two equal neighbours mean that one
/// file was found twice (on disk and in the index), or that the tree is forged.
pub(crate) fn sort(entries: &mut Vec<TreeEntry>) {
    entries.sort_unstable_by(|left, right| left.path.cmp(&right.path));
    entries.dedup_by(|left, right| left.path == right.path);
}

/// Returns a digest of the paths, kinds, ids and sizes in a sorted tree.
pub(crate) fn digest(entries: &[TreeEntry]) -> Digest {
    let add = |digester: Digester, entry: &TreeEntry| {
        digester.text(entry.path.as_str()).number(entry.kind as u64).bytes(&entry.blob.0).number(entry.size_bytes)
    };
    Digester::new("tree").list(entries, add).digest()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_part_over_a_limit_is_found() {
        let limits = Limits { max_depth: 2, max_path_bytes: 40, ..Limits::default() };
        let check = |path: &str, is_directory: bool, expect: Option<&str>| {
            let excess = excess_of(path.as_bytes(), is_directory, &limits);
            let found = excess.map(|excess| String::from_utf8(excess.path).expect("UTF-8"));
            assert_eq!(found.as_deref(), expect, "{path}");
        };
        check("a/b/c", false, None);
        check("a/b", true, None);
        check("a/b/c", true, Some("a/b/c"));
        check("a/b/c/d/e", false, Some("a/b/c"));
        check(&"a".repeat(40), true, None);
        let long = excess_of("a".repeat(41).as_bytes(), false, &limits).expect("too long").path;
        assert!(long.len() == 40 && long.starts_with(&b"a".repeat(23)), "{long:?}");
        let other = excess_of("a".repeat(42).as_bytes(), false, &limits).expect("too long").path;
        assert_ne!(long, other);
        let below = excess_of(["a".repeat(41).as_str(), "/b"].concat().as_bytes(), false, &limits).expect("too long");
        assert_eq!(below.path, long);
    }
}
