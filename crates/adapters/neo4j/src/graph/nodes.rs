//! Converts versions of nodes to rows and rows to versions.

use cairn_domain::{NodeKey, NodeRecord, RecordId, RunId};
use cairn_wire::{Decode, Encode, Reader};
use neo4rs::BoltType;
use serde::Deserialize;

use crate::fault::Fault;
use crate::values::{key_text, position, row};

/// Inserts versions of nodes. `insert_row` creates each row of the parameter `$rows`.
pub(crate) const INSERT: &str = "
UNWIND $rows AS row
MERGE (node:Node~ {key: row.node})
MERGE (version:NodeVersion~ {key: row.key})
ON CREATE SET version.owner = $owner, version.tenant = $tenant, version.gen_from = $generation,
    version.gen_to = $open, version.position = row.position, version.kind = row.kind, version.name = row.name,
    version.path = row.path, version.line = row.line, version.record = row.record
MERGE (version)-[:VERSION_OF~]->(node)";

/// Retires versions of nodes. The parameter `$rows` contains the keys of the nodes.
pub(crate) const RETIRE: &str = "
UNWIND $rows AS row
MATCH (node:Node~ {key: row})<-[:VERSION_OF~]-(version:NodeVersion~)
USING INDEX node:Node~(key)
WHERE version.owner = $owner AND version.gen_from < $generation
    AND (version.gen_to = $open OR version.gen_to IN $aborted)
SET version.gen_to = $generation";

/// Creates a row of `INSERT`. The properties that determine the order of lists of nodes are stored next to
/// the record.
pub(crate) fn insert_row(run: RunId, node: &NodeRecord) -> BoltType {
    row([
        ("node", key_text(node.key.0).into()),
        ("key", key_text(RecordId::derive(node.key.0, run.generation).0).into()),
        ("position", position(node.key.0).into()),
        ("kind", node.kind.as_str().into()),
        ("name", node.name.as_str().into()),
        ("path", path_of(node).into()),
        ("line", line_of(node).into()),
        ("record", encode(node).into()),
    ])
}

pub(crate) fn path_of(node: &NodeRecord) -> &str {
    node.path.as_ref().map_or("", |path| path.as_str())
}

pub(crate) fn line_of(node: &NodeRecord) -> i64 {
    node.span.map_or(0, |span| i64::from(span.start))
}

/// A version as statements return it, with its encoded record.
#[derive(Deserialize)]
pub(crate) struct NodeRow {
    pub(crate) record: Vec<u8>,
}

impl NodeRow {
    pub(crate) fn decode(&self) -> Result<NodeRecord, Fault> {
        decode(&self.record)
    }
}

/// Format version of the bytes of a stored record.
const RECORD_VERSION: u8 = 1;
const CHECKSUM_BYTES: usize = 4;

/// Encodes a record as bytes: the format version, the record in the wire codec, and a checksum of both.
pub(crate) fn encode<R: Encode>(record: &R) -> Vec<u8> {
    let mut bytes = vec![RECORD_VERSION];
    record.encode(&mut bytes);
    let checksum = blake3::hash(&bytes);
    bytes.extend_from_slice(&checksum.as_bytes()[..CHECKSUM_BYTES]);
    bytes
}

pub(crate) fn decode<R: Decode>(bytes: &[u8]) -> Result<R, Fault> {
    let body_bytes = bytes.len().saturating_sub(CHECKSUM_BYTES);
    let (body, checksum) = bytes.split_at(body_bytes);
    if blake3::hash(body).as_bytes()[..CHECKSUM_BYTES] != *checksum {
        return Err(Fault::damaged("a record does not match its checksum"));
    }
    let Some((&RECORD_VERSION, record)) = body.split_first() else {
        return Err(Fault::damaged("a record has a format version that this build does not support"));
    };
    let mut reader = Reader(record);
    let record = R::decode(&mut reader).map_err(Fault::damaged)?;
    if reader.0.is_empty() { Ok(record) } else { Err(Fault::damaged("a record is followed by extra bytes")) }
}

/// Converts keys of nodes to text, for lists of parameters.
pub(crate) fn key_texts(keys: &[NodeKey]) -> Vec<String> {
    keys.iter().map(|key| key_text(key.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_bytes_are_detected() {
        let bytes = encode(&"text".to_owned());
        assert_eq!(decode::<String>(&bytes).expect("unchanged bytes"), "text");
        for index in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[index] ^= 1;
            assert!(decode::<String>(&changed).is_err(), "byte {index}");
            assert!(decode::<String>(&bytes[..index]).is_err(), "{index} bytes");
        }
    }
}
