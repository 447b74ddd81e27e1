//! Checks that records are read exactly as they were staged.

use anyhow::Result;
use cairn_domain::{
    Digester, EdgeKey, EdgeKind, EdgeRecord, LineSpan, NodeKind, NodeRecord, RepoPath, Resolution, SymbolKind,
    Visibility,
};
use cairn_ports::{GraphStore, StagedGraph};

use crate::case::view;
use crate::graph_store::fixture::{Graph, scroll};
use crate::suite::expect_eq;

/// Nodes of every kind, with and without the optional fields.
fn all_nodes(graph: &Graph<'_>) -> Vec<NodeRecord> {
    let mut nodes = Vec::new();
    for (index, symbol_kind) in SymbolKind::ALL.iter().enumerate() {
        nodes.push(NodeRecord {
            symbol_kind: Some(*symbol_kind),
            kind: NodeKind::ALL[index % NodeKind::ALL.len()],
            visibility: Some(Visibility::ALL[index % Visibility::ALL.len()]),
            doc: Some("Größe \u{1F980}\nand a second line".to_owned()),
            decorators: vec!["app.route(\"/x\")".to_owned(), "cached".to_owned()],
            is_test: index % 2 == 0,
            exported: index % 3 == 0,
            span: Some(LineSpan::new(index as u32 + 1, u32::MAX)),
            path: RepoPath::from_bytes(b"odd\xff\\name\n.py").ok(),
            ..graph.node(&format!("full{index}"))
        });
    }
    nodes.push(NodeRecord {
        path: None,
        span: None,
        symbol_kind: None,
        signature: String::new(),
        visibility: None,
        language: None,
        module_path: String::new(),
        ..graph.node("bare")
    });
    nodes
}

/// Edges of every kind and class, with all forms of keys.
fn all_edges(graph: &Graph<'_>) -> Vec<EdgeRecord> {
    let mut edges = Vec::new();
    for kind in EdgeKind::ALL {
        for (index, resolution) in Resolution::ALL.iter().enumerate() {
            edges.push(EdgeRecord {
                resolution: *resolution,
                confidence_percent: 100 - 33 * index as u8,
                line: [0, 1, u32::MAX, 7][index],
                ..graph.edge("full0", *kind, "full1", index as u32)
            });
        }
    }
    // A store must accept gaps between the ordinals of edges, and a key that is not the hash of its edge
    // (here the key of the last edge).
    edges.push(graph.edge("full2", EdgeKind::Calls, "full3", 5));
    edges.push(graph.edge("full2", EdgeKind::Calls, "full3", 5000));
    let key = EdgeKey(Digester::new("another key").text(graph.case.tenant.as_str()).key());
    edges.push(EdgeRecord { key, ..graph.call("full3", "bare") });
    edges
}

pub(super) async fn every_kind_of_record_is_read_as_written(store: &dyn GraphStore) -> Result<()> {
    let graph = Graph::new(store, "whole");
    let (nodes, edges, pattern) = (all_nodes(&graph), all_edges(&graph), graph.pattern("Importer", 7));
    let staged = StagedGraph {
        nodes: nodes.clone(),
        edges: edges.clone(),
        patterns: vec![pattern.clone()],
        ..StagedGraph::default()
    };
    graph.stage(1, staged).await?;
    let (view, scope) = (view(2, &[]), graph.case.scope());
    let keys: Vec<_> = nodes.iter().map(|node| node.key).collect();
    expect_eq!(store.nodes(&view, &scope, &keys).await?, nodes);
    let page = async |from| Ok(store.scroll_edges(&view, &scope, graph.r(), None, from).await?);
    let by_key = |mut edges: Vec<EdgeRecord>| {
        edges.sort_by_key(|edge| edge.key);
        edges
    };
    expect_eq!(by_key(scroll(page).await?), by_key(edges.clone()));
    expect_eq!(store.patterns(&view, &scope).await?, [pattern]);
    // Each edge can be retired by its key.
    let retired_edges = edges.iter().map(|edge| edge.key).collect();
    graph.stage(2, StagedGraph { retired_edges, ..StagedGraph::default() }).await?;
    let view = crate::case::view(3, &[]);
    let page = async |from| Ok(store.scroll_edges(&view, &scope, graph.r(), None, from).await?);
    expect_eq!(scroll(page).await?, []);
    Ok(())
}

pub(super) async fn patterns_are_ordered(store: &dyn GraphStore) -> Result<()> {
    let graph = Graph::new(store, "patterns");
    let mut expected = Vec::new();
    for (generation, repository) in ["p", "q"].into_iter().enumerate() {
        let of = |name: &str, members| graph.pattern(&format!("{repository}:{name}"), members);
        let patterns = vec![of("Small", 5), of("B", 9), of("A", 9)];
        graph
            .stage_in(
                repository,
                generation as u64 + 1,
                StagedGraph { patterns: patterns.clone(), ..StagedGraph::default() },
            )
            .await?;
        expected.extend(patterns.into_iter().rev());
    }
    expected.sort_by_key(|pattern| pattern.repository);
    expect_eq!(store.patterns(&view(3, &[]), &graph.case.scope()).await?, expected);
    Ok(())
}
