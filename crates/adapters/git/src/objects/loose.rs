//! Checks loose objects before libgit2 reads them, because libgit2 never returns from the read of an object
//! whose file is truncated.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::ZlibDecoder;
use git2::{Oid, Repository};

use crate::regular_file::open_regular;

/// The longest header of an object: its type and its size.
const MAX_HEADER_BYTES: u64 = 64;
/// Limits on the alternates of a repository: the size of one list, and the number of all directories.
const MAX_LIST_BYTES: u64 = 64 << 10;
const MAX_DIRECTORIES: usize = 64;

/// The directories that contain the loose objects of a repository: its own directory, and its alternates.
pub(crate) struct LooseObjects {
    directories: Vec<PathBuf>,
}

impl LooseObjects {
    pub(crate) fn of(repository: &Repository) -> Self {
        let mut directories = vec![repository.commondir().join("objects")];
        let mut num_visited = 0;
        while num_visited < directories.len() {
            for found in alternates(&directories[num_visited]) {
                if directories.len() < MAX_DIRECTORIES && !directories.contains(&found) {
                    directories.push(found);
                }
            }
            num_visited += 1;
        }
        Self { directories }
    }

    /// Returns an error if the object has a loose file that is damaged.
    pub(crate) fn check(&self, id: Oid) -> Result<(), git2::Error> {
        let name = id.to_string();
        let (directory, file) = name.split_at(2);
        let mut files = self.directories.iter().map(|objects| objects.join(directory).join(file));
        if files.all(|path| LooseFile::open(&path).is_none_or(LooseFile::has_stated_size)) {
            Ok(())
        } else {
            Err(damaged(&name))
        }
    }

    /// Returns an error if the loose file of any commit or tag is damaged.
    pub(crate) fn check_commits(&self) -> Result<(), git2::Error> {
        let subdirectories = self.directories.iter().flat_map(|objects| entries(objects));
        for path in subdirectories.filter(|path| is_hex(path, 2)).flat_map(|directory| entries(&directory)) {
            // The contents of blobs and trees are not read here, because they can be large.
            let is_damaged = |file: LooseFile| !matches!(file.kind(), Some("blob" | "tree")) && !file.has_stated_size();
            if is_hex(&path, 38) && LooseFile::open(&path).is_some_and(is_damaged) {
                return Err(damaged(&path.display().to_string()));
            }
        }
        Ok(())
    }
}

fn damaged(name: &str) -> git2::Error {
    git2::Error::from_str(&format!("the file of the object `{name}` is damaged"))
}

/// The directories of objects that the file `info/alternates` of this directory lists.
fn alternates(objects: &Path) -> Vec<PathBuf> {
    let mut text = String::new();
    let file = open_regular(&objects.join("info/alternates"));
    let read = file.and_then(|file| file.take(MAX_LIST_BYTES).read_to_string(&mut text));
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    if read.is_ok() { lines.map(|line| objects.join(line)).collect() } else { Vec::new() }
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    fs::read_dir(directory).map_or_else(|_| Vec::new(), |entries| entries.flatten().map(|entry| entry.path()).collect())
}

fn is_hex(path: &Path, length: usize) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.len() == length && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A loose file whose header was read.
struct LooseFile {
    /// The type and the size of the object. `None` if the file has no readable header.
    header: Option<(String, u64)>,
    /// `None` if the file is not a regular file.
    content: Option<BufReader<ZlibDecoder<BufReader<File>>>>,
}

impl LooseFile {
    /// Opens a loose file. `None` if there is no such file, or if the file has an old format of git, which
    /// does not start with a zlib stream.
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

    fn kind(&self) -> Option<&str> {
        self.header.as_ref().map(|(kind, _)| kind.as_str())
    }

    /// Whether the content of the file has the size that its header states.
    fn has_stated_size(self) -> bool {
        let (Some((_, size)), Some(content)) = (self.header, self.content) else { return false };
        io::copy(&mut content.take(size), &mut io::sink()).is_ok_and(|length| length == size)
    }
}

/// Reads the type and the size of an object.
fn read_header(content: &mut impl BufRead) -> Option<(String, u64)> {
    let mut header = Vec::new();
    content.take(MAX_HEADER_BYTES).read_until(0, &mut header).ok()?;
    let header = std::str::from_utf8(header.strip_suffix(b"\0")?).ok()?;
    let (kind, size) = header.split_once(' ')?;
    Some((kind.to_owned(), size.parse().ok()?))
}

fn is_zlib(start: &[u8]) -> bool {
    matches!(start, [first, second, ..] if first & 0x8f == 0x08 && u16::from_be_bytes([*first, *second]).is_multiple_of(31))
}
