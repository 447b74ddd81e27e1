//! A journal of the changes that were confirmed but may not be in the engine's files yet.
//!
//! Version 0.7.2 of the engine does not replay its own log. So the request of each change is appended to the
//! journal, and is applied again when the collection is opened. The journal is emptied after the engine has
//! flushed. If the process is killed, no change is lost, because the kernel still has the written data in its
//! cache.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::Path;

use prost::Message;
use qdrant_client::qdrant::{
    ClearPayloadPoints, CreateFieldIndexCollection, DeleteFieldIndexCollection, DeletePayloadPoints, DeletePoints,
    SetPayloadPoints, UpsertPoints,
};

/// A request that changes points or indexes.
#[derive(Clone, Debug)]
pub enum Change {
    Upsert(UpsertPoints),
    Delete(DeletePoints),
    SetPayload(SetPayloadPoints),
    OverwritePayload(SetPayloadPoints),
    DeletePayload(DeletePayloadPoints),
    ClearPayload(ClearPayloadPoints),
    CreateIndex(CreateFieldIndexCollection),
    DeleteIndex(DeleteFieldIndexCollection),
}

impl Change {
    fn encode(&self) -> (u8, Vec<u8>) {
        match self {
            Self::Upsert(request) => (0, request.encode_to_vec()),
            Self::Delete(request) => (1, request.encode_to_vec()),
            Self::SetPayload(request) => (2, request.encode_to_vec()),
            Self::OverwritePayload(request) => (3, request.encode_to_vec()),
            Self::DeletePayload(request) => (4, request.encode_to_vec()),
            Self::ClearPayload(request) => (5, request.encode_to_vec()),
            Self::CreateIndex(request) => (6, request.encode_to_vec()),
            Self::DeleteIndex(request) => (7, request.encode_to_vec()),
        }
    }

    fn decode(tag: u8, bytes: &[u8]) -> Option<Self> {
        Some(match tag {
            0 => Self::Upsert(Message::decode(bytes).ok()?),
            1 => Self::Delete(Message::decode(bytes).ok()?),
            2 => Self::SetPayload(Message::decode(bytes).ok()?),
            3 => Self::OverwritePayload(Message::decode(bytes).ok()?),
            4 => Self::DeletePayload(Message::decode(bytes).ok()?),
            5 => Self::ClearPayload(Message::decode(bytes).ok()?),
            6 => Self::CreateIndex(Message::decode(bytes).ok()?),
            7 => Self::DeleteIndex(Message::decode(bytes).ok()?),
            _ => return None,
        })
    }
}

/// A file with changes in the order in which they were applied. Each record has a length, a tag and a
/// message.
#[derive(Debug)]
pub struct Journal {
    file: File,
}

impl Journal {
    /// Opens the journal and returns its changes. An incomplete record at the end is ignored.
    pub fn open(path: &Path) -> io::Result<(Self, Vec<Change>)> {
        let mut file = OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let (mut changes, mut whole) = (Vec::new(), 0);
        while let Some((change, end)) = next(&bytes, whole) {
            changes.push(change);
            whole = end;
        }
        file.set_len(whole as u64)?;
        file.seek(io::SeekFrom::Start(whole as u64))?;
        Ok((Self { file }, changes))
    }

    pub fn append(&mut self, change: &Change) -> io::Result<()> {
        let (tag, message) = change.encode();
        let mut record = (message.len() as u32).to_le_bytes().to_vec();
        record.push(tag);
        record.extend(message);
        self.file.write_all(&record)
    }

    /// Removes all changes. Call this only when the engine's files contain these changes.
    pub fn clear(&mut self) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.seek(io::SeekFrom::Start(0)).map(drop)
    }
}

fn next(bytes: &[u8], start: usize) -> Option<(Change, usize)> {
    let header = bytes.get(start..start + 5)?;
    let length = u32::from_le_bytes([header[0], header[1], header[2], header[3]]) as usize;
    let end = start + 5 + length;
    Some((Change::decode(header[4], bytes.get(start + 5..end)?)?, end))
}
