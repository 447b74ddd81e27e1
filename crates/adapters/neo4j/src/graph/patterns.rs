//! Stores and reads patterns. A repository has few patterns, and a reader always reads all of them. So each
//! version of a pattern is a single node without relationships.

use cairn_domain::{PatternRecord, RecordId, RunId};
use neo4rs::BoltType;

use crate::connection::Neo4j;
use crate::fault::Fault;
use crate::graph::nodes::{decode, encode};
use crate::graph::visibility::Visibility;
use crate::values::{key_text, row};

/// Inserts patterns. `insert_row` creates each row of the parameter `$rows`.
pub(crate) const INSERT: &str = "
UNWIND $rows AS row
MERGE (version:Pattern~ {key: row.key})
ON CREATE SET version.pattern = row.pattern, version.owner = $owner, version.tenant = $tenant,
    version.gen_from = $generation, version.gen_to = $open, version.name = row.name, version.record = row.record";

/// Retires patterns. The parameter `$rows` contains the keys of the patterns.
pub(crate) const RETIRE: &str = "
UNWIND $rows AS row
MATCH (version:Pattern~ {owner: $owner})
WHERE version.pattern = row AND version.gen_from < $generation
    AND (version.gen_to = $open OR version.gen_to IN $aborted)
SET version.gen_to = $generation";

const VISIBLE: &str = "MATCH (version:Pattern~ {tenant: $tenant}) WHERE SEES(version) RETURN version.record AS record";

pub(crate) fn insert_row(run: RunId, pattern: &PatternRecord) -> BoltType {
    row([
        ("key", key_text(RecordId::derive(pattern.key.0, run.generation).0).into()),
        ("pattern", key_text(pattern.key.0).into()),
        ("name", pattern.name.as_str().into()),
        ("record", encode(pattern).into()),
    ])
}

pub(crate) async fn visible(neo4j: &Neo4j, visibility: &Visibility<'_>) -> Result<Vec<PatternRecord>, Fault> {
    let rows = neo4j.transact(&visibility.query(neo4j, VISIBLE)).await?;
    let mut patterns = Vec::with_capacity(rows.len());
    for row in rows {
        patterns.push(decode::<PatternRecord>(&row.get::<Vec<u8>>("record")?)?);
    }
    patterns.sort_by(|left, right| {
        let members = right.members.len().cmp(&left.members.len());
        let order = left.repository.cmp(&right.repository).then(members);
        order.then_with(|| left.name.cmp(&right.name)).then_with(|| left.key.cmp(&right.key))
    });
    Ok(patterns)
}
