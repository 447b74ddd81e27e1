//! Opens the object files of a repository: loose objects and packs, in its own directory and in its
//! alternates.
//!
//! libgit2 opens every index of a pack that it finds in a directory, and waits if one of them is a pipe. So
//! the directories are checked first. If a directory contains a pipe in place of an index, the packs of the
//! directory are opened one by one, without the pipe. libgit2 does not get the lists of alternates, the
//! commit graph or the references.

use std::ffi::{CString, OsStr};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr;

use git2::{Binding, Odb};
use libgit2_sys as raw;

use super::git_directory::is_absent;
use crate::regular_file::{open_regular, read_regular};

/// Limits on the alternates of a repository: the size of one list, and the total number of directories.
const MAX_LIST_BYTES: u64 = 64 << 10;
const MAX_DIRECTORIES: usize = 64;
/// Maximum number of files that are checked in one directory of packs.
const MAX_PACK_FILES: usize = 1 << 20;

/// libgit2 searches backends with a higher priority first. The values are those that libgit2 itself uses for
/// loose objects and packs.
const LOOSE_PRIORITY: i32 = 1;
const PACKED_PRIORITY: i32 = 2;

/// The directories that contain the objects of a repository.
pub(super) struct ObjectDirectories {
    /// Its own directory, and its alternates.
    pub(super) all: Vec<PathBuf>,
    /// Why a list of alternates cannot be used in full.
    pub(super) fault: Option<String>,
}

impl ObjectDirectories {
    pub(super) fn find(common: &Path) -> Self {
        let own = common.join("objects");
        // Different texts may name the same directory, so directories are compared by their real paths.
        let mut directories = Self { all: vec![own.canonicalize().unwrap_or(own)], fault: None };
        let mut num_visited = 0;
        while num_visited < directories.all.len() {
            let objects = directories.all[num_visited].clone();
            if let Err(why) = directories.add_alternates(&objects) {
                directories.fault.get_or_insert(why);
            }
            num_visited += 1;
        }
        directories
    }

    /// Adds the directories of objects that the file `info/alternates` of this directory lists. The error
    /// states why some of them are missing.
    fn add_alternates(&mut self, objects: &Path) -> Result<(), String> {
        let file = open_regular(&objects.join("info/alternates"));
        let bytes = match file.and_then(|file| read_regular(file, MAX_LIST_BYTES)) {
            Ok((bytes, _)) => bytes,
            Err(error) if is_absent(&error) => return Ok(()),
            Err(error) => return Err(format!("the list cannot be read ({error})")),
        };
        let mut result = Ok(());
        for (line, number) in bytes.split(|byte| *byte == b'\n').zip(1..) {
            if line.is_empty() || line.starts_with(b"#") {
                continue;
            }
            match objects.join(OsStr::from_bytes(line)).canonicalize() {
                Ok(found) if self.all.contains(&found) => {}
                Ok(found) if found.is_dir() && self.all.len() < MAX_DIRECTORIES => self.all.push(found),
                Ok(found) if found.is_dir() => {
                    return Err(format!("there are more than {MAX_DIRECTORIES} directories"));
                }
                _ => result = Err(format!("line {number} is not the path of a directory")),
            }
        }
        result
    }
}

/// Opens the objects in these directories.
pub(super) fn open_objects(directories: &[PathBuf]) -> Result<Odb<'static>, git2::Error> {
    let odb = Odb::new()?;
    for directory in directories {
        let path = c_path(directory)?;
        add(&odb, LOOSE_PRIORITY, |backend| {
            // SAFETY: `backend` and `path` are valid during the call. libgit2 copies the path.
            unsafe { raw::git_odb_backend_loose(backend, path.as_ptr(), -1, 0, 0, 0) }
        })?;
        match packs(&directory.join("pack")) {
            Packs::AllRegular => add(&odb, PACKED_PRIORITY, |backend| {
                // SAFETY: as above.
                unsafe { raw::git_odb_backend_pack(backend, path.as_ptr()) }
            })?,
            Packs::Listed(indexes) => {
                for index in indexes {
                    let path = c_path(&index)?;
                    // SAFETY: as above. A pack that cannot be opened is left out, as in libgit2.
                    let open = |backend| unsafe { raw::git_odb_backend_one_pack(backend, path.as_ptr()) };
                    let _left_out = add(&odb, PACKED_PRIORITY, open);
                }
            }
        }
    }
    Ok(odb)
}

fn c_path(path: &Path) -> Result<CString, git2::Error> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| git2::Error::from_str("a path contains a zero byte"))
}

/// Creates a backend, and adds it to the object database, which becomes its owner.
fn add(
    odb: &Odb<'_>,
    priority: i32,
    create: impl FnOnce(*mut *mut raw::git_odb_backend) -> i32,
) -> Result<(), git2::Error> {
    let mut backend = ptr::null_mut();
    let created = create(&raw mut backend);
    if created < 0 {
        return Err(git2::Error::last_error(created));
    }
    // SAFETY: both pointers are valid. The object database frees the backend.
    let added = unsafe { raw::git_odb_add_backend(odb.raw(), backend, priority) };
    if added < 0 { Err(git2::Error::last_error(added)) } else { Ok(()) }
}

/// The packs of a directory.
enum Packs {
    /// All indexes of the directory are regular files, so libgit2 may list the directory itself. It then also
    /// finds packs that appear later.
    AllRegular,
    /// The directory has an index that is not a regular file. The list contains the indexes that are regular
    /// files.
    Listed(Vec<PathBuf>),
}

fn packs(directory: &Path) -> Packs {
    let Ok(entries) = fs::read_dir(directory) else { return Packs::AllRegular };
    let (mut indexes, mut all_regular) = (Vec::new(), true);
    for (number, entry) in entries.flatten().enumerate() {
        let name = entry.file_name();
        let is_index = name.as_bytes().ends_with(b".idx");
        if !is_index && name != "multi-pack-index" {
            continue;
        }
        // The directory entry contains the kind of the file, so only links need another call.
        let kind = entry.file_type();
        let is_link = kind.as_ref().is_ok_and(fs::FileType::is_symlink);
        let is_regular = if is_link { entry.path().is_file() } else { kind.is_ok_and(|kind| kind.is_file()) };
        if is_index && is_regular {
            indexes.push(entry.path());
        }
        all_regular &= is_regular;
        if number >= MAX_PACK_FILES {
            all_regular = false;
            break;
        }
    }
    if all_regular { Packs::AllRegular } else { Packs::Listed(indexes) }
}
