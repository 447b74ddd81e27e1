//! Checks loose objects before libgit2 reads them, because libgit2 hangs when it reads an object whose file
//! is truncated.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::ZlibDecoder;
use git2::Oid;

use crate::regular_file::open_regular;

/// The longest header of an object: its type and its size.
const MAX_HEADER_BYTES: u64 = 64;

/// The directories that contain the loose objects of a repository: its own directory, and its alternates.
pub(crate) struct LooseObjects {
    directories: Vec<PathBuf>,
}

impl LooseObjects {
    pub(super) fn new(directories: Vec<PathBuf>) -> Self {
        Self { directories }
    }

    /// Returns an error if the object has a loose file that is damaged, or whose header states more than
    /// `max_bytes`. A file that is too large is not unpacked, because a file of megabytes can contain
    /// gigabytes.
    pub(crate) fn check(&self, id: Oid, max_bytes: u64) -> Result<(), git2::Error> {
        self.check_files(id, |path| LooseFile::open(path).map_or(Ok(()), |file| file.check(max_bytes)))
    }

    /// Returns an error if the object has a loose file that is not a regular file, for example a pipe.
    pub(super) fn check_kind(&self, id: Oid) -> Result<(), git2::Error> {
        self.check_files(id, |path| match fs::metadata(path) {
            Ok(found) if !found.is_file() => Err("is damaged"),
            _ => Ok(()),
        })
    }

    fn check_files(&self, id: Oid, check: impl Fn(&Path) -> Result<(), &'static str>) -> Result<(), git2::Error> {
        let name = id.to_string();
        let (directory, file) = name.split_at(2);
        let mut files = self.directories.iter().map(|objects| objects.join(directory).join(file));
        let checked = files.try_for_each(|path| check(&path));
        checked.map_err(|why| git2::Error::from_str(&format!("the file of the object `{name}` {why}")))
    }
}

/// A loose file whose header was read.
struct LooseFile {
    /// The size of the object. `None` if the file has no readable header.
    header: Option<u64>,
    /// The unpacked bytes of the file. `None` if it is not a regular file.
    content: Option<BufReader<ZlibDecoder<BufReader<File>>>>,
}

impl LooseFile {
    /// Opens a loose file. `None` if there is no such file, or if the file has a format of old git versions,
    /// which does not start with a zlib stream.
    fn open(path: &Path) -> Option<Self> {
        let mut file = match open_regular(path) {
            Ok(file) => BufReader::new(file),
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                return Some(Self { header: None, content: None });
            }
            Err(_) => return None,
        };
        if file.fill_buf().is_ok_and(|start| !is_zlib(start)) {
            return None;
        }
        let mut content = BufReader::new(ZlibDecoder::new(file));
        Some(Self { header: read_header(&mut content), content: Some(content) })
    }

    /// Checks that the content of the file has the size that its header states.
    fn check(self, max_bytes: u64) -> Result<(), &'static str> {
        let damaged = Err("is damaged");
        let (Some(size), Some(content)) = (self.header, self.content) else { return damaged };
        if size > max_bytes {
            return Err("is too large");
        }
        match io::copy(&mut content.take(size), &mut io::sink()) {
            Ok(length) if length == size => Ok(()),
            _ => damaged,
        }
    }
}

/// Reads the size of an object from its header, which also contains its type.
fn read_header(content: &mut impl BufRead) -> Option<u64> {
    let mut header = Vec::new();
    content.take(MAX_HEADER_BYTES).read_until(0, &mut header).ok()?;
    let header = std::str::from_utf8(header.strip_suffix(b"\0")?).ok()?;
    header.split_once(' ')?.1.parse().ok()
}

fn is_zlib(start: &[u8]) -> bool {
    matches!(start, [first, second, ..] if first & 0x8f == 0x08 && u16::from_be_bytes([*first, *second]).is_multiple_of(31))
}
