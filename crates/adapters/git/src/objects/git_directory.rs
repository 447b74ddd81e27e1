//! Finds the git directory for a path, and reads git's own small files in this directory.
//!
//! These files come with the repository, so each of them may be a pipe, a device or a huge file. They are
//! opened without waiting, only regular files are read, and each read has a limit.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use git2::{ErrorClass, ErrorCode};

use crate::regular_file::{open_regular, read_regular};

/// Maximum size of a file that contains one path, one reference or one id.
const MAX_LINE_BYTES: u64 = 16 << 10;

/// The directories in which git stores a repository.
pub(crate) struct GitDirectory {
    /// Contains `HEAD` and `index`.
    own: PathBuf,
    /// Contains the objects, the references and the configuration. Differs from `own` only in a linked
    /// working tree.
    common: PathBuf,
}

impl GitDirectory {
    /// The git directory at exactly this path: the directory or the file `.git` in it, or the path itself if
    /// it contains no `.git`. The code of the error is `NotFound` if no repository is there.
    pub(crate) fn find(path: &Path) -> Result<Self, git2::Error> {
        let inner = path.join(".git");
        let own = match fs::metadata(&inner) {
            Ok(found) if found.is_dir() => inner,
            Err(error) if error.kind() == ErrorKind::NotFound && fs::symlink_metadata(&inner).is_err() => {
                path.to_owned()
            }
            _ => path.join(linked_directory(&inner)?),
        };
        if fs::symlink_metadata(own.join("HEAD")).is_err() {
            return Err(not_found());
        }
        let common = match read_line(&own.join("commondir")) {
            Ok(line) => own.join(line),
            Err(error) if is_absent(&error) => own.clone(),
            Err(error) => return Err(unusable("commondir", &error)),
        };
        if ["objects", "refs"].iter().all(|name| common.join(name).is_dir()) {
            Ok(Self { own, common })
        } else {
            Err(not_found())
        }
    }

    pub(crate) fn own(&self) -> &Path {
        &self.own
    }

    pub(crate) fn common(&self) -> &Path {
        &self.common
    }
}

/// The path that a file `.git` contains.
fn linked_directory(file: &Path) -> Result<PathBuf, git2::Error> {
    let line = read_line(file).map_err(|error| unusable(".git", &error))?;
    line.strip_prefix("gitdir:").map(|path| PathBuf::from(path.trim_start())).ok_or_else(not_found)
}

/// Reads a file with one line, without the end of the line.
pub(super) fn read_line(path: &Path) -> io::Result<String> {
    let (bytes, _) = read_regular(open_regular(path)?, MAX_LINE_BYTES)?;
    let text = String::from_utf8(bytes).map_err(|_| io::Error::new(ErrorKind::InvalidData, "is not UTF-8 text"))?;
    Ok(text.trim_end_matches(['\n', '\r']).to_owned())
}

pub(super) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// The error about one of git's own files that cannot be used. `name` is the path of the file relative to the
/// git directory.
pub(super) fn unusable(name: &str, why: &dyn std::fmt::Display) -> git2::Error {
    git2::Error::new(ErrorCode::GenericError, ErrorClass::Repository, format!("`{name}` cannot be used: {why}"))
}

fn not_found() -> git2::Error {
    git2::Error::new(ErrorCode::NotFound, ErrorClass::Repository, "there is no git repository")
}
