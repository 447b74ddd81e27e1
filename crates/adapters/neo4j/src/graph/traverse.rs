//! Traverses the graph over a few edges, with one statement for each level.
//!
//! The text of the statement does not depend on the number of levels. So the server plans at most three
//! statements, one for each direction, and all traversals use them. A single statement for all levels took a
//! busy server seconds to plan. The statements compare only texts that are keys or names of kinds. These
//! texts are ASCII, so the server and Rust compare them in the same way.

use std::collections::BTreeMap;
use std::collections::hash_map::Entry;

use async_trait::async_trait;
use cairn_domain::{EdgeKind, EdgeRecord, NodeKey, NodeRecord, Scope, Tenant, View};
use cairn_ports::{Follow, Levels, Step, Traversal, TraversalRequest};
use neo4rs::{Query, Row};
use rustc_hash::FxHashMap;
use serde::Deserialize;

use crate::connection::Neo4j;
use crate::fault::Fault;
use crate::graph::edges::{COLUMNS, EdgeRow};
use crate::graph::nodes::{NodeRow, decode, key_texts};
use crate::graph::visibility::Visibility;
use crate::transaction::{Transaction, Work};
use crate::values::key_from;

/// Returns the edges that a traversal follows from visible nodes, each with the record of its other end.
///
/// Planning this text takes the server many times longer than executing it, and every change of the schema
/// discards the plans. So the statement tests the visibility of both records with one expression. The hint
/// leaves the planner only one way to find the nodes. This way remains the best when the graph grows, so the
/// statement need not be planned again.
const LEVEL: &str = "CYPHER replan=skip
UNWIND $nodes AS key
MATCH (node:Node~ {key: key})<-[:VERSION_OF~]-(start)
USING INDEX node:Node~(key)
WITH node, start
WHERE SEES(start)
CALL (node) {
    MATCH PATTERN<-[:VERSION_OF~]-(version)
    WITH node, edge, other, version
    WHERE other <> node AND edge.kind IN $kinds AND edge.confidence_percent >= $min_confidence_percent
        AND all(record IN [edge, version] WHERE SEES(record))
    RETURN edge, other, version
    ORDER BY edge.confidence_percent DESC, other.key, edge.kind, edge.line, edge.edge
    LIMIT $max_edges_per_node
}
RETURN COLUMNS, node.key AS node, other.key AS other, startNode(edge) = node AS is_outgoing,
    version.record AS record";

/// Counts the edges that end at visible nodes. Nodes without such edges have no row.
const USES: &str = "CYPHER replan=skip
UNWIND $nodes AS key
MATCH (node:Node~ {key: key})<-[:VERSION_OF~]-(start)
USING INDEX node:Node~(key)
WITH node, start
WHERE SEES(start)
MATCH (node)<-[edge:EDGE~]-()<-[:VERSION_OF~]-(version)
WITH node, edge, version
WHERE all(record IN [edge, version] WHERE SEES(record))
RETURN node.key AS node, count(DISTINCT edge) AS uses";

pub(crate) async fn traverse(
    neo4j: &Neo4j,
    visibility: &Visibility<'_>,
    request: &TraversalRequest,
) -> Result<Traversal, Fault> {
    if request.starts.is_empty() {
        return Ok(Traversal::default());
    }
    let query = visibility
        .query(neo4j, &statement(request.follow))
        .param("kinds", kinds(&request.kinds))
        .param("min_confidence_percent", i64::from(request.min_confidence_percent))
        .param("max_edges_per_node", i64::try_from(request.max_edges_per_node).unwrap_or(i64::MAX));
    neo4j.transact(&Traversing { query, request }).await
}

/// The number of visible edges that end at each node, in the order of the nodes.
pub(crate) async fn num_uses(neo4j: &Neo4j, visibility: &Visibility<'_>, nodes: &[NodeKey]) -> Result<Vec<u64>, Fault> {
    if nodes.is_empty() {
        return Ok(Vec::new());
    }
    let mut uses: FxHashMap<NodeKey, u64> = FxHashMap::default();
    for row in neo4j.transact(&visibility.query(neo4j, USES).param("nodes", key_texts(nodes))).await? {
        uses.insert(NodeKey(key_from(&row.get::<String>("node")?)?), row.get("uses")?);
    }
    Ok(nodes.iter().map(|node| uses.get(node).copied().unwrap_or_default()).collect())
}

/// Plans the statements of all traversals. Otherwise, the first questions would wait for the planning.
pub(crate) async fn plan(neo4j: &Neo4j) -> Result<(), Fault> {
    let (view, scope) = (View::default(), Scope::only(Tenant::local(), []));
    let visibility = Visibility::new(&view, &scope);
    for follow in [Follow::Out, Follow::In, Follow::Both] {
        let query = visibility
            .query(neo4j, &statement(follow))
            .param("kinds", kinds(&[]))
            .param("min_confidence_percent", 0)
            .param("max_edges_per_node", 0)
            .param("nodes", Vec::<String>::new());
        neo4j.transact(&query).await?;
    }
    neo4j.transact(&visibility.query(neo4j, USES).param("nodes", Vec::<String>::new())).await.map(drop)
}

/// The names of the kinds. An empty list means all kinds.
fn kinds(kinds: &[EdgeKind]) -> Vec<&'static str> {
    let kinds = if kinds.is_empty() { EdgeKind::ALL } else { kinds };
    kinds.iter().map(|kind| kind.as_str()).collect()
}

fn statement(follow: Follow) -> String {
    let pattern = match follow {
        Follow::Out => "(node)-[edge:EDGE~]->(other)",
        Follow::In => "(node)<-[edge:EDGE~]-(other)",
        Follow::Both => "(node)-[edge:EDGE~]-(other)",
    };
    LEVEL.replace("PATTERN", pattern).replace("COLUMNS", COLUMNS)
}

/// A transaction that reads the levels one after the other.
struct Traversing<'r> {
    query: Query,
    request: &'r TraversalRequest,
}

#[async_trait]
impl Work for Traversing<'_> {
    type Output = Traversal;

    async fn run(&self, transaction: &mut Transaction) -> Result<Traversal, Fault> {
        let mut levels = Levels::new(self.request, self.request.starts.iter().copied());
        let mut records = FxHashMap::default();
        while let Some(nodes) = levels.next_nodes() {
            let mut edges: BTreeMap<NodeKey, Vec<EdgeRecord>> = BTreeMap::new();
            for row in transaction.rows(self.query.clone().param("nodes", key_texts(&nodes))).await? {
                let (node, other, edge) = followed(&row)?;
                edges.entry(node).or_default().push(edge);
                if let Entry::Vacant(place) = records.entry(other) {
                    place.insert(row.to::<NodeRow>()?.record);
                }
            }
            levels.follow(edges);
        }
        let reached = |step: Step| {
            let missing = || Fault::damaged("a reached node has no record");
            let node: NodeRecord = decode(records.get(&step.node).ok_or_else(missing)?)?;
            Ok(step.reached(node))
        };
        let walk = levels.walk;
        let reached = walk.steps.into_iter().map(reached).collect::<Result<_, Fault>>()?;
        Ok(Traversal { reached, is_cut: walk.is_cut })
    }
}

/// The ends and the direction of a followed edge.
#[derive(Deserialize)]
struct Ends {
    node: String,
    other: String,
    is_outgoing: bool,
}

/// The node from which an edge is followed, its other end, and the edge.
fn followed(row: &Row) -> Result<(NodeKey, NodeKey, EdgeRecord), Fault> {
    let Ends { node, other, is_outgoing } = row.to()?;
    let (node, other) = (NodeKey(key_from(&node)?), NodeKey(key_from(&other)?));
    let (source, target) = if is_outgoing { (node, other) } else { (other, node) };
    Ok((node, other, row.to::<EdgeRow>()?.record(source, target)?))
}
