//! Measures how fast the graph is staged, read and swept. Run it with `CAIRN_NEO4J_URL=… cargo run --example
//! graph_load -p cairn-neo4j`. The program writes 60,000 nodes and 240,000 edges of one repository, and
//! removes them at the end. Some nodes are hubs: they are the targets of many edges.

use std::env;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use cairn_domain::{
    EdgeKey, EdgeKind, EdgeRecord, GenerationId, LineSpan, NodeKey, NodeKind, NodeRecord, PartId, RepoPath,
    RepositoryId, RepositoryName, Resolution, RunId, Scope, StageName, SymbolKind, Tenant, View,
};
use cairn_neo4j::{Neo4j, Neo4jConfig, Neo4jGraph};
use cairn_ports::{Direction, Generations, GraphStore, StagedGraph, Staging};

const NUM_NODES: usize = 60_000;
const EDGES_PER_NODE: usize = 4;
const NUM_QUERIES: usize = 300;

#[tokio::main]
async fn main() -> Result<()> {
    let url = env::var("CAIRN_NEO4J_URL").context("CAIRN_NEO4J_URL is not set")?;
    let neo4j = Neo4j::new(&Neo4jConfig { namespace: "load".to_owned(), ..Neo4jConfig::new(&url) })?;
    neo4j.prepare().await?;
    let (graph, tenant) = (Neo4jGraph::new(neo4j), Tenant::new("load"));
    let repository = RepositoryId::derive(&tenant, &RepositoryName::new("load"));
    let (run, later) = (RunId { repository, generation: GenerationId(1) }, GenerationId(2));
    let (nodes, edges) = (nodes(repository)?, edges(repository)?);
    let keys: Vec<NodeKey> = nodes.iter().map(|node| node.key).collect();
    let staging = Staging::new(tenant.clone(), run, PartId { stage: StageName::Link, number: 0 });

    let start = Instant::now();
    graph.stage(&staging, StagedGraph { nodes, ..StagedGraph::default() }).await?;
    println!("nodes staged     {:?}", start.elapsed());
    let start = Instant::now();
    graph.stage(&staging, StagedGraph { edges, ..StagedGraph::default() }).await?;
    println!("edges staged     {:?}", start.elapsed());

    let (view, scope) = (View { next_gen: 2, ..View::default() }, Scope::all(tenant.clone()));
    for (name, direction, keys) in [
        ("callers", Direction::In, &keys[1000..]),
        ("callees", Direction::Out, &keys[1000..]),
        ("callers of hubs", Direction::In, &keys[..100]),
    ] {
        let mut times = Vec::new();
        let mut num_found = 0;
        for key in keys.iter().step_by(keys.len().div_ceil(NUM_QUERIES)) {
            let start = Instant::now();
            num_found += graph.neighbours(&view, &scope, *key, direction, &[EdgeKind::Calls], 50).await?.1;
            times.push(start.elapsed());
        }
        times.sort();
        let at = |percent: usize| -> Duration { times[times.len() * percent / 100] };
        println!("{name:16} median {:?}, p95 {:?}, {} found per query", at(50), at(95), num_found / times.len() as u64);
    }

    let start = Instant::now();
    let (mut from, mut num_edges) = (Some(0), 0);
    while let Some(position) = from {
        let page = graph.scroll_edges(&view, &scope, repository, None, position).await?;
        (num_edges, from) = (num_edges + page.items.len(), page.next);
    }
    println!("edges scrolled   {:?} ({num_edges} edges)", start.elapsed());
    let start = Instant::now();
    graph.verify(repository).await?;
    println!("verified         {:?}", start.elapsed());
    let start = Instant::now();
    graph.remove_repository(&tenant, repository, later).await?;
    println!("removed          {:?}", start.elapsed());
    Ok(())
}

fn path(number: usize) -> Result<RepoPath> {
    Ok(RepoPath::parse(&format!("src/module{}/file{}.py", number % 31, number / 40))?)
}

fn key(repository: RepositoryId, number: usize) -> Result<NodeKey> {
    Ok(NodeKey::symbol(repository, &path(number)?, &format!("function{number}"), SymbolKind::Function, 0))
}

fn nodes(repository: RepositoryId) -> Result<Vec<NodeRecord>> {
    let node = |number: usize| {
        let name = format!("function{number}");
        Ok(NodeRecord {
            key: key(repository, number)?,
            repository,
            kind: NodeKind::Symbol,
            qualified_name: name.clone(),
            signature: format!("def {name}(first: int, second: str) -> bool"),
            name,
            path: Some(path(number)?),
            span: Some(LineSpan::new(1, 9)),
            symbol_kind: Some(SymbolKind::Function),
            doc: Some("Describes the function in a sentence of usual length.".to_owned()),
            visibility: None,
            exported: true,
            is_test: false,
            language: Some("python".to_owned()),
            module_path: "src".to_owned(),
            decorators: Vec::new(),
        })
    };
    (0..NUM_NODES).map(node).collect()
}

/// Returns the edges. In one third of the calls, the target is one of the first hundred nodes.
fn edges(owner: RepositoryId) -> Result<Vec<EdgeRecord>> {
    let edge = |number: usize| {
        let target = if number.is_multiple_of(3) { number % 100 } else { number * 7919 % NUM_NODES };
        let (source, target) = (key(owner, number / EDGES_PER_NODE)?, key(owner, target)?);
        Ok(EdgeRecord {
            key: EdgeKey::derive(owner, source, EdgeKind::Calls, target, (number % EDGES_PER_NODE) as u32),
            owner,
            kind: EdgeKind::Calls,
            source,
            target,
            line: 3,
            resolution: Resolution::Exact,
            confidence_percent: 100,
        })
    };
    (0..NUM_NODES * EDGES_PER_NODE).map(edge).collect()
}
