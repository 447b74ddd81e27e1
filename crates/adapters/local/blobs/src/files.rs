//! Implements the operations on the file system. All functions block. Keys must be checked by the caller.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use cairn_ports::{BlobMeta, Put, check_blob_key};

/// The directory in which objects are written before they are linked to their names. The name of this
/// directory cannot conflict with a key, because no key starts with a dot.
const TEMPORARY: &str = ".tmp";
/// A temporary file that is older than this was abandoned by its writer, because writing an object takes only
/// seconds.
const ABANDONED_AFTER: Duration = Duration::from_secs(3600);
/// Maximum number of attempts to link an object. An attempt fails if a deletion removes the empty directory
/// at the same time.
const LINK_ATTEMPTS: usize = 16;

pub(crate) fn prepare(root: &Path) -> io::Result<()> {
    let temporary = root.join(TEMPORARY);
    fs::create_dir_all(&temporary)?;
    let now = SystemTime::now();
    for entry in fs::read_dir(&temporary)? {
        let entry = entry?;
        let written_at = entry.metadata().and_then(|meta| meta.modified());
        let age = written_at.ok().and_then(|at| now.duration_since(at).ok()).unwrap_or_default();
        if age > ABANDONED_AFTER {
            ignore_missing(fs::remove_file(entry.path()))?;
        }
    }
    Ok(())
}

pub(crate) fn put(root: &Path, key: &str, bytes: &[u8]) -> io::Result<Put> {
    let path = root.join(key);
    if let Some(file) = found_or_none(missing_directory_is_missing(File::open(&path)))?
        && file.metadata()?.is_file()
    {
        // The caller has not created a reference to the object yet, and a sweep removes old objects without a
        // reference. So the object must get a new modification time.
        file.set_modified(SystemTime::now())?;
        // A successful `put` guarantees that the object is durable. The directory is synced here, because the
        // writer that linked the object may not have synced it yet.
        sync_parent(&path)?;
        return Ok(Put::AlreadyThere);
    }
    let temporary = write_temporary(root, bytes)?;
    let linked = link(root, &temporary, &path);
    fs::remove_file(&temporary)?;
    let put = linked?;
    sync_parent(&path)?;
    fail_at("blobs::linked")?;
    Ok(put)
}

/// Writes a file under a temporary name and syncs it to disk.
fn write_temporary(root: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    let path = root.join(TEMPORARY).join(format!("{}-{number}", process::id()));
    let written = write_synced(&path, bytes);
    if written.is_err() {
        // The error of the write is returned. An error of the removal is ignored, because a remaining file is
        // removed when the store is opened again.
        let _ = fs::remove_file(&path);
    }
    written.map(|()| path)
}

fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // A file with this name may exist, if an earlier process with the same id was killed at this point.
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(path)?;
    let (first, second) = bytes.split_at(bytes.len() / 2);
    file.write_all(first)?;
    fail_at("blobs::write")?;
    file.write_all(second)?;
    fail_at("blobs::sync")?;
    file.sync_all()
}

/// Links the temporary file to its name, unless the name exists.
fn link(root: &Path, temporary: &Path, path: &Path) -> io::Result<Put> {
    fail_at("blobs::link")?;
    let directory = path.parent().unwrap_or(root);
    for _ in 0..LINK_ATTEMPTS {
        create_directories(root, directory)?;
        match fs::hard_link(temporary, path) {
            Ok(()) => return Ok(Put::Created),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return if path.is_dir() { Err(io::ErrorKind::IsADirectory.into()) } else { Ok(Put::AlreadyThere) };
            }
            // A concurrent deletion has removed the empty directory, so the next attempt creates it again.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("other processes repeatedly removed the directory of the object"))
}

/// Creates the directory and its parents, and syncs the parent of each new directory.
fn create_directories(root: &Path, directory: &Path) -> io::Result<()> {
    if directory.is_dir() || directory == root {
        return Ok(());
    }
    if let Some(above) = directory.parent() {
        create_directories(root, above)?;
    }
    match fs::create_dir(directory) {
        Ok(()) => sync_parent(directory),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && directory.is_dir() => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(io::ErrorKind::NotADirectory.into()),
        Err(error) => Err(error),
    }
}

fn sync_parent(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(parent) => File::open(parent)?.sync_all(),
        None => Ok(()),
    }
}

/// Larger objects are mapped into memory instead of read. So readers of large indexes share one copy, and
/// read only the parts that they use.
const MAPPED_FROM_BYTES: u64 = 64 << 10;

pub(crate) fn get(root: &Path, key: &str) -> io::Result<Bytes> {
    let path = root.join(key);
    let file = missing_directory_is_missing(File::open(&path))?;
    let meta = file.metadata()?;
    if !meta.is_file() || meta.len() < MAPPED_FROM_BYTES {
        return missing_directory_is_missing(fs::read(path).map(Bytes::from));
    }
    // SAFETY: objects are create-only. No writer changes a file that has its final name, and a deletion only
    // removes the name.
    let mapped = unsafe { memmap2::Mmap::map(&file)? };
    Ok(Bytes::from_owner(mapped))
}

pub(crate) fn get_range(root: &Path, key: &str, range: &Range<u64>) -> io::Result<Bytes> {
    let mut file = missing_directory_is_missing(File::open(root.join(key)))?;
    let size = file.metadata()?.len();
    if range.start > range.end || range.end > size {
        let message = format!("bytes {}..{} exceed the object ({size} bytes)", range.start, range.end);
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    file.seek(SeekFrom::Start(range.start))?;
    let mut bytes = vec![0; (range.end - range.start) as usize];
    file.read_exact(&mut bytes)?;
    Ok(bytes.into())
}

/// Maps two errors to `NotFound`: a key below an object cannot exist, and a directory is not an object.
fn missing_directory_is_missing<T>(result: io::Result<T>) -> io::Result<T> {
    result.map_err(|error| match error.kind() {
        io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory => io::ErrorKind::NotFound.into(),
        _ => error,
    })
}

pub(crate) fn list(root: &Path, prefix: &str) -> io::Result<Vec<BlobMeta>> {
    let directory = prefix.rsplit_once('/').map_or("", |(directory, _)| directory);
    let mut found = Vec::new();
    walk(&root.join(directory), directory, prefix, &mut found)?;
    found.sort_by(|left, right| left.key.cmp(&right.key));
    Ok(found)
}

fn walk(path: &Path, directory: &str, prefix: &str, found: &mut Vec<BlobMeta>) -> io::Result<()> {
    let entries = match missing_directory_is_missing(fs::read_dir(path)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let entry = entry?;
        // Names that cannot be part of a key are skipped, such as `.tmp`.
        let Some(name) = entry.file_name().to_str().map(str::to_owned) else { continue };
        let key = if directory.is_empty() { name } else { format!("{directory}/{name}") };
        if check_blob_key(&key).is_err() || !(key.starts_with(prefix) || prefix.starts_with(&key)) {
            continue;
        }
        // An object that is deleted while the directory is read is skipped.
        let Some(meta) = found_or_none(entry.metadata())? else { continue };
        if meta.is_dir() {
            walk(&entry.path(), &key, prefix, found)?;
        } else if key.starts_with(prefix) {
            let modified = meta.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
            found.push(BlobMeta { key, size_bytes: meta.len(), modified_at: modified.as_secs() as i64 });
        }
    }
    Ok(())
}

pub(crate) fn delete(root: &Path, key: &str) -> io::Result<()> {
    fail_at("blobs::delete")?;
    let path = root.join(key);
    if found_or_none(missing_directory_is_missing(fs::remove_file(&path)))?.is_none() {
        return Ok(());
    }
    // Empty directories are removed too, so that no directories of a removed repository remain.
    for directory in path.ancestors().skip(1).take_while(|directory| *directory != root) {
        if fs::remove_dir(directory).is_err() {
            return ignore_missing(File::open(directory).and_then(|directory| directory.sync_all()));
        }
    }
    File::open(root)?.sync_all()
}

fn found_or_none<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn ignore_missing(result: io::Result<()>) -> io::Result<()> {
    found_or_none(result).map(|_| ())
}

/// A point at which a test can return an error or kill the process. Without the feature `failpoints`, the
/// function does nothing.
#[cfg_attr(not(feature = "failpoints"), expect(unused_variables, reason = "used by fail points only"))]
fn fail_at(point: &str) -> io::Result<()> {
    cairn_faults::fail_point!(point, |message: String| Err(io::Error::other(message)));
    Ok(())
}
