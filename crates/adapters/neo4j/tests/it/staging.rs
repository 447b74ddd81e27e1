//! Tests writers that are late, and retirements that arrive in different orders.

use anyhow::{Result, ensure};
use cairn_domain::Tenant;
use cairn_neo4j::Neo4jGraph;
use cairn_ports::{ErrorKind, Generations, GraphStore, GraphStoreError, StagedGraph, Staging};

use crate::fixture::{chain, names, node, repository, run, stage, staging, tenant, view};
use crate::server::Namespace;

fn retiring(number: u32) -> StagedGraph {
    StagedGraph { retired_nodes: vec![node(repository("r"), number).key], ..StagedGraph::default() }
}

/// Sets the state of a run in the same way as the ledger.
async fn end_run(namespace: &Namespace, generation: u64, state: &str) -> Result<()> {
    let owner = repository("r");
    namespace
        .run(&format!("CREATE (:Run~ {{repository: '{owner}', generation: {generation}, state: '{state}'}})"))
        .await?;
    Ok(())
}

async fn mark(namespace: &Namespace, generation: u64) -> Result<u64> {
    namespace.count(&format!("MATCH (v:NodeVersion~) WHERE v.gen_to = {generation} RETURN count(v) AS count")).await
}

#[tokio::test(flavor = "multi_thread")]
async fn late_insert_after_retirement_changes_nothing() -> Result<()> {
    let Some(namespace) = Namespace::open().await? else { return Ok(()) };
    let (graph, r) = (Neo4jGraph::new(namespace.neo4j.clone()), repository("r"));
    stage(&graph, run(r, 1), chain(r, 3)).await?;
    stage(&graph, run(r, 2), retiring(0)).await?;
    stage(&graph, run(r, 1), chain(r, 3)).await?;
    ensure!(names(&graph, &view(3), r).await? == ["function1", "function2"]);
    ensure!(mark(&namespace, 2).await? == 1);
    // If the run has ended in the ledger, a late writer adds nothing, even after a sweep has removed the
    // record.
    end_run(&namespace, 1, "published").await?;
    graph.sweep_retired(r, &[run(r, 2).generation]).await?;
    stage(&graph, run(r, 1), chain(r, 3)).await?;
    ensure!(names(&graph, &view(3), r).await? == ["function1", "function2"]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn published_mark_is_never_overwritten() -> Result<()> {
    let Some(namespace) = Namespace::open().await? else { return Ok(()) };
    let (graph, r) = (Neo4jGraph::new(namespace.neo4j.clone()), repository("r"));
    stage(&graph, run(r, 1), chain(r, 3)).await?;
    stage(&graph, run(r, 2), retiring(0)).await?;
    stage(&graph, run(r, 2), retiring(1)).await?;
    end_run(&namespace, 2, "published").await?;
    stage(&graph, run(r, 3), retiring(0)).await?;
    ensure!((mark(&namespace, 2).await?, mark(&namespace, 3).await?) == (2, 0));
    // If an aborted generation ended a record, the record can be ended again, both before and after that
    // generation is swept.
    stage(&graph, run(r, 3), retiring(2)).await?;
    end_run(&namespace, 3, "cancelled").await?;
    let fourth = Staging { aborted: [run(r, 3).generation].into(), ..staging(run(r, 4)) };
    graph.stage(&fourth, retiring(2)).await?;
    ensure!((mark(&namespace, 3).await?, mark(&namespace, 4).await?) == (0, 1));
    ensure!(graph.sweep_aborted(r, run(r, 3).generation).await? == 0);
    ensure!(names(&graph, &view(4), r).await? == ["function2"]);
    ensure!(names(&graph, &view(5), r).await?.is_empty());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn aborted_run_stages_nothing() -> Result<()> {
    let Some(namespace) = Namespace::open().await? else { return Ok(()) };
    let (graph, r) = (Neo4jGraph::new(namespace.neo4j.clone()), repository("r"));
    stage(&graph, run(r, 1), chain(r, 3)).await?;
    end_run(&namespace, 2, "failed").await?;
    let error = stage(&graph, run(r, 2), retiring(0)).await.expect_err("the run has ended");
    let error = error.downcast::<GraphStoreError>()?;
    ensure!(error.kind == ErrorKind::Conflict, "{error:?}");
    ensure!(mark(&namespace, 2).await? == 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn foreign_tenant_writes_and_removes_nothing() -> Result<()> {
    let Some(namespace) = Namespace::open().await? else { return Ok(()) };
    let (graph, r) = (Neo4jGraph::new(namespace.neo4j.clone()), repository("r"));
    stage(&graph, run(r, 1), chain(r, 3)).await?;
    let other = Tenant::new("other");
    let foreign = Staging { tenant: other.clone(), ..staging(run(r, 2)) };
    let error = graph.stage(&foreign, retiring(0)).await.expect_err("a foreign repository");
    ensure!(error.kind == ErrorKind::Invalid, "{error:?}");
    graph.remove_repository(&other, r, run(r, 9).generation).await?;
    ensure!(names(&graph, &view(2), r).await?.len() == 3);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn removed_repository_leaves_no_record() -> Result<()> {
    let Some(namespace) = Namespace::open().await? else { return Ok(()) };
    let (graph, r, other) = (Neo4jGraph::new(namespace.neo4j.clone()), repository("r"), repository("other"));
    stage(&graph, run(r, 1), chain(r, 7000)).await?;
    let mut staged = chain(other, 2);
    staged.edges.push(crate::fixture::call(other, &staged.nodes[0], &node(r, 0), 0));
    stage(&graph, run(other, 2), staged).await?;
    graph.remove_repository(&tenant(), r, run(r, 3).generation).await?;
    // If another repository refers to a removed node, the node itself remains, but its version is removed.
    for (what, expect) in
        [("(x:Node~)", 3), ("(x:NodeVersion~)", 2), ("()-[x:EDGE~]->()", 2), ("(x:Owner~)", 1), ("(x:Pattern~)", 0)]
    {
        let found = namespace.count(&format!("MATCH {what} RETURN count(x) AS count")).await?;
        ensure!(found == expect, "{what} matches {found} times, expected {expect}");
    }
    Ok(())
}
