//! Opens files beneath a directory, and nothing outside it.
//!
//! Programs may change the tree while it is read. Checking a path before opening it would not be reliable,
//! because a directory can be replaced with a link between the two steps. So the kernel checks the path while
//! it opens the file (`openat2`). If the kernel does not have this call, this module opens one directory
//! after the other and follows no link.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Dir, Mode, OFlags, openat, readlinkat};
use rustix::io::Errno;

use crate::regular_file::read_regular;

/// Reads a regular file of at most `max_bytes` beneath a directory. Links in the path are not followed.
pub fn read_beneath(directory: &str, path: &str, max_bytes: u64) -> io::Result<Vec<u8>> {
    Root::open(directory, false)?.read(path.as_bytes(), max_bytes).map(|(bytes, _)| bytes)
}

/// Flags to inspect a path. Opening a path with these flags needs no read permission, and does not follow a
/// link.
#[cfg(target_os = "linux")]
const LOOK: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW);
#[cfg(not(target_os = "linux"))]
const LOOK: OFlags = OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK);

/// An open directory. All paths are relative to this directory, and consist of the bytes that the file system
/// stores.
pub(super) struct Root {
    path: PathBuf,
    directory: OwnedFd,
    /// Whether `read` follows a link whose target is inside the root.
    follows_links: bool,
}

impl Root {
    pub(super) fn open(path: &str, follows_links: bool) -> io::Result<Self> {
        let path = fs::canonicalize(path)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::open(&path, flags, Mode::empty())?;
        Ok(Self { path, directory, follows_links })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The metadata of a path. For a link, this is the metadata of the link itself.
    pub(super) fn metadata(&self, path: &[u8]) -> io::Result<Metadata> {
        File::from(self.open_beneath(path, LOOK)?).metadata()
    }

    /// The target path that a link contains.
    pub(super) fn link_text(&self, path: &[u8]) -> io::Result<Vec<u8>> {
        let (parent, name) = split(path);
        let parent = self.open_beneath(parent, LOOK | OFlags::DIRECTORY)?;
        Ok(readlinkat(&parent, OsStr::from_bytes(name), Vec::new())?.into_bytes())
    }

    /// The names in a directory, sorted.
    pub(super) fn names(&self, path: &[u8]) -> io::Result<Vec<Vec<u8>>> {
        let directory = self.open_beneath(path, OFlags::RDONLY | OFlags::DIRECTORY)?;
        let mut names = Vec::new();
        for entry in Dir::new(directory)? {
            let name = entry?.file_name().to_bytes().to_vec();
            if name != b"." && name != b".." {
                names.push(name);
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Resolves all links of a path. Returns `None` if the target is outside the root. The result contains no
    /// link, unless another program has just created one.
    pub(super) fn resolve(&self, path: &[u8]) -> Option<Vec<u8>> {
        let target = fs::canonicalize(self.path.join(OsStr::from_bytes(path))).ok()?;
        Some(target.strip_prefix(&self.path).ok()?.as_os_str().as_bytes().to_vec())
    }

    /// The bytes of a regular file, and its metadata at the time when it was opened. Returns an error for a
    /// file of more than `max_bytes`, and never waits on a pipe.
    pub(super) fn read(&self, path: &[u8], max_bytes: u64) -> io::Result<(Vec<u8>, Metadata)> {
        let file = match self.open_file(path) {
            Err(error) if self.follows_links && leads_through_link(&error) => {
                let resolved = self.resolve(path).ok_or(error)?;
                self.open_file(&resolved)?
            }
            file => file?,
        };
        read_regular(file, max_bytes)
    }

    fn open_file(&self, path: &[u8]) -> io::Result<File> {
        Ok(File::from(self.open_beneath(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW)?))
    }

    fn open_beneath(&self, path: &[u8], flags: OFlags) -> io::Result<OwnedFd> {
        let flags = flags | OFlags::CLOEXEC;
        match open_at_once(&self.directory, path, flags) {
            // The kernel has no `openat2`, or the system call filter of an old container runtime rejects the
            // call.
            Err(Errno::NOSYS | Errno::PERM) => Ok(open_step_by_step(&self.directory, path, flags)?),
            opened => Ok(opened?),
        }
    }
}

/// Whether opening a path failed because a part of the path is a link, or because a part before the last one
/// is a file.
pub(super) fn leads_through_link(error: &io::Error) -> bool {
    [Errno::LOOP, Errno::XDEV, Errno::NOTDIR].iter().any(|kind| error.raw_os_error() == Some(kind.raw_os_error()))
}

/// Splits a path into its directory and its name.
fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(slash) => (&path[..slash], &path[slash + 1..]),
        None => (b"", path),
    }
}

#[cfg(target_os = "linux")]
fn open_at_once(directory: &OwnedFd, path: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
    use rustix::fs::{ResolveFlags, openat2};

    const ATTEMPTS: usize = 16;
    let path = if path.is_empty() { b"." } else { path };
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let open = || openat2(directory, OsStr::from_bytes(path), flags, Mode::empty(), resolve);
    let mut opened = open();
    for _ in 1..ATTEMPTS {
        match opened {
            // Another program renamed a directory during the call, so the call is repeated.
            Err(Errno::AGAIN) => opened = open(),
            _ => break,
        }
    }
    opened
}

#[cfg(not(target_os = "linux"))]
fn open_at_once(_: &OwnedFd, _: &[u8], _: OFlags) -> Result<OwnedFd, Errno> {
    Err(Errno::NOSYS)
}

/// Opens each directory of the path relative to its parent directory, and follows no link.
fn open_step_by_step(directory: &OwnedFd, path: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
    let (parents, name) = split(path);
    let mut current: Option<OwnedFd> = None;
    for part in parents.split(|byte| *byte == b'/').filter(|part| !part.is_empty()) {
        let from = current.as_ref().map_or(directory.as_fd(), AsFd::as_fd);
        let next = openat(from, plain(part)?, LOOK | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        current = Some(next);
    }
    let from = current.as_ref().map_or(directory.as_fd(), AsFd::as_fd);
    let name = if path.is_empty() { OsStr::new(".") } else { plain(name)? };
    openat(from, name, flags | OFlags::NOFOLLOW, Mode::empty())
}

fn plain(part: &[u8]) -> Result<&OsStr, Errno> {
    if matches!(part, b"" | b"." | b"..") { Err(Errno::INVAL) } else { Ok(OsStr::from_bytes(part)) }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn open_both(root: &Root, path: &str, flags: OFlags) -> [Result<OwnedFd, Errno>; 2] {
        let (path, flags) = (path.as_bytes(), flags | OFlags::CLOEXEC);
        [open_at_once(&root.directory, path, flags), open_step_by_step(&root.directory, path, flags)]
    }

    #[test]
    fn open_refuses_links_and_parent_paths() {
        let directory = tempfile::tempdir().expect("directory");
        let (root, outside) = (directory.path().join("root"), directory.path().join("outside"));
        for folder in [root.join("a/b"), outside.join("b")] {
            fs::create_dir_all(&folder).expect("folders");
            fs::write(folder.join("file"), "x").expect("written");
        }
        symlink(&outside, root.join("out")).expect("linked");
        symlink("a", root.join("in")).expect("linked");
        symlink(outside.join("b/file"), root.join("file")).expect("linked");
        let root = Root::open(root.to_str().expect("UTF-8"), false).expect("opened");
        let read = OFlags::RDONLY | OFlags::NOFOLLOW;
        for path in ["", "a", "a/b", "a/b/file"] {
            assert!(open_both(&root, path, read).iter().all(Result::is_ok), "{path}");
        }
        for path in ["out/b/file", "in/b/file", "file", "..", "../outside/b/file", "a/../../outside/b/file", "/etc"] {
            assert!(open_both(&root, path, read).iter().all(Result::is_err), "{path}");
        }
        for link in ["out", "in", "file"] {
            assert!(
                open_both(&root, link, LOOK).iter().all(Result::is_ok),
                "the metadata of a link can be read: {link}"
            );
            assert!(root.metadata(link.as_bytes()).expect("metadata").is_symlink());
        }
        assert_eq!(root.link_text(b"in").expect("text"), b"a");
        assert_eq!(root.names(b"").expect("names"), [&b"a"[..], b"file", b"in", b"out"]);
        assert!(root.names(b"out").is_err());
    }

    #[test]
    fn only_regular_files_of_bounded_size_are_read() {
        let directory = tempfile::tempdir().expect("directory");
        fs::write(directory.path().join("file"), "1234").expect("written");
        let root = Root::open(directory.path().to_str().expect("UTF-8"), false).expect("opened");
        assert_eq!(root.read(b"file", 4).expect("fits").0, b"1234");
        assert_eq!(root.read(b"file", 3).expect_err("too large").kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(root.read(b"", 3).expect_err("a directory").kind(), io::ErrorKind::InvalidInput);
    }
}
