//! Opens files that are expected to be regular. Files are opened in non-blocking mode, because a blocking
//! open of a pipe waits for a writer.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Opens a regular file. Links are followed.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(not_regular()) }
}

/// Reads an open file, if it is a regular file of at most `max_bytes`.
pub(crate) fn read_regular(file: File, max_bytes: u64) -> io::Result<(Vec<u8>, Metadata)> {
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(not_regular());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len().min(max_bytes)).unwrap_or(0).saturating_add(1));
    // A file may grow while it is read, so the limit also applies to the bytes that are read.
    file.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("has more than {max_bytes} bytes")));
    }
    Ok((bytes, metadata))
}

fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "is not a regular file")
}
