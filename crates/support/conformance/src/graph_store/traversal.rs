//! Checks of bounded traversals: direction, kinds, order, limits, confidence, view and scope.

use anyhow::Result;
use cairn_domain::{EdgeKey, EdgeKind, EdgeRecord, Scope, Tenant};
use cairn_ports::{CERTAIN, Follow, GraphStore, Reached, StagedGraph, Traversal, TraversalRequest};

use crate::case::view;
use crate::graph_store::fixture::Graph;
use crate::suite::expect_eq;

/// A request without limits other than the depth.
fn from(graph: &Graph<'_>, starts: &[&str], follow: Follow, max_depth: u32) -> TraversalRequest {
    TraversalRequest {
        starts: starts.iter().map(|name| graph.node(name).key).collect(),
        follow,
        returns_starts: false,
        kinds: Vec::new(),
        min_confidence_percent: 1,
        max_depth,
        max_edges_per_node: 100,
        max_nodes: 100,
    }
}

/// Each reached node as a text with its depth, its name, and its confidence in percent.
fn texts(reached: &[Reached]) -> Vec<String> {
    let text =
        |reached: &Reached| format!("{} {} {}", reached.depth, reached.node.name, reached.confidence * 100 / CERTAIN);
    reached.iter().map(text).collect()
}

async fn traverse(graph: &Graph<'_>, next_gen: u64, request: &TraversalRequest) -> Result<Traversal> {
    Ok(graph.store.traverse(&view(next_gen, &[]), &graph.case.scope(), request).await?)
}

fn call(graph: &Graph<'_>, source: &str, target: &str, confidence_percent: u8) -> EdgeRecord {
    EdgeRecord { confidence_percent, ..graph.call(source, target) }
}

/// Stages generation 1, which consists of nodes with these names and of these edges.
async fn stage(graph: &Graph<'_>, names: &[&str], edges: Vec<EdgeRecord>) -> Result<()> {
    graph.stage(1, StagedGraph { nodes: graph.nodes(names), edges, ..StagedGraph::default() }).await
}

pub(super) async fn traversals_follow_the_requested_direction_and_kinds(store: &dyn GraphStore) -> Result<()> {
    let graph = Graph::new(store, "follow");
    let edges = vec![
        graph.call("a", "b"),
        graph.call("c", "a"),
        graph.edge("a", EdgeKind::Imports, "d", 0),
        graph.call("a", "a"),
    ];
    stage(&graph, &["a", "b", "c", "d"], edges).await?;
    let check = async |follow: Follow, kinds: &[EdgeKind], expect: &[&str]| {
        let request = TraversalRequest { kinds: kinds.to_vec(), ..from(&graph, &["a"], follow, 1) };
        let mut found = texts(&traverse(&graph, 2, &request).await?.reached);
        found.sort();
        expect_eq!(found, expect);
        anyhow::Ok(())
    };
    check(Follow::Out, &[], &["1 b 100", "1 d 100"]).await?;
    check(Follow::Out, &[EdgeKind::Calls], &["1 b 100"]).await?;
    check(Follow::In, &[], &["1 c 100"]).await?;
    check(Follow::Both, &[], &["1 b 100", "1 c 100", "1 d 100"]).await?;
    check(Follow::Both, &[EdgeKind::Calls, EdgeKind::Extends], &["1 b 100", "1 c 100"]).await?;
    check(Follow::Both, &[EdgeKind::Extends], &[]).await?;
    let between = from(&graph, &["a", "b"], Follow::Out, 2);
    for (returns_starts, expect) in [(false, vec!["1 d 100"]), (true, vec!["1 b 100", "1 d 100"])] {
        let mut found =
            texts(&traverse(&graph, 2, &TraversalRequest { returns_starts, ..between.clone() }).await?.reached);
        found.sort();
        expect_eq!(found, expect);
    }
    Ok(())
}

/// A start node is returned on the first level on which an edge reaches the node, but the edges of the node
/// are not followed again.
pub(super) async fn reached_start_nodes_are_returned_once(store: &dyn GraphStore) -> Result<()> {
    let graph = Graph::new(store, "starts");
    let edges = vec![
        call(&graph, "a", "x", 90),
        call(&graph, "x", "b", 80),
        call(&graph, "b", "y", 70),
        call(&graph, "y", "a", 60),
        call(&graph, "y", "b", 100),
        call(&graph, "x", "z", 50),
        call(&graph, "z", "b", 100),
    ];
    stage(&graph, &["a", "b", "x", "y", "z"], edges).await?;
    for (returns_starts, expect) in
        [(false, vec!["1 x 90", "1 y 70", "2 z 45"]), (true, vec!["1 x 90", "1 y 70", "2 b 72", "2 z 45", "2 a 42"])]
    {
        let request = TraversalRequest { returns_starts, ..from(&graph, &["a", "b"], Follow::Out, 3) };
        let found = traverse(&graph, 2, &request).await?.reached;
        expect_eq!(texts(&found), expect);
        let of_b = found.iter().filter(|reached| reached.node.name == "b");
        let edges: Vec<_> = of_b.map(|reached| (reached.previous, reached.other_edges.clone())).collect();
        let expect = (graph.node("x").key, vec![call(&graph, "y", "b", 100)]);
        expect_eq!(edges, if returns_starts { vec![expect] } else { vec![] });
    }
    Ok(())
}

pub(super) async fn traversals_are_ordered_by_depth_and_confidence(store: &dyn GraphStore) -> Result<()> {
    let graph = Graph::new(store, "depth");
    // A chain of five nodes, with a cycle, a second path to `c` and a second start node.
    let edges = vec![
        call(&graph, "a", "b", 50),
        call(&graph, "b", "c", 80),
        call(&graph, "c", "d", 100),
        call(&graph, "d", "e", 100),
        call(&graph, "c", "a", 100),
        call(&graph, "a", "x", 90),
        call(&graph, "x", "y", 10),
        call(&graph, "y", "c", 100),
        call(&graph, "z", "d", 30),
    ];
    stage(&graph, &["a", "b", "c", "d", "e", "x", "y", "z"], edges).await?;
    let check = async |starts: &[&str], max_depth: u32, expect: &[&str]| {
        let found = traverse(&graph, 2, &from(&graph, starts, Follow::Out, max_depth)).await?;
        expect_eq!((texts(&found.reached), found.is_cut), (expect.iter().map(ToString::to_string).collect(), false));
        anyhow::Ok(())
    };
    let to_depth_3 = ["1 x 90", "1 b 50", "2 c 40", "2 y 9", "3 d 40"];
    check(&["a"], 1, &to_depth_3[..2]).await?;
    check(&["a"], 2, &to_depth_3[..4]).await?;
    check(&["a"], 3, &to_depth_3).await?;
    // A requested depth of more than 3 is treated as 3.
    check(&["a"], 9, &to_depth_3).await?;
    check(&["a"], 0, &[]).await?;
    check(&["a", "z", "a", "missing"], 2, &["1 x 90", "1 b 50", "1 d 30", "2 c 40", "2 e 30", "2 y 9"]).await?;
    check(&[], 3, &[]).await?;
    let found = traverse(&graph, 2, &from(&graph, &["a"], Follow::Out, 2)).await?.reached;
    let last = found.last().map(|reached| (reached.previous, reached.edge.clone()));
    expect_eq!(last, Some((graph.node("x").key, call(&graph, "x", "y", 10))));
    Ok(())
}

/// Stages a node with an edge to each of ten nodes. Each of these ten nodes has an edge to a further node.
async fn stage_fan(graph: &Graph<'_>) -> Result<Vec<String>> {
    let names: Vec<String> = (0..10).map(|number| format!("n{number}")).collect();
    let far: Vec<String> = names.iter().map(|name| format!("far_{name}")).collect();
    let mut all: Vec<&str> = names.iter().chain(&far).map(String::as_str).collect();
    all.push("hub");
    let near = (50..).zip(&names).map(|(confidence, name)| call(graph, "hub", name, confidence));
    let onward = names.iter().zip(&far).map(|(name, far)| graph.call(name, far));
    let edges = near.chain(onward).collect();
    stage(graph, &all, edges).await?;
    let expected = |depth: u32, prefix: &str| {
        let number = |number: u32| format!("{depth} {prefix}n{number} {}", 50 + number);
        (0..10).rev().map(number).collect::<Vec<_>>()
    };
    Ok([expected(1, ""), expected(2, "far_")].concat())
}

pub(super) async fn traversals_are_cut_in_their_order(store: &dyn GraphStore) -> Result<()> {
    let graph = Graph::new(store, "cut");
    let expected = stage_fan(&graph).await?;
    let whole = from(&graph, &["hub"], Follow::Out, 2);
    for max_nodes in [100, 20, 19, 12, 10, 9, 1, 0] {
        let found = traverse(&graph, 2, &TraversalRequest { max_nodes, ..whole.clone() }).await?;
        let (texts, is_cut) = (texts(&found.reached), found.is_cut);
        expect_eq!((texts, is_cut), (expected[..max_nodes.min(20)].to_vec(), max_nodes < 20));
    }
    for (max_edges_per_node, num_found) in [(100, 20), (10, 20), (3, 6), (0, 0)] {
        let found = traverse(&graph, 2, &TraversalRequest { max_edges_per_node, ..whole.clone() }).await?;
        let kept = |text: &&String| {
            let number = text.bytes().rev().nth(3).map_or(0, |digit| usize::from(digit - b'0'));
            number + max_edges_per_node >= 10
        };
        let wanted: Vec<String> = expected.iter().filter(kept).cloned().collect();
        expect_eq!((texts(&found.reached), wanted.len(), found.is_cut), (wanted, num_found, false));
    }
    // Edges with equal confidence are followed in the order of the keys of their target nodes.
    let even = Graph::new(store, "even");
    let names = ["p", "q", "r", "s", "t"];
    stage(&even, &["a", "p", "q", "r", "s", "t"], names.iter().map(|name| even.call("a", name)).collect()).await?;
    let mut keys: Vec<_> = names.iter().map(|name| even.node(name).key).collect();
    keys.sort();
    let request = TraversalRequest { max_edges_per_node: 3, ..from(&even, &["a"], Follow::Out, 1) };
    let found = traverse(&even, 2, &request).await?.reached;
    expect_eq!(found.iter().map(|reached| reached.node.key).collect::<Vec<_>>(), keys[..3]);
    Ok(())
}

pub(super) async fn uncertain_edges_are_not_followed(store: &dyn GraphStore) -> Result<()> {
    let graph = Graph::new(store, "sure");
    let edges = vec![call(&graph, "a", "b", 60), call(&graph, "b", "c", 40), call(&graph, "c", "d", 100)];
    stage(&graph, &["a", "b", "c", "d"], edges).await?;
    for (min_confidence_percent, expect) in [
        (1, vec!["1 b 60", "2 c 24", "3 d 24"]),
        (40, vec!["1 b 60", "2 c 24", "3 d 24"]),
        (41, vec!["1 b 60"]),
        (61, vec![]),
    ] {
        let request = TraversalRequest { min_confidence_percent, ..from(&graph, &["a"], Follow::Out, 3) };
        expect_eq!(texts(&traverse(&graph, 2, &request).await?.reached), expect);
    }
    Ok(())
}

pub(super) async fn traversals_see_only_the_view_and_the_scope(store: &dyn GraphStore) -> Result<()> {
    let graph = Graph::new(store, "seen");
    let edges = vec![graph.call("a", "other:b"), graph.call("a", "c"), graph.call("c", "d")];
    stage(&graph, &["a", "c", "d"], edges).await?;
    let of_other = vec![graph.call("other:b", "d")];
    let b = StagedGraph { nodes: graph.nodes(&["other:b"]), edges: of_other, ..StagedGraph::default() };
    graph.stage_in("other", 2, b).await?;
    // The repository that owns this edge owns neither of its ends.
    let third = graph.case.repository("third");
    let foreign = graph.call("c", "other:b");
    let key = EdgeKey::derive(third, foreign.source, foreign.kind, foreign.target, 0);
    let foreign = StagedGraph { edges: vec![EdgeRecord { key, owner: third, ..foreign }], ..StagedGraph::default() };
    graph.stage_in("third", 3, foreign).await?;
    graph.stage(4, StagedGraph { retired_nodes: vec![graph.node("c").key], ..StagedGraph::default() }).await?;
    let request = from(&graph, &["a"], Follow::Out, 2);
    let check = async |next_gen: u64, scope: &Scope, expect: &[&str]| {
        let found = graph.store.traverse(&view(next_gen, &[]), scope, &request).await?.reached;
        let mut names: Vec<String> =
            found.iter().map(|reached| format!("{}{}", reached.depth, reached.node.name)).collect();
        names.sort();
        expect_eq!(names, expect);
        anyhow::Ok(())
    };
    let everything = graph.case.scope();
    check(1, &everything, &[]).await?;
    check(2, &everything, &["1c", "2d"]).await?;
    check(3, &everything, &["1b", "1c", "2d"]).await?;
    check(5, &everything, &["1b", "2d"]).await?;
    check(4, &graph.case.scope_of(&["r"]), &["1c", "2d"]).await?;
    check(4, &graph.case.scope_of(&["r", "third"]), &["1c", "2d"]).await?;
    check(4, &graph.case.scope_of(&["other", "third"]), &[]).await?;
    check(4, &Scope::all(Tenant::new(format!("{}-not", graph.case.tenant))), &[]).await?;
    let from_c = from(&graph, &["c"], Follow::Out, 1);
    for (scope, num_found) in [(everything, 2), (graph.case.scope_of(&["r", "other"]), 1)] {
        expect_eq!(graph.store.traverse(&view(4, &[]), &scope, &from_c).await?.reached.len(), num_found);
    }
    Ok(())
}

pub(super) async fn traversals_return_the_best_edge(store: &dyn GraphStore) -> Result<()> {
    let graph = Graph::new(store, "best");
    let sure = EdgeRecord { confidence_percent: 80, ..graph.edge("a", EdgeKind::References, "b", 0) };
    let edges = vec![
        call(&graph, "a", "b", 70),
        sure.clone(),
        EdgeRecord { confidence_percent: 80, ..graph.edge("a", EdgeKind::References, "b", 1) },
        EdgeRecord { confidence_percent: 80, ..graph.edge("b", EdgeKind::Calls, "c", 5) },
        EdgeRecord { confidence_percent: 80, ..graph.edge("b", EdgeKind::Calls, "c", 3) },
        call(&graph, "a", "d", 90),
        call(&graph, "d", "c", 70),
    ];
    stage(&graph, &["a", "b", "c", "d"], edges).await?;
    let found = traverse(&graph, 2, &from(&graph, &["a"], Follow::Out, 2)).await?.reached;
    expect_eq!(texts(&found), ["1 d 90", "1 b 80", "2 c 64"]);
    expect_eq!(found[1].edge, sure);
    let others = |index: usize| -> Vec<_> {
        found[index]
            .other_edges
            .iter()
            .map(|edge| (edge.source, edge.kind, edge.confidence_percent, edge.line))
            .collect()
    };
    let (a, b, d) = (graph.node("a").key, graph.node("b").key, graph.node("d").key);
    expect_eq!(others(0), []);
    expect_eq!(others(1), [(a, EdgeKind::References, 80, 3), (a, EdgeKind::Calls, 70, 2)]);
    expect_eq!(others(2), [(b, EdgeKind::Calls, 80, 7), (d, EdgeKind::Calls, 70, 2)]);
    expect_eq!((found[2].previous, found[2].edge.line), (graph.node("b").key, 5));
    expect_eq!(found[2].node, graph.node("c"));
    Ok(())
}

pub(super) async fn uses_are_counted_in_view_and_scope(store: &dyn GraphStore) -> Result<()> {
    let graph = Graph::new(store, "uses");
    let edges = vec![
        graph.call("a", "b"),
        graph.edge("a", EdgeKind::References, "b", 0),
        graph.call("c", "b"),
        graph.call("b", "c"),
    ];
    stage(&graph, &["a", "b", "c"], edges).await?;
    let of_other = vec![graph.call("other:d", "b")];
    let d = StagedGraph { nodes: graph.nodes(&["other:d"]), edges: of_other, ..StagedGraph::default() };
    graph.stage_in("other", 2, d).await?;
    graph.stage(3, StagedGraph { retired_nodes: vec![graph.node("c").key], ..StagedGraph::default() }).await?;
    let check = async |next_gen: u64, scope: &Scope, names: &[&str], expect: &[u64]| {
        let nodes: Vec<_> = names.iter().map(|name| graph.node(name).key).collect();
        expect_eq!(graph.store.num_uses(&view(next_gen, &[]), scope, &nodes).await?, expect);
        anyhow::Ok(())
    };
    let everything = graph.case.scope();
    check(2, &everything, &["a", "b", "c", "missing", "b"], &[0, 3, 1, 0, 3]).await?;
    check(3, &everything, &["b", "c"], &[4, 1]).await?;
    check(3, &graph.case.scope_of(&["r"]), &["b"], &[3]).await?;
    check(4, &everything, &["b", "c"], &[3, 0]).await?;
    check(1, &everything, &["b"], &[0]).await?;
    check(3, &Scope::all(Tenant::new(format!("{}-not", graph.case.tenant))), &["b"], &[0]).await?;
    check(3, &everything, &[], &[]).await
}
