//! Tests guarantees of every transaction by observing the traffic with the server.

use std::time::Duration;

use anyhow::{Result, ensure};
use cairn_domain::Scope;
use cairn_neo4j::{Neo4j, Neo4jConfig, Neo4jGraph};
use cairn_ports::{Direction, ErrorClass, Generations, GraphStore, PortError};
use tokio::time::{Instant, timeout};

use crate::bolt_proxy::{BoltProxy, Cut, Request};
use crate::fixture::{chain, names, node, repository, run, stage, tenant, view};
use crate::server::Namespace;

async fn through_a_proxy(namespace: &Namespace) -> Result<(BoltProxy, Neo4jGraph)> {
    let proxy = BoltProxy::start(&namespace.config.url).await?;
    let config = Neo4jConfig { url: proxy.url.clone(), ..namespace.config.clone() };
    Ok((proxy, Neo4jGraph::new(Neo4j::new(&config)?)))
}

#[tokio::test(flavor = "multi_thread")]
async fn commit_with_lost_reply_is_applied_once() -> Result<()> {
    let Some(namespace) = Namespace::open().await? else { return Ok(()) };
    let (proxy, graph) = through_a_proxy(&namespace).await?;
    let r = repository("r");
    for (generation, cut) in [(1, Cut::AfterCommit), (2, Cut::BeforeCommit)] {
        proxy.cut(&[cut]);
        let before = chain(r, 50);
        let mut staged = chain(r, 50);
        staged.retired_nodes = before.nodes.iter().map(|node| node.key).collect();
        staged.retired_edges = before.edges.iter().map(|edge| edge.key).collect();
        stage(&graph, run(r, generation), staged).await?;
        ensure!(proxy.cuts_left() == 0, "no connection was cut");
        let of_generation = format!("WHERE x.gen_from = {generation} RETURN count(x) AS count");
        ensure!(namespace.count(&format!("MATCH (x:NodeVersion~) {of_generation}")).await? == 50);
        ensure!(namespace.count(&format!("MATCH ()-[x:EDGE~]->() {of_generation}")).await? == 49);
        ensure!(names(&graph, &view(generation + 1), r).await?.len() == 50);
    }
    proxy.cut(&[Cut::AfterCommit, Cut::BeforeCommit, Cut::AfterCommit]);
    graph.sweep_retired(r, &[run(r, 2).generation]).await?;
    ensure!(namespace.count("MATCH (x:NodeVersion~) RETURN count(x) AS count").await? == 50);
    ensure!(namespace.count("MATCH ()-[x:EDGE~]->() RETURN count(x) AS count").await? == 49);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn no_statement_runs_outside_a_transaction() -> Result<()> {
    let Some(namespace) = Namespace::open().await? else { return Ok(()) };
    let (proxy, graph) = through_a_proxy(&namespace).await?;
    let neo4j = Neo4j::new(&Neo4jConfig { url: proxy.url.clone(), ..namespace.config.clone() })?;
    let (r, scope) = (repository("r"), Scope::all(tenant()));
    neo4j.prepare().await?;
    stage(&graph, run(r, 1), chain(r, 10)).await?;
    let first = node(r, 0).key;
    ensure!(graph.nodes(&view(2), &scope, &[first]).await?.len() == 1);
    ensure!(graph.neighbours(&view(2), &scope, first, Direction::Out, &[], 9).await?.1 == 1);
    ensure!(graph.scroll_edges(&view(2), &scope, r, None, 0).await?.items.len() == 9);
    ensure!(graph.patterns(&view(2), &scope).await?.is_empty());
    graph.verify(r).await?;
    graph.sweep_retired(r, &[run(r, 1).generation]).await?;
    ensure!(graph.sweep_aborted(r, run(r, 1).generation).await? == 0);
    graph.remove_repository(&tenant(), r, run(r, 2).generation).await?;
    let mut num_statements = 0;
    for connection in proxy.seen() {
        let mut is_open = false;
        for request in connection {
            match request {
                Request::Begin => is_open = true,
                Request::Commit | Request::Rollback | Request::Reset => is_open = false,
                Request::Run => {
                    ensure!(is_open, "a statement was run outside a transaction");
                    num_statements += 1;
                }
                Request::Other(_) => {}
            }
        }
    }
    ensure!(num_statements > 20, "the proxy received only {num_statements} statements");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelled_caller_leaves_no_lock() -> Result<()> {
    let Some(namespace) = Namespace::open().await? else { return Ok(()) };
    let graph = Neo4jGraph::new(namespace.neo4j.clone());
    let r = repository("r");
    stage(&graph, run(r, 1), chain(r, 2)).await?;
    // The calls are cancelled after increasing times, so that some are cancelled between the lock and the
    // commit.
    for microseconds in (0..40).map(|step| step * 500) {
        let staged = chain(r, 400);
        let _ = timeout(Duration::from_micros(microseconds), stage(&graph, run(r, 2), staged)).await;
    }
    let other = Neo4jGraph::new(Neo4j::new(&namespace.config)?);
    timeout(Duration::from_secs(20), stage(&other, run(r, 3), chain(r, 2))).await??;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn unreachable_server_fails_within_the_deadline() -> Result<()> {
    let Some(namespace) = Namespace::open().await? else { return Ok(()) };
    let port = tokio::net::TcpListener::bind("127.0.0.1:0").await?.local_addr()?.port();
    let url = format!("bolt://127.0.0.1:{port}");
    let config = Neo4jConfig { url, retry_deadline_ms: 300, ..namespace.config.clone() };
    let start = Instant::now();
    let error = Neo4j::new(&config)?.check().await.expect_err("no server listens");
    ensure!(matches!(error.class(), ErrorClass::Pause { .. }), "{error:?}");
    ensure!(start.elapsed() < Duration::from_secs(20), "it took {:?}", start.elapsed());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_constraint_is_reported() -> Result<()> {
    let Some(namespace) = Namespace::create("missing").await? else { return Ok(()) };
    namespace.neo4j.check().await?;
    let version = namespace.neo4j.version().await?;
    ensure!(version.starts_with(|digit: char| digit.is_ascii_digit()), "{version}");
    namespace.run("DROP CONSTRAINT edge_key~").await?;
    let error = namespace.neo4j.check().await.expect_err("a constraint is missing");
    let name = format!("edge_key_{}", namespace.config.namespace);
    ensure!(namespace.neo4j.missing().await? == [name]);
    let shown = format!("{:?}", error.source);
    ensure!(shown.contains("edge_key") && !shown.contains("node_key"), "{shown}");
    namespace.neo4j.prepare().await?;
    namespace.neo4j.check().await?;
    namespace.remove().await
}
