//! Writers that meet on the same keys.

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

/// Writer `number` refers from each of its nodes to one of the keys that all writers share, in an order of its own.
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

/// All writers at once; each stages its part twice at the same time, as after a redelivery.
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
async fn a_key_is_one_node_however_many_writers_meet() -> Result<()> {
    let Some(namespace) = Namespace::open("storm").await? else { return Ok(()) };
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
    namespace.close().await
}

/// The same storm tells if the constraint is not there, or it would prove nothing.
#[tokio::test(flavor = "multi_thread")]
async fn without_the_constraint_the_storm_makes_duplicates() -> Result<()> {
    let Some(namespace) = Namespace::open("duplicates").await? else { return Ok(()) };
    namespace.run("DROP CONSTRAINT node_key~").await?;
    // A plain index, so that the statements and their hints still find the nodes.
    namespace.run("CREATE INDEX node_plain~ FOR (node:Node~) ON (node.key)").await?;
    namespace.run("CALL db.awaitIndexes(25)").await?;
    let graph = Neo4jGraph::new(namespace.neo4j.clone());
    let deadline = Instant::now() + Duration::from_secs(60);
    for round in 0.. {
        // Duplicates make later writers fail as well; what counts is what stands there then.
        let outcome = storm(&graph, round).await;
        let keys = "MATCH (n:Node~) WITH n.key AS key, count(n) AS same WHERE same > 1 RETURN count(key) AS count";
        if namespace.count(keys).await? > 0 {
            break;
        }
        ensure!(Instant::now() < deadline, "no duplicate in {round} storms: {outcome:?}");
    }
    namespace.close().await
}
