//! Reads the index of a working tree: the list of its tracked files.
//!
//! The file comes with the repository. In version 4, a path is stored as its difference from the previous
//! path, so a file of a few megabytes can contain gigabytes of paths. So the file is read piece by piece, and
//! the number and the total size of the paths are checked before they are stored. Extensions are not parsed.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use cairn_redaction::Untrusted;
use git2::Oid;
use sha1::{Digest, Sha1};

use super::git_directory::{is_absent, unusable};
use crate::regular_file::open_regular;

const SIGNATURE: &[u8; 4] = b"DIRC";
const CHECKSUM_BYTES: u64 = 20;
/// The size of the fields before the path of an entry. No entry is smaller.
const FIXED_BYTES: u64 = 62;
/// The bits of the flags of an entry.
const EXTENDED: u16 = 0x4000;
const NAME_LENGTH: u16 = 0x0fff;
/// A bit of the extended flags.
const SKIP_WORKTREE: u16 = 0x4000;
/// The longest path that a system opens.
const MAX_PATH_BYTES: usize = 4_096;
/// Maximum size of the file, and maximum length of all paths together. Both are in bytes for each path that
/// the index may have.
const MAX_FILE_BYTES_PER_PATH: u64 = 512;
const MAX_BYTES_PER_PATH: u64 = 128;

/// A tracked file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TrackedFile {
    pub(crate) path: Box<[u8]>,
    pub(crate) id: Oid,
    pub(crate) mode: u32,
    /// The size of the file and the time of its last change, as stored when git last found the file
    /// unchanged. The format cuts both to 32 bits.
    pub(crate) file_size: u32,
    pub(crate) changed_at_seconds: u32,
    pub(crate) changed_at_nanoseconds: u32,
    /// Whether a sparse checkout leaves the file out of the working tree.
    pub(crate) is_left_out: bool,
}

/// Reads the index at this path. If the file does not exist, the result is empty.
pub(super) fn read(path: &Path, max_paths: u64) -> Result<Vec<TrackedFile>, git2::Error> {
    let file = match open_regular(path) {
        Ok(file) => file,
        Err(error) if is_absent(&error) => return Ok(Vec::new()),
        Err(error) => return Err(unusable("index", &error)),
    };
    let num_bytes = file.metadata().map_err(|error| unusable("index", &error))?.len();
    let max_bytes = max_paths.saturating_mul(MAX_FILE_BYTES_PER_PATH);
    let parsed = check("bytes", num_bytes, max_bytes).and_then(|()| parse(file, num_bytes, max_paths));
    parsed.map_err(|fault| unusable("index", &fault))
}

/// Why an index cannot be used.
#[derive(Debug, thiserror::Error)]
enum IndexFault {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("it is damaged")]
    Damaged,
    #[error("it has the version {0}, which is not supported")]
    Version(u32),
    #[error("it is a split index, which is not supported; run `git update-index --no-split-index`")]
    Split,
    #[error("it is a sparse index, which is not supported; run `git sparse-checkout reapply --no-sparse-index`")]
    Sparse,
    #[error("it has the extension {0}, which is not supported")]
    Extension(Untrusted),
    #[error("it has {figure} {what}; the limit is {limit} (`sources.max_entries`)")]
    TooLarge { figure: u64, what: &'static str, limit: u64 },
}

impl IndexFault {
    /// The fault of an index with this extension, which changes the meaning of the entries.
    fn of_extension(name: [u8; 4]) -> Self {
        match &name {
            b"link" => Self::Split,
            b"sdir" => Self::Sparse,
            _ => Self::Extension(Untrusted::from_bytes(&name)),
        }
    }
}

fn parse(file: File, num_bytes: u64, max_paths: u64) -> Result<Vec<TrackedFile>, IndexFault> {
    let content_bytes = num_bytes.checked_sub(CHECKSUM_BYTES).ok_or(IndexFault::Damaged)?;
    let mut content = Content { rest: BufReader::new(file).take(content_bytes), hash: Sha1::new() };
    if content.array::<4>()? != *SIGNATURE {
        return Err(IndexFault::Damaged);
    }
    let version = content.number()?;
    if !(2..=4).contains(&version) {
        return Err(IndexFault::Version(version));
    }
    let num_paths = u64::from(content.number()?);
    check("paths", num_paths, max_paths)?;
    let max_path_bytes = max_paths.saturating_mul(MAX_BYTES_PER_PATH);
    let mut tracked = Vec::with_capacity(usize::try_from(num_paths.min(num_bytes / FIXED_BYTES)).unwrap_or(0));
    let (mut path, mut path_bytes) = (Vec::new(), 0);
    for _ in 0..num_paths {
        let file = content.entry(version, &mut path)?;
        path_bytes += file.path.len() as u64;
        check("bytes of paths", path_bytes, max_path_bytes)?;
        tracked.push(file);
    }
    content.skip_extensions()?;
    let computed: [u8; 20] = content.hash.finalize().into();
    let mut stated = [0; 20];
    let mut file = content.rest.into_inner();
    file.read_exact(&mut stated)?;
    // Git writes zeros if `index.skipHash` is set.
    if stated != [0; 20] && stated != computed { Err(IndexFault::Damaged) } else { Ok(tracked) }
}

fn check(what: &'static str, figure: u64, limit: u64) -> Result<(), IndexFault> {
    if figure > limit { Err(IndexFault::TooLarge { figure, what, limit }) } else { Ok(()) }
}

/// The part of the file before its checksum.
struct Content {
    rest: io::Take<BufReader<File>>,
    hash: Sha1,
}

impl Content {
    fn array<const LENGTH: usize>(&mut self) -> Result<[u8; LENGTH], IndexFault> {
        let mut bytes = [0; LENGTH];
        self.rest.read_exact(&mut bytes).map_err(damaged_at_end)?;
        self.hash.update(bytes);
        Ok(bytes)
    }

    fn number(&mut self) -> Result<u32, IndexFault> {
        self.array().map(u32::from_be_bytes)
    }

    /// Reads an entry. Before the call, `path` is the path of the previous entry; after the call, it is the
    /// path of this entry.
    fn entry(&mut self, version: u32, path: &mut Vec<u8>) -> Result<TrackedFile, IndexFault> {
        let _created_at: [u8; 8] = self.array()?;
        let (changed_at_seconds, changed_at_nanoseconds) = (self.number()?, self.number()?);
        let _device_and_inode: [u8; 8] = self.array()?;
        let mode = self.number()?;
        let _owner_and_group: [u8; 8] = self.array()?;
        let file_size = self.number()?;
        let id = Oid::from_bytes(&self.array::<20>()?).map_err(|_| IndexFault::Damaged)?;
        let flags = u16::from_be_bytes(self.array()?);
        let (mut num_fixed_bytes, mut extended_flags) = (FIXED_BYTES, 0);
        if flags & EXTENDED != 0 {
            extended_flags = u16::from_be_bytes(self.array()?);
            num_fixed_bytes += 2;
        }
        if version == 4 {
            let num_removed = self.variable_number()?;
            let kept = (path.len() as u64).checked_sub(num_removed).ok_or(IndexFault::Damaged)?;
            path.truncate(kept as usize);
            self.until_zero(path)?;
        } else {
            path.clear();
            self.until_zero(path)?;
            if path.len().min(usize::from(NAME_LENGTH)) != usize::from(flags & NAME_LENGTH) {
                return Err(IndexFault::Damaged);
            }
            // An entry ends with one to eight zeros, so that its size is a multiple of eight.
            let num_zeros = 8 - (num_fixed_bytes + path.len() as u64) % 8;
            self.skip(num_zeros - 1)?;
        }
        let path = path.as_slice().into();
        let is_left_out = extended_flags & SKIP_WORKTREE != 0;
        Ok(TrackedFile { path, id, mode, file_size, changed_at_seconds, changed_at_nanoseconds, is_left_out })
    }

    /// Appends the bytes before the next zero byte to a path.
    fn until_zero(&mut self, path: &mut Vec<u8>) -> Result<(), IndexFault> {
        let start = path.len();
        self.rest.by_ref().take(MAX_PATH_BYTES as u64 + 1).read_until(0, path)?;
        self.hash.update(&path[start..]);
        if path.pop() == Some(0) && path.len() <= MAX_PATH_BYTES { Ok(()) } else { Err(IndexFault::Damaged) }
    }

    /// A number in the encoding that git also uses for the offsets in packs.
    fn variable_number(&mut self) -> Result<u64, IndexFault> {
        let [mut byte] = self.array()?;
        let mut number = u64::from(byte & 0x7f);
        while byte & 0x80 != 0 {
            [byte] = self.array()?;
            number = number.checked_add(1).and_then(|number| number.checked_mul(0x80)).ok_or(IndexFault::Damaged)?;
            number += u64::from(byte & 0x7f);
        }
        Ok(number)
    }

    /// Skips the extensions. An extension may be skipped if its name begins with a capital letter.
    fn skip_extensions(&mut self) -> Result<(), IndexFault> {
        while self.rest.limit() > 0 {
            let name: [u8; 4] = self.array()?;
            if !name[0].is_ascii_uppercase() {
                return Err(IndexFault::of_extension(name));
            }
            let num_bytes = self.number()?;
            self.skip(u64::from(num_bytes))?;
        }
        Ok(())
    }

    fn skip(&mut self, num_bytes: u64) -> Result<(), IndexFault> {
        let num_skipped = io::copy(&mut self.rest.by_ref().take(num_bytes), &mut self.hash)?;
        if num_skipped == num_bytes { Ok(()) } else { Err(IndexFault::Damaged) }
    }
}

fn damaged_at_end(error: io::Error) -> IndexFault {
    if error.kind() == io::ErrorKind::UnexpectedEof { IndexFault::Damaged } else { error.into() }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// An index with these paths.
    fn index(version: u32, paths: &[&[u8]]) -> Vec<u8> {
        let mut bytes = SIGNATURE.to_vec();
        bytes.extend(version.to_be_bytes());
        bytes.extend((paths.len() as u32).to_be_bytes());
        let mut previous: &[u8] = b"";
        for path in paths {
            let start = bytes.len();
            bytes.extend((0..10_u32).flat_map(u32::to_be_bytes));
            bytes.extend([7; 20]);
            bytes.extend((path.len().min(0xfff) as u16).to_be_bytes());
            if version == 4 {
                let shared = previous.iter().zip(*path).take_while(|(left, right)| left == right).count();
                bytes.extend(encoded((previous.len() - shared) as u64));
                bytes.extend(&path[shared..]);
                bytes.push(0);
            } else {
                bytes.extend(*path);
                bytes.extend(vec![0; 8 - (bytes.len() - start) % 8]);
            }
            previous = path;
        }
        finished(bytes)
    }

    fn finished(mut bytes: Vec<u8>) -> Vec<u8> {
        let checksum: [u8; 20] = Sha1::digest(&bytes).into();
        bytes.extend(checksum);
        bytes
    }

    fn encoded(mut number: u64) -> Vec<u8> {
        let mut bytes = vec![(number & 0x7f) as u8];
        while number >= 0x80 {
            number = (number >> 7) - 1;
            bytes.insert(0, (number & 0x7f) as u8 | 0x80);
        }
        bytes
    }

    fn parsed(bytes: &[u8], max_paths: u64) -> Result<Vec<TrackedFile>, String> {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("index");
        fs::write(&path, bytes).expect("written");
        read(&path, max_paths).map_err(|error| error.message().to_owned())
    }

    #[test]
    fn paths_of_each_version_are_read() {
        let long = [b"a/".as_slice(), &b"long".repeat(1_020)].concat();
        let paths: &[&[u8]] = &[b"a", b"a/b", &long, b"a/c/deep", b"a/c/deeper", b"z"];
        for version in 2..=4 {
            let files = parsed(&index(version, paths), 1_000).expect("an index");
            assert_eq!(files.iter().map(|file| &*file.path).collect::<Vec<_>>(), paths, "version {version}");
            let last = files.last().expect("a file");
            assert_eq!((last.changed_at_seconds, last.changed_at_nanoseconds), (2, 3));
            assert_eq!((last.mode, last.file_size, last.id.as_bytes()[0]), (6, 9, 7));
        }
        assert_eq!(parsed(&index(2, &[]), 10), Ok(Vec::new()));
    }

    #[test]
    fn many_and_long_paths_are_refused() {
        let names: Vec<Vec<u8>> = (0..200).map(|number| format!("{}{number:03}", "d/".repeat(500)).into()).collect();
        let paths: Vec<&[u8]> = names.iter().map(Vec::as_slice).collect();
        let bytes = index(4, &paths);
        assert!(bytes.len() < 20_000, "{}", bytes.len());
        assert_eq!(parsed(&bytes, 2_000).map(|files| files.len()), Ok(200));
        let error = parsed(&bytes, 200).expect_err("too long");
        assert!(error.contains("bytes of paths; the limit is 25600 (`sources.max_entries`)"), "{error}");
        let error = parsed(&bytes, 199).expect_err("too many");
        assert!(error.contains("it has 200 paths; the limit is 199"), "{error}");
        // The number of paths in the header is refused before memory for these paths is reserved.
        let mut header = SIGNATURE.to_vec();
        header.extend([0, 0, 0, 2, 0xff, 0xff, 0xff, 0xff]);
        assert!(parsed(&finished(header.clone()), 1_000_000).expect_err("too many").contains("4294967295 paths"));
        assert!(parsed(&finished(header), u64::from(u32::MAX)).expect_err("truncated").contains("damaged"));
    }

    #[test]
    fn damaged_indexes_are_refused() {
        for version in [2, 4] {
            let bytes = index(version, &[b"a", b"ab/c"]);
            for length in 0..bytes.len() {
                assert!(parsed(&bytes[..length], 10).is_err(), "version {version}, {length} bytes");
            }
            let mut changed = bytes.clone();
            changed[40] ^= 1;
            assert!(parsed(&changed, 10).expect_err("a wrong checksum").contains("damaged"));
            let end = changed.len();
            changed[end - 20..].fill(0);
            assert_eq!(parsed(&changed, 10).map(|files| files.len()), Ok(2), "no checksum");
        }
        let with = |extension: &[u8]| {
            let mut bytes = index(2, &[b"a"]);
            bytes.truncate(bytes.len() - 20);
            bytes.extend(extension);
            parsed(&finished(bytes), 10)
        };
        assert_eq!(with(b"TREE\0\0\0\x02ab").map(|files| files.len()), Ok(1));
        assert!(with(b"TREE\0\0\0\x03ab").is_err());
        for (extension, expect) in [
            (b"link\0\0\0\x02ab", "it is a split index, which is not supported; run `git update-index --no-split"),
            (b"sdir\0\0\0\x02ab", "run `git sparse-checkout reapply --no-sparse-index`"),
            (b"new!\0\0\0\x02ab", "it has the extension «new!»"),
        ] {
            let error = with(extension).expect_err("an unknown extension");
            assert!(error.contains(expect), "{error}");
        }
        let error = parsed(&index(5, &[]), 10).expect_err("a new version");
        assert!(error.contains("version 5"), "{error}");
    }
}
