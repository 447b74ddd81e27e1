//! Reads the contents of files on disk, and checks that they match the ids of the listing.

use std::io;
use std::sync::Arc;

use cairn_domain::EntryKind;
use cairn_ports::{ContentReader, ErrorKind, SourceError, TreeEntry};

use super::root::{Root, leads_through_link};
use crate::blob_id::{NO_BLOB, blob_id};
use crate::failure::{failure, from_io, printable};

pub(super) struct DiskReader {
    pub(super) root: Arc<Root>,
}

impl ContentReader for DiskReader {
    fn read(&mut self, entry: &TreeEntry) -> Result<Vec<u8>, SourceError> {
        let fault = |kind: ErrorKind, message: &str| failure(kind, "read", &printable(entry.path.as_str()), message);
        if entry.blob == NO_BLOB || !matches!(entry.kind, EntryKind::File | EntryKind::Executable) {
            return Err(fault(ErrorKind::Forbidden, "is not one of the files that may be read"));
        }
        let path = entry.path.to_bytes().ok_or_else(|| fault(ErrorKind::Invalid, "the path is malformed"))?;
        let changed = || fault(ErrorKind::Conflict, "has changed since the tree was listed");
        match self.root.read(&path, entry.size_bytes) {
            Ok((bytes, _)) if blob_id(&bytes) == entry.blob => Ok(bytes),
            Ok(_) => Err(changed()),
            Err(error) if is_change(&error) => Err(changed()),
            Err(error) => Err(from_io("read", &printable(entry.path.as_str()), error)),
        }
    }
}

/// Whether an error means that the path has changed: it is now missing, a link, a pipe, or a larger file.
fn is_change(error: &io::Error) -> bool {
    leads_through_link(error)
        || matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidInput | io::ErrorKind::FileTooLarge)
}
