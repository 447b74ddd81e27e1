//! Converts edges to rows and rows to edges. All data of an edge are properties of its relationship.

use cairn_domain::{EdgeKey, EdgeKind, EdgeRecord, NodeKey, RecordId, RepositoryId, Resolution, RunId};
use neo4rs::BoltType;
use serde::Deserialize;

use crate::fault::Fault;
use crate::values::{key_from, key_text, position, row};

/// Creates both end nodes of the edges. The statement runs in the same transaction as `INSERT`. Otherwise, a
/// sweep could remove a new node before the edge that refers to it is committed.
pub(crate) const INSERT_ENDS: &str = "
UNWIND $nodes AS key
MERGE (:Node~ {key: key})";

/// Inserts edges. `insert_row` creates each row of the parameter `$rows`.
pub(crate) const INSERT: &str = "
UNWIND $rows AS row
MATCH (source:Node~ {key: row.source})
MATCH (target:Node~ {key: row.target})
MERGE (source)-[edge:EDGE~ {key: row.key}]->(target)
ON CREATE SET edge.edge = row.edge, edge.owner = $owner, edge.tenant = $tenant, edge.gen_from = $generation,
    edge.gen_to = $open, edge.position = row.position, edge.kind = row.kind, edge.line = row.line,
    edge.resolution = row.resolution, edge.confidence_percent = row.confidence_percent";

/// Retires edges. `retire_row` creates each row of the parameter `$rows`.
pub(crate) const RETIRE: &str = "
UNWIND $rows AS row
MATCH ()-[edge:EDGE~ {owner: $owner, position: row.position}]->()
USING INDEX edge:EDGE~(owner, position)
WHERE edge.edge = row.edge AND edge.gen_from < $generation AND (edge.gen_to = $open OR edge.gen_to IN $aborted)
SET edge.gen_to = $generation";

/// The columns that an `EdgeRow` needs, for statements that return edges with the keys of their end nodes.
pub(crate) const COLUMNS: &str = "edge.edge AS edge, edge.owner AS owner, edge.kind AS kind, edge.line AS line, \
     edge.resolution AS resolution, edge.confidence_percent AS confidence_percent";

pub(crate) fn insert_row(run: RunId, edge: &EdgeRecord) -> BoltType {
    row([
        ("source", key_text(edge.source.0).into()),
        ("target", key_text(edge.target.0).into()),
        ("key", key_text(RecordId::derive(edge.key.0, run.generation).0).into()),
        ("edge", key_text(edge.key.0).into()),
        ("position", position(edge.key.0).into()),
        ("kind", edge.kind.as_str().into()),
        ("line", i64::from(edge.line).into()),
        ("resolution", edge.resolution.as_str().into()),
        ("confidence_percent", i64::from(edge.confidence_percent).into()),
    ])
}

pub(crate) fn retire_row(key: EdgeKey) -> BoltType {
    row([("edge", key_text(key.0).into()), ("position", position(key.0).into())])
}

/// An edge as statements return it, without its end nodes.
#[derive(Deserialize)]
pub(crate) struct EdgeRow {
    edge: String,
    owner: String,
    kind: String,
    line: u32,
    resolution: String,
    confidence_percent: u8,
}

impl EdgeRow {
    pub(crate) fn record(&self, source: NodeKey, target: NodeKey) -> Result<EdgeRecord, Fault> {
        Ok(EdgeRecord {
            key: EdgeKey(key_from(&self.edge)?),
            owner: RepositoryId(key_from(&self.owner)?),
            kind: word(EdgeKind::ALL, EdgeKind::as_str, &self.kind)?,
            source,
            target,
            line: self.line,
            resolution: word(Resolution::ALL, Resolution::as_str, &self.resolution)?,
            confidence_percent: self.confidence_percent,
        })
    }
}

fn word<W: Copy>(all: &[W], name: fn(W) -> &'static str, found: &str) -> Result<W, Fault> {
    let known = all.iter().copied().find(|word| name(*word) == found);
    known.ok_or_else(|| Fault::damaged(format!("an edge has the unknown value `{found}`")))
}
