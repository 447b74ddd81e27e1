//! Creates and removes files on disk. A file is created complete or not at all, is never overwritten in
//! place, and is durable before any other file may refer to it.
//!
//! A file is written under a temporary name, synced and renamed, and then its folder is synced. A crash
//! before the rename can leave only a temporary file, which no reader opens and which later maintenance
//! removes.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use cairn_domain::{GenerationId, PartId, RunId};
use cairn_faults::fail_point;

use crate::error::SegmentError;

pub(crate) const SEGMENT_SUFFIX: &str = ".seg";
/// Readers hold a shared lock on this file while they list and open segments.
const LISTING_FILE: &str = "listing";
const TEMPORARY_PREFIX: &str = ".tmp-";
/// Temporary files older than this belong to dead processes.
const ABANDONED_AFTER: Duration = Duration::from_secs(3600);

/// The name of a file that contains a piece of a part's records. `piece` is the zero-based number of the file
/// within the part.
pub(crate) fn part_name(run: RunId, part: PartId, piece: usize) -> String {
    let (generation, stage, number) = (run.generation.0, part.stage.as_str(), part.number);
    match piece {
        0 => format!("{generation:016x}-{stage}-{number}{SEGMENT_SUFFIX}"),
        piece => format!("{generation:016x}-{stage}-{number}-{piece}{SEGMENT_SUFFIX}"),
    }
}

/// The generation in the file name of a part's segment. `None` for a merged segment.
pub(crate) fn generation_of(name: &str) -> Option<GenerationId> {
    let (generation, _) = name.split_once('-').filter(|(generation, _)| generation.len() == 16)?;
    u64::from_str_radix(generation, 16).ok().map(GenerationId)
}

pub(crate) fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

const MERGED_PREFIX: &str = "merged-";

/// Whether the file is a merged segment.
pub(crate) fn is_merged(name: &str) -> bool {
    name.starts_with(MERGED_PREFIX)
}

/// The newest generation in the file name of a merged segment. `None` for the segment of a part, and for a
/// merged segment of an older release.
pub(crate) fn newest_of_merged(name: &str) -> Option<GenerationId> {
    generation_of(name.strip_prefix(MERGED_PREFIX)?)
}

/// The file name of a merged segment, which replaces other segments. `newest` is its newest generation.
pub(crate) fn merged_name(newest: GenerationId, replaces: &[String], bytes: &[u8]) -> String {
    let mut hasher = blake3::Hasher::new();
    for name in replaces {
        hasher.update(name.as_bytes()).update(b"/");
    }
    hasher.update(bytes);
    format!("{MERGED_PREFIX}{:016x}-{}{SEGMENT_SUFFIX}", newest.0, &hasher.finalize().to_hex()[..32])
}

/// Writes a file durably. An existing file with this name has the same bytes or is damaged, so the new file
/// replaces it.
pub(crate) fn write(directory: &Path, name: &str, bytes: &[u8]) -> Result<(), SegmentError> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    let temporary = directory.join(format!("{TEMPORARY_PREFIX}{}-{number}", std::process::id()));
    let written = write_temporary(&temporary, bytes).and_then(|()| publish(&temporary, &directory.join(name)));
    if let Err(error) = written {
        // An error is ignored here, because maintenance removes the file later.
        let _ = fs::remove_file(&temporary);
        return Err(SegmentError::io("write", &directory.join(name))(error));
    }
    sync_directory(directory)
}

fn write_temporary(temporary: &Path, bytes: &[u8]) -> io::Result<()> {
    fail_point!("segments::create", |message: String| Err(io::Error::other(message)));
    let mut file = File::create_new(temporary)?;
    fail_point!("segments::write", |message: String| Err(io::Error::other(message)));
    file.write_all(bytes)?;
    fail_point!("segments::sync", |message: String| Err(io::Error::other(message)));
    file.sync_all()
}

fn publish(temporary: &Path, path: &Path) -> io::Result<()> {
    fail_point!("segments::rename", |message: String| Err(io::Error::other(message)));
    fs::rename(temporary, path)
}

/// Creates the directory and syncs its parent, so that its name is durable.
pub(crate) fn create_directory(directory: &Path) -> Result<(), SegmentError> {
    if directory.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(directory).map_err(SegmentError::io("create", directory))?;
    directory.parent().map_or(Ok(()), sync_directory)
}

fn sync_directory(directory: &Path) -> Result<(), SegmentError> {
    let sync = || {
        fail_point!("segments::sync_directory", |message: String| Err(io::Error::other(message)));
        File::open(directory)?.sync_all()
    };
    sync().map_err(SegmentError::io("sync", directory))
}

/// Removes a file. It is not an error if the file is missing.
pub(crate) fn remove(path: &Path) -> Result<(), SegmentError> {
    let remove = || {
        fail_point!("segments::remove", |message: String| Err(io::Error::other(message)));
        fs::remove_file(path)
    };
    match remove() {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(SegmentError::io("remove", path)(error)),
        _ => Ok(()),
    }
}

/// Removes an empty directory. It is not an error if the directory is missing or not empty.
pub(crate) fn remove_directory(directory: &Path) -> Result<(), SegmentError> {
    match fs::remove_dir(directory) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::DirectoryNotEmpty) => Ok(()),
        removed => removed.map_err(SegmentError::io("remove", directory)),
    }
}

/// The sorted names of the segments in a directory. Empty if the directory does not exist.
pub(crate) fn segment_names(directory: &Path) -> Result<Vec<String>, SegmentError> {
    let mut names = directory_names(directory)?;
    names.retain(|name| name.ends_with(SEGMENT_SUFFIX));
    names.sort_unstable();
    Ok(names)
}

/// The names of the entries of a directory. Empty if the directory does not exist.
pub(crate) fn directory_names(directory: &Path) -> Result<Vec<String>, SegmentError> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(SegmentError::io("list", directory))?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(SegmentError::io("list", directory))?;
        names.extend(entry.file_name().into_string());
    }
    Ok(names)
}

/// Locks the folder against the removal of files. `None` if the folder does not exist or cannot be written.
pub(crate) fn lock_listing(directory: &Path) -> Result<Option<File>, SegmentError> {
    let Some(file) = open_listing(directory)? else { return Ok(None) };
    file.lock_shared().map_err(SegmentError::io("lock", directory))?;
    Ok(Some(file))
}

/// Waits until no reader lists or opens segments. Until the lock is dropped, no reader can list or open
/// segments.
pub(crate) fn wait_for_listings(directory: &Path) -> Result<Option<File>, SegmentError> {
    let Some(file) = open_listing(directory)? else { return Ok(None) };
    file.lock().map_err(SegmentError::io("lock", directory))?;
    Ok(Some(file))
}

fn open_listing(directory: &Path) -> Result<Option<File>, SegmentError> {
    let path = directory.join(LISTING_FILE);
    match File::options().create(true).truncate(false).write(true).open(&path) {
        Err(error) if is_unwritable(error.kind()) => Ok(None),
        file => file.map(Some).map_err(SegmentError::io("open", &path)),
    }
}

/// Whether the folder is missing or read-only. In both cases, nothing is removed from the folder.
fn is_unwritable(kind: io::ErrorKind) -> bool {
    matches!(kind, io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

/// Removes temporary files of dead processes.
pub(crate) fn remove_abandoned(directory: &Path) -> Result<(), SegmentError> {
    for name in directory_names(directory)?.iter().filter(|name| name.starts_with(TEMPORARY_PREFIX)) {
        let path = directory.join(name);
        if age(&path).is_some_and(|age| age > ABANDONED_AFTER) {
            remove(&path)?;
        }
    }
    Ok(())
}

/// The time since the last change of a file. `None` if the file does not exist or its modification time is in
/// the future.
pub(crate) fn age(path: &Path) -> Option<Duration> {
    SystemTime::now().duration_since(modified(path)?).ok()
}

pub(crate) fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|metadata| metadata.modified()).ok()
}
