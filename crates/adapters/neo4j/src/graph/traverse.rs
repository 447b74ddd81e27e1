//! Traverses the graph over a few edges, with one statement.
//!
//! The statement follows the rules of `cairn_ports::walk`. Texts are compared only where they are keys or
//! names of kinds: these are ASCII, so the server compares them in the same way as Rust does.

use std::cmp::Reverse;

use cairn_domain::{EdgeRecord, NodeKey};
use cairn_ports::{Follow, Reached, Traversal, TraversalRequest};
use neo4rs::Row;
use serde::Deserialize;

use crate::connection::Neo4j;
use crate::fault::Fault;
use crate::graph::edges::{COLUMNS, EdgeRow};
use crate::graph::nodes::{NodeRow, key_texts};
use crate::graph::visibility::Visibility;
use crate::values::key_from;

/// `found` is the list of reached nodes. Its first entries are the visible starts.
const STARTS: &str = "
UNWIND $starts AS key
MATCH (start:Node~ {key: key})
WHERE EXISTS { (start)<-[:VERSION_OF~]-(version:NodeVersion~) WHERE SEES(version) }
WITH DISTINCT start
WITH collect({node: start, key: start.key, depth: 0, confidence: 1000000}) AS found
WITH found, size(found) AS num_starts";

/// Adds the nodes of one level. `DEPTH` is the depth of the level, `PATTERN` the pattern of an edge, and
/// `KNOWN` the nodes that are not added again.
///
/// The last part groups by key, which takes linear time. A search of each key in the list of known nodes
/// would take quadratic time.
const LEVEL: &str = "
CALL (found) {
    UNWIND [entry IN found WHERE entry.depth = DEPTH - 1] AS from
    CALL (from) {
        WITH from.node AS node
        MATCH PATTERN
        WHERE other <> node AND ($any_kind OR edge.kind IN $kinds)
            AND edge.confidence_percent >= $min_confidence_percent AND SEES(edge)
        MATCH (other)<-[:VERSION_OF~]-(version:NodeVersion~) WHERE SEES(version)
        RETURN edge, other, version
        ORDER BY edge.confidence_percent DESC, other.key, edge.kind, edge.line, edge.edge
        LIMIT $max_edges_per_node
    }
    WITH from, edge, other, version, from.confidence * edge.confidence_percent / 100 AS confidence
    ORDER BY confidence DESC, from.key, edge.kind, edge.line, edge.edge
    WITH other, collect({node: other, key: other.key, depth: DEPTH, confidence: confidence, previous: from.key,
        edge: edge, version: version})[0] AS entry
    RETURN collect(entry) AS reached
}
CALL (found, reached) {
    UNWIND KNOWN + reached AS entry
    WITH entry.key AS key, min(entry.depth) AS depth, collect(entry) AS entries
    WHERE depth = DEPTH
    WITH entries[0] AS entry
    ORDER BY entry.confidence DESC, entry.key
    RETURN collect(entry) AS added
}
WITH num_starts, found + added[..($num_nodes + num_starts - size(found))] AS found";

const REACHED: &str = "
UNWIND found AS entry
WITH entry WHERE entry.depth > 0
WITH entry, entry.edge AS edge, entry.version AS version
RETURN COLUMNS, entry.key AS node, entry.previous AS previous, entry.depth AS depth,
    entry.confidence AS confidence, startNode(edge).key AS source, version.record AS record";

pub(crate) async fn traverse(
    neo4j: &Neo4j,
    visibility: &Visibility<'_>,
    request: &TraversalRequest,
) -> Result<Traversal, Fault> {
    if request.starts.is_empty() {
        return Ok(Traversal::default());
    }
    let kinds: Vec<&str> = request.kinds.iter().map(|kind| kind.as_str()).collect();
    let number = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    // One more node shows whether the limit leaves nodes out.
    let query = visibility
        .query(neo4j, &statement(request))
        .param("starts", key_texts(&request.starts))
        .param("any_kind", kinds.is_empty())
        .param("kinds", kinds)
        .param("min_confidence_percent", i64::from(request.min_confidence_percent))
        .param("max_edges_per_node", number(request.max_edges_per_node))
        .param("num_nodes", number(request.num_nodes() + 1));
    let rows = neo4j.transact(&query).await?;
    let mut reached = rows.iter().map(reached).collect::<Result<Vec<_>, _>>()?;
    reached.sort_by_key(|reached| (reached.depth, Reverse(reached.confidence), reached.node.key));
    let is_cut = reached.len() > request.num_nodes();
    reached.truncate(request.num_nodes());
    Ok(Traversal { reached, is_cut })
}

fn statement(request: &TraversalRequest) -> String {
    let pattern = match request.follow {
        Follow::Out => "(node)-[edge:EDGE~]->(other:Node~)",
        Follow::In => "(node)<-[edge:EDGE~]-(other:Node~)",
        Follow::Both => "(node)-[edge:EDGE~]-(other:Node~)",
    };
    let mut text = STARTS.to_owned();
    for depth in 1..=request.depth() {
        let known = if depth == 1 && request.returns_starts { "[]" } else { "found" };
        let level = LEVEL.replace("DEPTH", &depth.to_string()).replace("PATTERN", pattern).replace("KNOWN", known);
        text.push_str(&level);
    }
    text.push_str(&REACHED.replace("COLUMNS", COLUMNS));
    text
}

/// A reached node, except its record and its edge.
#[derive(Deserialize)]
struct Place {
    node: String,
    previous: String,
    source: String,
    depth: u32,
    confidence: u64,
}

fn reached(row: &Row) -> Result<Reached, Fault> {
    let Place { node, previous, source, depth, confidence } = row.to()?;
    let (node, previous) = (NodeKey(key_from(&node)?), NodeKey(key_from(&previous)?));
    let is_outgoing = NodeKey(key_from(&source)?) == previous;
    let (source, target) = if is_outgoing { (previous, node) } else { (node, previous) };
    let edge: EdgeRecord = row.to::<EdgeRow>()?.record(source, target)?;
    Ok(Reached { node: row.to::<NodeRow>()?.decode()?, depth, previous, edge, confidence })
}
