//! Reads nodes by key, and the neighbours of one node.

use cairn_domain::{EdgeKind, EdgeRecord, NodeKey, NodeRecord};
use cairn_ports::{Direction, Neighbour};
use neo4rs::{Query, Row};
use rustc_hash::FxHashMap;
use serde::Deserialize;

use async_trait::async_trait;

use crate::connection::Neo4j;
use crate::fault::Fault;
use crate::graph::edges::{COLUMNS, EdgeRow};
use crate::graph::nodes::{NodeRow, key_texts};
use crate::graph::visibility::Visibility;
use crate::transaction::{Transaction, Work};
use crate::values::{BATCH_ROWS, key_from, key_text};

const NODES: &str = "
UNWIND $keys AS key
MATCH (node:Node~ {key: key})<-[:VERSION_OF~]-(version:NodeVersion~)
USING INDEX node:Node~(key)
WHERE SEES(version)
RETURN version.record AS record";

const VERSIONS: &str = "
UNWIND $versions AS key
MATCH (version:NodeVersion~ {key: key})
RETURN key, version.record AS record";

/// A query for the neighbours of a node.
#[derive(Clone, Copy)]
pub(crate) struct NeighbourQuery<'a> {
    pub(crate) node: NodeKey,
    pub(crate) direction: Direction,
    pub(crate) kinds: &'a [EdgeKind],
    pub(crate) limit: usize,
}

pub(crate) async fn nodes(
    neo4j: &Neo4j,
    visibility: &Visibility<'_>,
    keys: &[NodeKey],
) -> Result<Vec<NodeRecord>, Fault> {
    let mut found = FxHashMap::default();
    for keys in keys.chunks(BATCH_ROWS) {
        let query = visibility.query(neo4j, NODES).param("keys", key_texts(keys));
        for row in neo4j.transact(&query).await? {
            let record = row.to::<NodeRow>()?.decode()?;
            found.insert(record.key, record);
        }
    }
    Ok(keys.iter().filter_map(|key| found.get(key).cloned()).collect())
}

pub(crate) async fn neighbours(
    neo4j: &Neo4j,
    visibility: &Visibility<'_>,
    wanted: NeighbourQuery<'_>,
) -> Result<(Vec<Neighbour>, u64), Fault> {
    let kinds: Vec<&str> = wanted.kinds.iter().map(|kind| kind.as_str()).collect();
    let query = visibility
        .query(neo4j, &statement(wanted.direction))
        .param("node", key_text(wanted.node.0))
        .param("any_kind", kinds.is_empty())
        .param("kinds", kinds);
    neo4j.transact(&Neighbourhood { neo4j, query, wanted }).await
}

/// Returns the statement that reads every visible edge of the node. The edges are sorted by properties of
/// their other ends, so the statement also reads these properties. The records are read later, and only for
/// one page.
fn statement(direction: Direction) -> String {
    let edge = match direction {
        Direction::Out => "(node)-[edge:EDGE~]->(other:Node~)",
        Direction::In => "(node)<-[edge:EDGE~]-(other:Node~)",
    };
    format!(
        "MATCH (node:Node~ {{key: $node}})
         WHERE EXISTS {{ (node)<-[:VERSION_OF~]-(start:NodeVersion~) WHERE SEES(start) }}
         MATCH {edge} WHERE ($any_kind OR edge.kind IN $kinds) AND SEES(edge)
         MATCH (other)<-[:VERSION_OF~]-(version:NodeVersion~) WHERE SEES(version)
         RETURN {COLUMNS}, other.key AS other, version.key AS version, version.path AS path,
             version.line AS at, version.name AS name"
    )
}

/// A transaction that runs both statements of a query.
struct Neighbourhood<'a> {
    neo4j: &'a Neo4j,
    query: Query,
    wanted: NeighbourQuery<'a>,
}

/// An edge, and the properties of its other end that determine the order of the edges.
struct Found {
    edge: EdgeRecord,
    end: End,
}

#[derive(Deserialize)]
struct End {
    other: String,
    version: String,
    path: String,
    at: i64,
    name: String,
}

#[async_trait]
impl Work for Neighbourhood<'_> {
    type Output = (Vec<Neighbour>, u64);

    async fn run(&self, transaction: &mut Transaction) -> Result<Self::Output, Fault> {
        let rows = transaction.rows(self.query.clone()).await?;
        let mut found = rows.iter().map(|row| self.found(row)).collect::<Result<Vec<_>, _>>()?;
        // The edges are sorted here, because the server compares some texts by UTF-16 units and others by
        // code points.
        found.sort_by(|left, right| {
            let ends = order_key(&left.end).cmp(&order_key(&right.end));
            let edges = (left.edge.line, left.edge.key).cmp(&(right.edge.line, right.edge.key));
            left.edge.kind.cmp(&right.edge.kind).then(ends).then(edges)
        });
        let total = found.len() as u64;
        found.truncate(self.wanted.limit);
        Ok((self.with_records(transaction, found).await?, total))
    }
}

impl Neighbourhood<'_> {
    fn found(&self, row: &Row) -> Result<Found, Fault> {
        let end: End = row.to()?;
        let other = NodeKey(key_from(&end.other)?);
        let (source, target) = match self.wanted.direction {
            Direction::Out => (self.wanted.node, other),
            Direction::In => (other, self.wanted.node),
        };
        Ok(Found { edge: row.to::<EdgeRow>()?.record(source, target)?, end })
    }

    async fn with_records(&self, transaction: &mut Transaction, found: Vec<Found>) -> Result<Vec<Neighbour>, Fault> {
        let mut versions: Vec<String> = found.iter().map(|found| found.end.version.clone()).collect();
        versions.sort_unstable();
        versions.dedup();
        let mut records = FxHashMap::default();
        if !versions.is_empty() {
            for row in transaction.rows(self.neo4j.query(VERSIONS).param("versions", versions)).await? {
                records.insert(row.get::<String>("key")?, row.to::<NodeRow>()?.decode()?);
            }
        }
        let mut neighbours = Vec::with_capacity(found.len());
        for Found { edge, end } in found {
            // The version is missing if a sweep removed it between the two statements. On the next attempt,
            // the node is not visible.
            let node = records.get(&end.version).cloned().ok_or_else(swept_during_read)?;
            neighbours.push(Neighbour { edge, node });
        }
        Ok(neighbours)
    }
}

fn swept_during_read() -> Fault {
    let fault = Fault::new(cairn_ports::ErrorKind::TransactionConflict, "a version was swept while it was read");
    Fault { is_retryable: true, ..fault }
}

fn order_key(end: &End) -> (&str, i64, &str) {
    (&end.path, end.at, &end.name)
}
