//! Converts patterns to nodes, and their members to edges.

use cairn_domain::{EdgeKey, EdgeKind, EdgeRecord, NodeKey, NodeKind, NodeRecord, PatternRecord, Resolution};

use crate::tests_only::is_of_tests;

/// Returns a node for each pattern and a FOLLOWS edge from the file of each member. Both lists are sorted by
/// key.
pub fn pattern_graph(patterns: &[PatternRecord]) -> (Vec<NodeRecord>, Vec<EdgeRecord>) {
    let mut nodes: Vec<NodeRecord> = patterns.iter().map(node).collect();
    let mut edges: Vec<EdgeRecord> = patterns.iter().flat_map(edges_of).collect();
    nodes.sort_unstable_by_key(|node| node.key);
    edges.sort_unstable_by_key(|edge| edge.key);
    (nodes, edges)
}

fn node(pattern: &PatternRecord) -> NodeRecord {
    NodeRecord {
        key: NodeKey::pattern(pattern.repository, pattern.key.0),
        repository: pattern.repository,
        kind: NodeKind::Pattern,
        name: pattern.name.clone(),
        qualified_name: pattern.name.clone(),
        path: None,
        span: None,
        symbol_kind: None,
        signature: String::new(),
        doc: Some(pattern.description.clone()),
        visibility: None,
        exported: false,
        is_test: is_of_tests(pattern),
        language: Some(pattern.language.clone()),
        module_path: pattern.module_path.clone(),
        decorators: Vec::new(),
    }
}

/// The edges of one pattern. Members are sorted by path and line, so the edges from one file are numbered in
/// this order.
fn edges_of(pattern: &PatternRecord) -> Vec<EdgeRecord> {
    let owner = pattern.repository;
    let target = NodeKey::pattern(owner, pattern.key.0);
    let mut edges: Vec<EdgeRecord> = Vec::with_capacity(pattern.members.len());
    let mut ordinal = 0;
    for member in &pattern.members {
        let source = NodeKey::file(owner, &member.path);
        ordinal = if edges.last().is_some_and(|last| last.source == source) { ordinal + 1 } else { 0 };
        edges.push(EdgeRecord {
            key: EdgeKey::derive(owner, source, EdgeKind::Follows, target, ordinal),
            owner,
            kind: EdgeKind::Follows,
            source,
            target,
            line: member.span.start,
            resolution: Resolution::Exact,
            confidence_percent: 99,
        });
    }
    edges
}
