//! Reads all records of a repository in pages, in the order of their positions.

use cairn_domain::{EdgeRecord, NodeKey, NodeRecord, RepositoryId, Resolution};
use cairn_ports::Page;
use neo4rs::{Query, Row};

use crate::connection::Neo4j;
use crate::fault::Fault;
use crate::graph::edges::{COLUMNS, EdgeRow};
use crate::graph::nodes::NodeRow;
use crate::graph::visibility::Visibility;
use crate::values::{key_from, key_text, number};

const PAGE_RECORDS: usize = 8192;

const NODES: &str = "
MATCH (version:NodeVersion~ {owner: $owner})
USING INDEX version:NodeVersion~(owner, position)
WHERE version.position >= $from AND SEES(version)
RETURN version.position AS position, version.record AS record
ORDER BY version.owner, version.position LIMIT $limit";

pub(crate) async fn nodes(
    neo4j: &Neo4j,
    visibility: &Visibility<'_>,
    repository: RepositoryId,
    from: u64,
) -> Result<Page<NodeRecord>, Fault> {
    let rows = neo4j.transact(&paged(visibility.query(neo4j, NODES), repository, from)).await?;
    page(&rows, |row| row.to::<NodeRow>()?.decode())
}

pub(crate) async fn edges(
    neo4j: &Neo4j,
    visibility: &Visibility<'_>,
    repository: RepositoryId,
    resolution: Option<Resolution>,
    from: u64,
) -> Result<Page<EdgeRecord>, Fault> {
    let query = visibility.query(neo4j, &edges_statement()).param("resolution", resolution.map(Resolution::as_str));
    let rows = neo4j.transact(&paged(query, repository, from)).await?;
    page(&rows, |row| {
        let key = |name| Ok::<_, Fault>(NodeKey(key_from(&row.get::<String>(name)?)?));
        row.to::<EdgeRow>()?.record(key("source")?, key("target")?)
    })
}

fn edges_statement() -> String {
    format!(
        "MATCH (from:Node~)-[edge:EDGE~ {{owner: $owner}}]->(to:Node~)
         USING INDEX edge:EDGE~(owner, position)
         WHERE edge.position >= $from AND ($resolution IS NULL OR edge.resolution = $resolution) AND SEES(edge)
             AND EXISTS {{ (from)<-[:VERSION_OF~]-(source:NodeVersion~) WHERE SEES(source) }}
             AND EXISTS {{ (to)<-[:VERSION_OF~]-(target:NodeVersion~) WHERE SEES(target) }}
         RETURN edge.position AS position, {COLUMNS}, from.key AS source, to.key AS target
         ORDER BY edge.owner, edge.position LIMIT $limit"
    )
}

fn paged(query: Query, repository: RepositoryId, from: u64) -> Query {
    query.param("owner", key_text(repository.0)).param("from", number(from)).param("limit", PAGE_RECORDS as i64)
}

/// Builds a page. A full page omits the records at its last position, because more records with that position
/// may follow.
fn page<T>(rows: &[Row], read: impl Fn(&Row) -> Result<T, Fault>) -> Result<Page<T>, Fault> {
    let positions = rows.iter().map(|row| row.get("position")).collect::<Result<Vec<i64>, _>>()?;
    let (num_items, next) = cut(&positions, PAGE_RECORDS)?;
    Ok(Page { items: rows[..num_items].iter().map(read).collect::<Result<_, _>>()?, next })
}

fn cut(positions: &[i64], full: usize) -> Result<(usize, Option<u64>), Fault> {
    let Some(last) = positions.last().filter(|_| positions.len() >= full) else { return Ok((positions.len(), None)) };
    match positions.partition_point(|position| position < last) {
        0 => Err(Fault::damaged(format!("{full} records share one position"))),
        num_items => Ok((num_items, Some(*last as u64))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_never_splits_records_of_one_position() {
        let check = |positions: &[i64], expect| assert_eq!(cut(positions, 4).ok(), expect, "{positions:?}");
        check(&[], Some((0, None)));
        check(&[1, 2, 2], Some((3, None)));
        check(&[1, 2, 3, 4], Some((3, Some(4))));
        check(&[1, 2, 2, 2], Some((1, Some(2))));
        check(&[2, 2, 2, 2], None);
    }
}
