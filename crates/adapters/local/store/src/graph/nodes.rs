//! Stores the versions of nodes. Each version has a small row, and the texts of adjacent versions share a
//! block.
//!
//! A block is one zstd frame with a checksum. A block contains up to `BLOCK_SLOTS` records in the order of
//! path and line, so that signatures and paths of one file are compressed together. A block is written once,
//! and deleted when no version refers to it.

use cairn_domain::{Key128, NodeKey, NodeRecord, RepositoryId};
use cairn_wire::{Decode, Encode, Reader};
use rusqlite::{Connection, OptionalExtension, params};
use rustc_hash::FxHashSet;

use crate::fault::Fault;
use crate::graph::identity::Paths;

pub(crate) const BLOCK_SLOTS: usize = 64;
/// In a measurement, level 1 took a third of the time of level 3, and its blocks were 4 % larger.
const LEVEL: i32 = 1;

/// A version to be written.
pub(crate) struct NewVersion {
    pub(crate) node: i64,
    pub(crate) gen_from: u64,
    pub(crate) gen_to: Option<u64>,
    pub(crate) record: NodeRecord,
}

/// Packs versions into blocks.
pub(crate) struct BlockWriter<'a> {
    connection: &'a Connection,
    owner: i64,
    paths: Paths<'a>,
    compressor: zstd::bulk::Compressor<'static>,
    pending: Vec<NewVersion>,
}

impl<'a> BlockWriter<'a> {
    pub(crate) fn new(connection: &'a Connection, owner: i64) -> Result<Self, Fault> {
        let mut compressor = zstd::bulk::Compressor::new(LEVEL).map_err(compression_fault)?;
        compressor.include_checksum(true).map_err(compression_fault)?;
        let paths = Paths::new(connection, owner);
        Ok(Self { connection, owner, paths, compressor, pending: Vec::with_capacity(BLOCK_SLOTS) })
    }

    pub(crate) fn push(&mut self, version: NewVersion) -> Result<(), Fault> {
        self.pending.push(version);
        if self.pending.len() == BLOCK_SLOTS { self.flush() } else { Ok(()) }
    }

    /// Writes the pending rows. Call this function after the last version was added.
    pub(crate) fn flush(&mut self) -> Result<(), Fault> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let mut body = Vec::new();
        for version in &mut self.pending {
            // The key and the repository cannot be compressed, so the block contains zeros instead. The row
            // identifies them by the numbers `node` and `owner`.
            version.record.key = NodeKey(Key128([0; 16]));
            version.record.repository = RepositoryId(Key128([0; 16]));
            version.record.encode(&mut body);
        }
        let payload = self.compressor.compress(&body).map_err(compression_fault)?;
        let slots = self.pending.len();
        let block = self
            .connection
            .prepare_cached("INSERT INTO node_block (slots, live, payload) VALUES (?1, ?1, ?2)")?
            .insert(params![slots, payload])?;
        let mut insert = self.connection.prepare_cached(
            "INSERT OR REPLACE INTO node_version (node, gen_from, gen_to, owner, path, line, name, block, slot)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?;
        for (slot, version) in self.pending.drain(..).enumerate() {
            let NewVersion { node, gen_from, gen_to, record } = version;
            let path = match &record.path {
                Some(path) => Some(self.paths.intern(path.as_str())?),
                None => None,
            };
            let line = record.span.map_or(0, |span| span.start);
            insert.execute(params![node, gen_from, gen_to, self.owner, path, line, record.name, block, slot])?;
        }
        Ok(())
    }
}

fn compression_fault(error: std::io::Error) -> Fault {
    Fault { kind: cairn_ports::ErrorKind::Io, cause: Some(Box::new(error)) }
}

/// Reads the records of a block. The keys and repositories of these records are zero.
pub(crate) fn read_block(connection: &Connection, block: i64) -> Result<Vec<NodeRecord>, Fault> {
    let damaged = |detail: &dyn std::fmt::Display| Fault::damaged(format!("block {block} of nodes: {detail}"));
    let mut select = connection.prepare_cached("SELECT slots, payload FROM node_block WHERE id = ?1")?;
    let found = select.query_row([block], |row| Ok((row.get(0)?, row.get::<_, Vec<u8>>(1)?))).optional()?;
    let (slots, payload): (usize, _) = found.ok_or_else(|| damaged(&"it is missing"))?;
    let body = zstd::stream::decode_all(payload.as_slice()).map_err(|error| damaged(&error))?;
    let mut reader = Reader(&body);
    let mut records = Vec::with_capacity(slots.min(BLOCK_SLOTS));
    for _ in 0..slots {
        records.push(NodeRecord::decode(&mut reader).map_err(|error| damaged(&error))?);
    }
    if reader.0.is_empty() { Ok(records) } else { Err(damaged(&"bytes follow its last record")) }
}

/// Removes versions, and then the blocks that no remaining version uses. Returns the paths of the versions.
pub(crate) fn remove_versions(connection: &Connection, versions: &[(i64, u64)]) -> Result<FxHashSet<i64>, Fault> {
    let mut delete = connection
        .prepare_cached("DELETE FROM node_version WHERE node = ?1 AND gen_from = ?2 RETURNING block, path")?;
    let mut paths = FxHashSet::default();
    for (node, gen_from) in versions {
        let removed = delete.query_row(params![node, gen_from], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        if let Some((block, path)) = removed {
            release(connection, block)?;
            paths.extend::<Option<i64>>(path);
        }
    }
    Ok(paths)
}

/// Reduces the block's count of live versions by one, and deletes the block if the count is zero.
pub(crate) fn release(connection: &Connection, block: i64) -> Result<(), Fault> {
    let live: i64 = connection
        .prepare_cached("UPDATE node_block SET live = live - 1 WHERE id = ?1 RETURNING live")?
        .query_row([block], |row| row.get(0))?;
    if live == 0 {
        connection.prepare_cached("DELETE FROM node_block WHERE id = ?1")?.execute([block])?;
    }
    Ok(())
}
