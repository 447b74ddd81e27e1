//! Creates a small graph of numbered nodes and calls between them.

use anyhow::Result;
use cairn_domain::{
    EdgeKey, EdgeKind, EdgeRecord, GenerationId, LineSpan, NodeKey, NodeKind, NodeRecord, PartId, RepoPath,
    RepositoryId, RepositoryName, Resolution, RunId, Scope, StageName, SymbolKind, Tenant, View,
};
use cairn_neo4j::Neo4jGraph;
use cairn_ports::{GraphStore, StagedGraph, Staging};

pub fn tenant() -> Tenant {
    Tenant::new("tenant")
}

pub fn repository(name: &str) -> RepositoryId {
    RepositoryId::derive(&tenant(), &RepositoryName::new(name))
}

pub fn node(repository: RepositoryId, number: u32) -> NodeRecord {
    let path = RepoPath::parse(&format!("src/module{}/file{number}.py", number % 97)).expect("a path");
    let name = format!("function{number}");
    NodeRecord {
        key: NodeKey::symbol(repository, &path, &name, SymbolKind::Function, 0),
        repository,
        kind: NodeKind::Symbol,
        qualified_name: name.clone(),
        signature: format!("def {name}(first, second)"),
        name,
        path: Some(path),
        span: Some(LineSpan::new(number + 1, number + 9)),
        symbol_kind: Some(SymbolKind::Function),
        doc: None,
        visibility: None,
        exported: true,
        is_test: false,
        language: Some("python".to_owned()),
        module_path: "src".to_owned(),
        decorators: Vec::new(),
    }
}

pub fn call(owner: RepositoryId, source: &NodeRecord, target: &NodeRecord, ordinal: u32) -> EdgeRecord {
    EdgeRecord {
        key: EdgeKey::derive(owner, source.key, EdgeKind::Calls, target.key, ordinal),
        owner,
        kind: EdgeKind::Calls,
        source: source.key,
        target: target.key,
        line: 3,
        resolution: Resolution::Exact,
        confidence_percent: 100,
    }
}

/// Returns nodes, and a call from each node to the next.
pub fn chain(repository: RepositoryId, num_nodes: u32) -> StagedGraph {
    let nodes: Vec<NodeRecord> = (0..num_nodes).map(|number| node(repository, number)).collect();
    let edges = nodes.windows(2).map(|pair| call(repository, &pair[0], &pair[1], 0)).collect();
    StagedGraph { nodes, edges, ..StagedGraph::default() }
}

pub fn run(repository: RepositoryId, generation: u64) -> RunId {
    RunId { repository, generation: GenerationId(generation) }
}

pub fn staging(run: RunId) -> Staging {
    Staging::new(tenant(), run, PartId { stage: StageName::Link, number: 0 })
}

pub async fn stage(graph: &Neo4jGraph, run: RunId, staged: StagedGraph) -> Result<()> {
    Ok(graph.stage(&staging(run), staged).await?)
}

pub fn view(next_gen: u64) -> View {
    View { next_gen, ..View::default() }
}

/// Returns the names of the nodes that are visible in a view.
pub async fn names(graph: &Neo4jGraph, view: &View, repository: RepositoryId) -> Result<Vec<String>> {
    let page = graph.scroll_nodes(view, &Scope::all(tenant()), repository, 0).await?;
    let mut names: Vec<String> = page.items.into_iter().map(|node| node.name).collect();
    names.sort();
    Ok(names)
}
