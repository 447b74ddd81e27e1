//! Verification: reads all records of a repository and compares the values that are stored twice.

use cairn_domain::{NodeRecord, PatternRecord, RepositoryId};
use neo4rs::{Query, Row};
use serde::Deserialize;

use crate::connection::Neo4j;
use crate::fault::Fault;
use crate::graph::edges::{COLUMNS, EdgeRow};
use crate::graph::nodes::{decode, line_of, path_of};
use crate::values::{key_from, key_text, position};

const PAGE_RECORDS: i64 = 5000;

const VERSIONS: &str = "
MATCH (version:NodeVersion~ {owner: $owner})
USING INDEX version:NodeVersion~(owner, position)
WHERE version.position > $after
WITH version ORDER BY version.owner, version.position LIMIT $limit
OPTIONAL MATCH (version)-[:VERSION_OF~]->(node:Node~)
WITH version, collect(node.key) AS nodes
RETURN version.position AS position, version.name AS name, version.path AS path, version.line AS line,
    version.record AS record, nodes";

const PATTERNS: &str = "MATCH (version:Pattern~ {owner: $owner}) RETURN version.record AS record";

pub(crate) async fn verify(neo4j: &Neo4j, repository: RepositoryId) -> Result<(), Fault> {
    each(neo4j, repository, VERSIONS, |row| verify_version(repository, &row.to()?)).await?;
    each(neo4j, repository, &edges_statement(), verify_edge).await?;
    for row in neo4j.transact(&neo4j.query(PATTERNS).param("owner", key_text(repository.0))).await? {
        decode::<PatternRecord>(&row.get::<Vec<u8>>("record")?)?;
    }
    Ok(())
}

fn edges_statement() -> String {
    format!(
        "MATCH (from:Node~)-[edge:EDGE~ {{owner: $owner}}]->(to:Node~)
         USING INDEX edge:EDGE~(owner, position)
         WHERE edge.position > $after
         WITH from, edge, to ORDER BY edge.owner, edge.position LIMIT $limit
         RETURN edge.position AS position, {COLUMNS}, from.key AS source, to.key AS target"
    )
}

/// Reads the rows of the statement in pages, and verifies every row.
async fn each(
    neo4j: &Neo4j,
    repository: RepositoryId,
    statement: &str,
    verify: impl Fn(&Row) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let page = |after: i64| -> Query {
        let query = neo4j.query(statement).param("owner", key_text(repository.0));
        query.param("after", after).param("limit", PAGE_RECORDS)
    };
    let mut after = -1;
    loop {
        let rows = neo4j.transact(&page(after)).await?;
        rows.iter().try_for_each(&verify)?;
        // Versions of one node have the same position, so the next page starts again at the last position of
        // this page.
        match rows.last() {
            Some(row) if rows.len() as i64 == PAGE_RECORDS => after = row.get::<i64>("position")? - 1,
            _ => return Ok(()),
        }
    }
}

#[derive(Deserialize)]
struct VersionRow {
    position: i64,
    name: String,
    path: String,
    line: i64,
    record: Vec<u8>,
    nodes: Vec<String>,
}

/// Verifies that the properties next to a record match the record, and that the version is connected to the
/// node of its key.
fn verify_version(repository: RepositoryId, row: &VersionRow) -> Result<(), Fault> {
    let record: NodeRecord = decode(&row.record)?;
    let agrees = record.repository == repository
        && position(record.key.0) == row.position
        && record.name == row.name
        && path_of(&record) == row.path
        && line_of(&record) == row.line
        && row.nodes == [key_text(record.key.0)];
    if agrees {
        Ok(())
    } else {
        Err(Fault::damaged(format!("the properties of node {} do not match its record", record.key)))
    }
}

fn verify_edge(row: &Row) -> Result<(), Fault> {
    let node = |name| Ok::<_, Fault>(cairn_domain::NodeKey(key_from(&row.get::<String>(name)?)?));
    let edge = row.to::<EdgeRow>()?.record(node("source")?, node("target")?)?;
    let agrees = position(edge.key.0) == row.get::<i64>("position")?;
    if agrees {
        Ok(())
    } else {
        Err(Fault::damaged(format!("the position of edge {} does not match its key", edge.key)))
    }
}
