//! Tests concurrent writers of the same keys.

use std::time::Duration;

use anyhow::{Result, ensure};
use cairn_domain::{EdgeRecord, NodeRecord};
use cairn_neo4j::Neo4jGraph;
use cairn_ports::{Generations, StagedGraph};
use futures::future::try_join_all;
use tokio::time::Instant;

use crate::fixture::{call, node, repository, run, stage};
use crate::server::Namespace;

const NUM_WRITERS: u32 = 8;
const NUM_KEYS: u32 = 200;

/// Returns the part of writer `number`. Each node of the part refers to one of the shared keys. The order of
/// the keys differs between writers.
fn staged_by(number: u32, round: u32) -> StagedGraph {
    let (shared, own) = (repository("shared"), repository(&format!("writer{number}")));
    let base = round * NUM_KEYS;
    let mut nodes: Vec<NodeRecord> = (base..base + NUM_KEYS).map(|key| node(own, key)).collect();
    if number % 2 == 1 {
        nodes.reverse();
    }
    let target = |index: usize| node(shared, base + (index as u32 * 7 + number * 31) % NUM_KEYS);
    let edges: Vec<EdgeRecord> =
        nodes.iter().enumerate().map(|(index, source)| call(own, source, &target(index), 0)).collect();
    StagedGraph { nodes, edges, ..StagedGraph::default() }
}

/// Runs all writers at the same time. Each writer runs twice at the same time with the same part, as after a
/// redelivery.
async fn storm(graph: &Neo4jGraph, round: u32) -> Result<()> {
    let writers = (0..2 * NUM_WRITERS).map(|task| {
        let (graph, number) = (graph.clone(), task / 2);
        let own = repository(&format!("writer{number}"));
        tokio::spawn(async move { stage(&graph, run(own, 1), staged_by(number, round)).await })
    });
    for outcome in try_join_all(writers).await? {
        outcome?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_writers_create_one_node_per_key() -> Result<()> {
    let Some(namespace) = Namespace::open().await? else { return Ok(()) };
    let graph = Neo4jGraph::new(namespace.neo4j.clone());
    for round in 0..3 {
        storm(&graph, round).await?;
        let (writers, keys) = (u64::from(NUM_WRITERS), u64::from(NUM_KEYS * (round + 1)));
        ensure!(namespace.count("MATCH (n:Node~) RETURN count(n) AS count").await? == (writers + 1) * keys);
        ensure!(namespace.count("MATCH (n:NodeVersion~) RETURN count(n) AS count").await? == writers * keys);
        ensure!(namespace.count("MATCH ()-[n:EDGE~]->() RETURN count(n) AS count").await? == writers * keys);
        ensure!(namespace.count("MATCH ()-[n:VERSION_OF~]->() RETURN count(n) AS count").await? == writers * keys);
    }
    for number in 0..NUM_WRITERS {
        graph.verify(repository(&format!("writer{number}"))).await?;
    }
    Ok(())
}

/// Returns the number of nodes with one key after two writers have created a node with this key. First, a
/// transaction outside the graph store creates the node. Then the graph store stages a reference to the node,
/// and the first transaction commits.
async fn num_nodes_of_two_writers(namespace: &Namespace) -> Result<u64> {
    let (graph, own, shared) = (Neo4jGraph::new(namespace.neo4j.clone()), repository("own"), repository("shared"));
    let target = node(shared, 0);
    let key = target.key;
    let first = namespace.begin(&format!("MERGE (n:Node~ {{key: '{key}'}})")).await?;
    let staged = StagedGraph { edges: vec![call(own, &node(own, 1), &target, 0)], ..StagedGraph::default() };
    let second = tokio::spawn(async move { stage(&graph, run(own, 1), staged).await });
    let deadline = Instant::now() + Duration::from_secs(20);
    while !second.is_finished() && !namespace.has_waiting_writer().await? {
        ensure!(Instant::now() < deadline, "the second writer neither waited for the first writer nor ended");
    }
    first.commit().await?;
    second.await??;
    namespace.count(&format!("MATCH (n:Node~ {{key: '{key}'}}) RETURN count(n) AS count")).await
}

/// Without the constraint, two nodes exist; this shows that the test can fail.
#[tokio::test(flavor = "multi_thread")]
async fn constraint_guarantees_one_node_per_key() -> Result<()> {
    for (has_constraint, expect) in [(true, 1), (false, 2)] {
        let Some(namespace) = Namespace::create("constraint").await? else { return Ok(()) };
        if !has_constraint {
            namespace.run("DROP CONSTRAINT node_key~").await?;
        }
        let found = num_nodes_of_two_writers(&namespace).await?;
        ensure!(found == expect, "{found} nodes with one key; constraint: {has_constraint}");
        namespace.remove().await?;
    }
    Ok(())
}
