//! Files on disk, of working trees and plain directories: their ids, and reading them.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use cairn_domain::{BlobId, EntryKind, RepoPath};
use cairn_ports::{ContentReader, ErrorKind, SourceError, TreeEntry};

use crate::blob_id::{NO_BLOB, blob_id};
use crate::failure::{failure, from_io};
use crate::stat_cache::{Stat, StatCache, StatCacheWriter};
use crate::{GitSettings, SettingsFile};

/// A path that was found, before its content is looked at.
pub(crate) struct FoundFile {
    /// Relative to the root, as the file system has it.
    pub(crate) bytes: Vec<u8>,
    pub(crate) path: RepoPath,
    pub(crate) state: FoundState,
}

pub(crate) enum FoundState {
    /// To be hashed if the plan agrees.
    Readable { kind: EntryKind, stat: Stat },
    /// Recorded as it is: links, submodules, what cannot be read.
    Settled { kind: EntryKind, blob: BlobId, size_bytes: u64, unreadable: Option<String> },
}

impl FoundFile {
    /// From what `lstat` (or `stat`, where links are followed) says. `None` for a name that cannot be a path.
    pub(crate) fn new(root: &Path, bytes: Vec<u8>, metadata: &io::Result<Metadata>) -> Option<Self> {
        let path = RepoPath::from_bytes(&bytes).ok()?;
        let state = match metadata {
            Ok(metadata) if metadata.is_file() => {
                let kind = if metadata.mode() & 0o111 != 0 { EntryKind::Executable } else { EntryKind::File };
                FoundState::Readable { kind, stat: Stat::of(metadata) }
            }
            Ok(metadata) if metadata.is_symlink() => link_state(&root.join(std::ffi::OsStr::from_bytes(&bytes))),
            Ok(metadata) => unreadable(format!("not a file but a {}", special_kind(metadata))),
            Err(error) => unreadable(error.to_string()),
        };
        Some(Self { bytes, path, state })
    }

    pub(crate) fn unreadable(bytes: Vec<u8>, why: String) -> Option<Self> {
        let path = RepoPath::from_bytes(&bytes).ok()?;
        Some(Self { bytes, path, state: unreadable(why) })
    }

    pub(crate) fn submodule(bytes: Vec<u8>, commit: BlobId) -> Option<Self> {
        let path = RepoPath::from_bytes(&bytes).ok()?;
        let kind = EntryKind::Submodule;
        Some(Self { bytes, path, state: FoundState::Settled { kind, blob: commit, size_bytes: 0, unreadable: None } })
    }
}

fn unreadable(why: String) -> FoundState {
    FoundState::Settled { kind: EntryKind::File, blob: NO_BLOB, size_bytes: 0, unreadable: Some(why) }
}

/// A link is its target's text, as in git.
fn link_state(path: &Path) -> FoundState {
    match std::fs::read_link(path) {
        Ok(target) => {
            let target = target.as_os_str().as_bytes();
            FoundState::Settled {
                kind: EntryKind::Symlink,
                blob: blob_id(target),
                size_bytes: target.len() as u64,
                unreadable: None,
            }
        }
        Err(error) => unreadable(error.to_string()),
    }
}

fn special_kind(metadata: &Metadata) -> &'static str {
    let kind = metadata.file_type();
    match () {
        () if kind.is_fifo() => "pipe",
        () if kind.is_socket() => "socket",
        () if kind.is_dir() => "directory",
        () => "device",
    }
}

/// Entries with their ids, in the order of `files`, and the bytes of the next stat cache.
pub(crate) struct Identified {
    pub(crate) entries: Vec<TreeEntry>,
    pub(crate) stat_cache: Vec<u8>,
}

/// Finds the ids: from the cache where the file is unchanged, else by reading.
pub(crate) fn identify(
    root: &Path,
    files: &[FoundFile],
    cache: &StatCache,
    settings: &GitSettings,
    started_at: SystemTime,
) -> Identified {
    let plan = settings.reading_plan.as_ref().map(|plan| plan(&settings_files(root, files)));
    // Settings files are open to whoever asks: the plan itself was made of them.
    let by_plan = |path: &RepoPath, kind, size| plan.as_ref().is_none_or(|plan| plan(path, kind, size));
    let may_open = |file: &FoundFile, kind: EntryKind, size: u64| {
        size <= settings.limits.max_hashed_bytes && (is_settings(&file.path) || by_plan(&file.path, kind, size))
    };
    let identify_one = |file: &FoundFile| match &file.state {
        FoundState::Settled { kind, blob, size_bytes, unreadable } => {
            (entry(file, *kind, *blob, *size_bytes, unreadable.clone()), None)
        }
        FoundState::Readable { kind, stat } if !may_open(file, *kind, stat.size_bytes) => {
            (entry(file, *kind, NO_BLOB, stat.size_bytes, None), None)
        }
        FoundState::Readable { kind, stat } => match cache.get(&file.bytes, stat) {
            Some(blob) => (entry(file, *kind, blob, stat.size_bytes, None), Some(*stat)),
            None => read_entry(root, file, *kind),
        },
    };
    let mut writer = StatCacheWriter::new(started_at);
    let mut entries = Vec::with_capacity(files.len());
    for (file, (entry, stat)) in files.iter().zip(in_parallel(files, &identify_one)) {
        if let Some(stat) = stat {
            writer.add(&file.bytes, &stat, entry.blob);
        }
        entries.push(entry);
    }
    Identified { entries, stat_cache: writer.encode() }
}

fn entry(file: &FoundFile, kind: EntryKind, blob: BlobId, size_bytes: u64, unreadable: Option<String>) -> TreeEntry {
    TreeEntry { path: file.path.clone(), kind, blob, size_bytes, unreadable, changed_at: None }
}

fn read_entry(root: &Path, file: &FoundFile, kind: EntryKind) -> (TreeEntry, Option<Stat>) {
    match read_file(root, &file.bytes) {
        Ok((bytes, stat)) => (entry(file, kind, blob_id(&bytes), bytes.len() as u64, None), Some(stat)),
        Err(error) => (entry(file, kind, NO_BLOB, 0, Some(error.to_string())), None),
    }
}

/// Spreads the work over the cores; hashing is what costs time on a first read.
fn in_parallel<T: Send>(files: &[FoundFile], work: &(impl Fn(&FoundFile) -> T + Sync)) -> Vec<T> {
    let num_threads = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    if files.len() < 256 || num_threads == 1 {
        return files.iter().map(work).collect();
    }
    // Several pieces per thread, dealt in turn, so that one directory of large files does not keep one thread busy.
    let pieces: Vec<&[FoundFile]> = files.chunks(files.len().div_ceil(num_threads * 8)).collect();
    let mut results: Vec<Vec<T>> = Vec::new();
    std::thread::scope(|scope| {
        let deal = |first: usize| {
            let pieces = &pieces;
            scope.spawn(move || {
                let mine = pieces.iter().enumerate().skip(first).step_by(num_threads);
                mine.map(|(index, piece)| (index, piece.iter().map(work).collect())).collect::<Vec<(usize, Vec<T>)>>()
            })
        };
        let threads: Vec<_> = (0..num_threads).map(deal).collect();
        let mut dealt: Vec<(usize, Vec<T>)> = Vec::new();
        for thread in threads {
            match thread.join() {
                Ok(part) => dealt.extend(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        dealt.sort_by_key(|(index, _)| *index);
        results = dealt.into_iter().map(|(_, part)| part).collect();
    });
    results.into_iter().flatten().collect()
}

fn is_settings(path: &RepoPath) -> bool {
    path.as_str() == ".cairn.yaml" || path.file_name() == ".cairnignore"
}

/// `.cairn.yaml` of the root and every `.cairnignore`, as far as they can be read and are of a sane size.
fn settings_files(root: &Path, files: &[FoundFile]) -> Vec<SettingsFile> {
    const MAX_SETTINGS_BYTES: u64 = 1 << 20;
    let mut found = Vec::new();
    for file in files.iter().filter(|file| is_settings(&file.path)) {
        if let FoundState::Readable { stat, .. } = &file.state
            && stat.size_bytes <= MAX_SETTINGS_BYTES
            && let Ok((bytes, _)) = read_file(root, &file.bytes)
        {
            found.push(SettingsFile { path: file.path.clone(), bytes });
        }
    }
    found
}

/// The bytes of a regular file, and what `fstat` said before they were read. Never waits on a pipe that took the
/// file's place.
fn read_file(root: &Path, path: &[u8]) -> io::Result<(Vec<u8>, Stat)> {
    let path = root.join(std::ffi::OsStr::from_bytes(path));
    let mut file: File = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "is no longer a file"));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0).saturating_add(1));
    file.read_to_end(&mut bytes)?;
    Ok((bytes, Stat::of(&metadata)))
}

/// Reads files and holds them to the ids of the listing.
pub(crate) struct DiskReader {
    pub(crate) root: PathBuf,
}

impl ContentReader for DiskReader {
    fn read(&mut self, entry: &TreeEntry) -> Result<Vec<u8>, SourceError> {
        let key = entry.path.as_str();
        if entry.blob == NO_BLOB || !matches!(entry.kind, EntryKind::File | EntryKind::Executable) {
            return Err(failure(ErrorKind::Forbidden, "read", key, "is not among the files to be read"));
        }
        let path = entry.path.to_bytes().ok_or_else(|| SourceError::new(ErrorKind::Invalid, "read", key))?;
        let changed = || failure(ErrorKind::Conflict, "read", key, "changed since the tree was listed");
        match read_file(&self.root, &path) {
            Ok((bytes, _)) if blob_id(&bytes) == entry.blob => Ok(bytes),
            Ok(_) => Err(changed()),
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidInput => Err(changed()),
                _ => Err(from_io("read", key, error)),
            },
        }
    }
}
