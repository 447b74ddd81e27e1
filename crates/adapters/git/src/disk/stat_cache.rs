//! Stores the ids of files on disk, so that unchanged files are not read again.
//!
//! A file is treated as unchanged if its size, its inode and its times of modification and change equal the
//! stored values. Times are compared in nanoseconds. This comparison is not sufficient for a file that
//! changes twice within one tick of the file system's clock. So a file is stored in the cache only if both
//! times are at least two seconds before the start of the read. Git has the same rule for entries that are
//! "racily clean". This module applies the rule when it writes the cache. The cache is an opaque sequence of
//! bytes with a checksum. If the bytes are damaged or have a different format, the cache is treated as empty.

use std::collections::HashMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cairn_domain::BlobId;

const MAGIC: &[u8; 8] = b"cairnst2";
const KEY_BYTES: usize = 16;
const CHECKSUM_BYTES: usize = 16;

/// Among the file systems that are still in use, the coarsest clock has ticks of two seconds.
const TICK: Duration = Duration::from_secs(2);

/// If one of these values differs, the file may have changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Stat {
    pub(super) modified_ns: i64,
    pub(super) changed_ns: i64,
    pub(super) size_bytes: u64,
    pub(super) inode: u64,
}

impl Stat {
    pub(super) fn of(metadata: &Metadata) -> Self {
        let ns = |seconds: i64, nanoseconds: i64| seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds);
        Self {
            modified_ns: ns(metadata.mtime(), metadata.mtime_nsec()),
            changed_ns: ns(metadata.ctime(), metadata.ctime_nsec()),
            size_bytes: metadata.size(),
            inode: metadata.ino(),
        }
    }
}

/// The hash of a path. A hash is smaller than the path, and a path could contain a secret, which must not be
/// stored.
type PathKey = [u8; KEY_BYTES];

fn key_of(path: &[u8]) -> PathKey {
    let mut key = [0; KEY_BYTES];
    key.copy_from_slice(&blake3::hash(path).as_bytes()[..KEY_BYTES]);
    key
}

/// The stat data and ids of files, by the hash of their paths (in the bytes that the file system stores).
#[derive(Default)]
pub(super) struct StatCache(HashMap<PathKey, (Stat, BlobId)>);

impl StatCache {
    pub(super) fn get(&self, path: &[u8], stat: &Stat) -> Option<BlobId> {
        self.0.get(&key_of(path)).filter(|(known, _)| known == stat).map(|(_, blob)| *blob)
    }

    /// Returns an empty cache for bytes that this type did not write.
    pub(super) fn decode(bytes: &[u8]) -> Self {
        decode(bytes).unwrap_or_default()
    }
}

fn decode(bytes: &[u8]) -> Option<StatCache> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (checksum, mut rest) = rest.split_at_checked(CHECKSUM_BYTES)?;
    if blake3::hash(rest).as_bytes()[..CHECKSUM_BYTES] != *checksum {
        return None;
    }
    let mut entries = HashMap::new();
    while !rest.is_empty() {
        let (key, after) = rest.split_first_chunk::<KEY_BYTES>()?;
        let (modified, after) = after.split_first_chunk::<8>()?;
        let (changed, after) = after.split_first_chunk::<8>()?;
        let (size, after) = after.split_first_chunk::<8>()?;
        let (inode, after) = after.split_first_chunk::<8>()?;
        let (blob, after) = after.split_first_chunk::<20>()?;
        let stat = Stat {
            modified_ns: i64::from_le_bytes(*modified),
            changed_ns: i64::from_le_bytes(*changed),
            size_bytes: u64::from_le_bytes(*size),
            inode: u64::from_le_bytes(*inode),
        };
        entries.insert(*key, (stat, BlobId(*blob)));
        rest = after;
    }
    Some(StatCache(entries))
}

/// Collects the entries of the next cache.
pub(super) struct StatCacheWriter {
    body: Vec<u8>,
    /// Files that changed at this time or later are not stored.
    trusted_before_ns: i64,
}

impl StatCacheWriter {
    /// `started_at` is a time before the first file was read.
    pub(super) fn new(started_at: SystemTime) -> Self {
        let since_epoch = started_at.duration_since(UNIX_EPOCH).unwrap_or_default().saturating_sub(TICK);
        Self { body: Vec::new(), trusted_before_ns: i64::try_from(since_epoch.as_nanos()).unwrap_or(0) }
    }

    pub(super) fn add(&mut self, path: &[u8], stat: &Stat, blob: BlobId) {
        if stat.modified_ns.max(stat.changed_ns) >= self.trusted_before_ns {
            return;
        }
        self.body.extend_from_slice(&key_of(path));
        self.body.extend_from_slice(&stat.modified_ns.to_le_bytes());
        self.body.extend_from_slice(&stat.changed_ns.to_le_bytes());
        self.body.extend_from_slice(&stat.size_bytes.to_le_bytes());
        self.body.extend_from_slice(&stat.inode.to_le_bytes());
        self.body.extend_from_slice(&blob.0);
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&blake3::hash(&self.body).as_bytes()[..CHECKSUM_BYTES]);
        bytes.extend_from_slice(&self.body);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stat(modified_ns: i64) -> Stat {
        Stat { modified_ns, changed_ns: 7, size_bytes: 3, inode: 9 }
    }

    #[test]
    fn recently_changed_files_are_not_stored() {
        let second = 1_000_000_000;
        let mut writer = StatCacheWriter::new(UNIX_EPOCH + Duration::from_secs(100));
        for (path, modified) in [(b"old", 97 * second), (b"new", 98 * second), (b"fut", 200 * second)] {
            writer.add(path, &stat(modified), BlobId([1; 20]));
        }
        let cache = StatCache::decode(&writer.encode());
        assert_eq!(cache.get(b"old", &stat(97 * second)), Some(BlobId([1; 20])));
        assert_eq!(cache.get(b"old", &stat(97 * second + 1)), None);
        assert_eq!(cache.get(b"old", &Stat { inode: 8, ..stat(97 * second) }), None);
        assert_eq!(cache.get(b"new", &stat(98 * second)), None);
        assert_eq!(cache.get(b"fut", &stat(200 * second)), None);
    }

    #[test]
    fn file_names_are_not_stored() {
        let mut writer = StatCacheWriter::new(SystemTime::now());
        writer.add(b"a-name-of-a-file", &stat(1), BlobId([1; 20]));
        assert!(!writer.encode().windows(6).any(|window| window == b"a-name"));
    }

    #[test]
    fn damaged_caches_are_empty() {
        let mut writer = StatCacheWriter::new(SystemTime::now());
        writer.add(b"a", &stat(1), BlobId([2; 20]));
        let bytes = writer.encode();
        assert_eq!(StatCache::decode(&bytes).0.len(), 1);
        for position in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[position] ^= 1;
            assert!(StatCache::decode(&damaged).0.is_empty(), "byte {position}");
            assert!(StatCache::decode(&bytes[..position]).0.is_empty(), "cut at {position}");
        }
    }
}
