//! Checks of scope, order, limits and pages.

use std::collections::BTreeSet;

use anyhow::Result;
use cairn_domain::Scope;
use cairn_domain::{EdgeKey, EdgeKind, EdgeRecord, LineSpan, NodeRecord, RepoPath, Resolution, Tenant, View};
use cairn_ports::{Direction, GraphStore, Neighbour, StagedGraph};

use crate::case::view;
use crate::graph_store::fixture::{Graph, scroll};
use crate::suite::expect_eq;

fn names(neighbours: &[Neighbour]) -> Vec<&str> {
    neighbours.iter().map(|neighbour| neighbour.node.name.as_str()).collect()
}

pub(super) async fn scope_is_tested_before_limits(store: &dyn GraphStore) -> Result<()> {
    let graph = Graph::new(store, "scope");
    graph.stage(1, StagedGraph { nodes: graph.nodes(&["z"]), ..StagedGraph::default() }).await?;
    for (index, repository) in ["p", "q"].into_iter().enumerate() {
        let name = format!("{repository}:{repository}1");
        let staged = StagedGraph {
            nodes: vec![graph.node(&name)],
            edges: vec![graph.call(&name, "z")],
            patterns: vec![graph.pattern(&format!("{repository}:Shape"), 5)],
            ..StagedGraph::default()
        };
        graph.stage_in(repository, index as u64 + 2, staged).await?;
    }
    let (view, z) = (view(9, &[]), graph.node("z").key);
    let callers = async |scope: &Scope, limit| store.neighbours(&view, scope, z, Direction::In, &[], limit).await;
    let (found, total) = callers(&graph.case.scope(), 10).await?;
    expect_eq!((names(&found), total), (vec!["p1", "q1"], 2));
    let (found, total) = callers(&graph.case.scope_of(&["r", "q"]), 1).await?;
    expect_eq!((names(&found), total), (vec!["q1"], 1));
    // If a node is out of scope, or belongs to another tenant, no neighbours are returned for it.
    let foreign = Scope::all(Tenant::new(format!("{}-not", graph.case.tenant)));
    let across = Scope::only(foreign.tenant.clone(), [graph.r(), graph.case.repository("p")]);
    for scope in [graph.case.scope_of(&["p", "q"]), graph.case.scope_of(&[]), foreign, across] {
        expect_eq!(callers(&scope, 10).await?, (Vec::new(), 0));
        expect_eq!(store.nodes(&view, &scope, &[z]).await?, []);
        expect_eq!(graph.visible_in(&view, &scope, graph.r()).await?, Vec::<String>::new());
    }
    let of_q: Vec<_> = store.patterns(&view, &graph.case.scope_of(&["q", "r"])).await?;
    expect_eq!(of_q, [graph.pattern("q:Shape", 5)]);
    // The edge of `p` leads to a node outside the scope.
    expect_eq!(graph.visible_in(&view, &graph.case.scope_of(&["p"]), graph.case.repository("p")).await?.len(), 2);
    Ok(())
}

/// If the repository that owns an edge is out of scope, the edge is invisible, even if both its ends are in
/// scope.
pub(super) async fn an_edge_out_of_scope_joins_nothing(store: &dyn GraphStore) -> Result<()> {
    let graph = Graph::new(store, "between");
    let own = StagedGraph {
        nodes: graph.nodes(&["a", "b", "c"]),
        edges: vec![graph.call("a", "b")],
        ..StagedGraph::default()
    };
    graph.stage(1, own).await?;
    let other = graph.case.repository("other");
    let between = ["b", "c"].map(|target| {
        let call = graph.call("a", target);
        EdgeRecord { key: EdgeKey::derive(other, call.source, call.kind, call.target, 0), owner: other, ..call }
    });
    graph.stage_in("other", 2, StagedGraph { edges: between.to_vec(), ..StagedGraph::default() }).await?;
    let (view, a, c) = (view(3, &[]), graph.node("a").key, graph.node("c").key);
    for (scope, expect) in [(graph.case.scope(), vec!["b", "b", "c"]), (graph.case.scope_of(&["r"]), vec!["b"])] {
        let (found, total) = store.neighbours(&view, &scope, a, Direction::Out, &[], 9).await?;
        expect_eq!((names(&found), total), (expect.clone(), expect.len() as u64));
        let (found, _) = store.neighbours(&view, &scope, c, Direction::In, &[], 9).await?;
        expect_eq!(found.len(), expect.len() / 2);
    }
    Ok(())
}

pub(super) async fn hidden_repositories_are_invisible(store: &dyn GraphStore) -> Result<()> {
    let graph = Graph::new(store, "hide");
    graph.stage_basics().await?;
    let x = StagedGraph {
        nodes: graph.nodes(&["other:x"]),
        edges: vec![graph.call("other:x", "b")],
        ..StagedGraph::default()
    };
    graph.stage_in("other", 2, x).await?;
    let hidden = View { hidden_repositories: BTreeSet::from([graph.r()]), ..view(3, &[]) };
    expect_eq!(graph.visible(&hidden).await?, Vec::<String>::new());
    let scope = graph.case.scope();
    let out = store.neighbours(&hidden, &scope, graph.node("other:x").key, Direction::Out, &[], 10).await?;
    expect_eq!(out, (Vec::new(), 0));
    Ok(())
}

pub(super) async fn edges_need_both_ends(store: &dyn GraphStore) -> Result<()> {
    let graph = Graph::new(store, "ends");
    let edges = vec![graph.call("a", "missing"), graph.call("missing", "a"), graph.call("a", "late")];
    graph.stage(1, StagedGraph { nodes: graph.nodes(&["a"]), edges, ..StagedGraph::default() }).await?;
    expect_eq!(graph.visible(&view(2, &[])).await?, ["node a def a()"]);
    graph.stage(2, StagedGraph { nodes: graph.nodes(&["late"]), ..StagedGraph::default() }).await?;
    let both = ["edge Calls a to late line 2", "node a def a()", "node late def late()"];
    expect_eq!(graph.visible(&view(2, &[])).await?, ["node a def a()"]);
    expect_eq!(graph.visible(&view(3, &[])).await?, both);
    graph.stage(3, StagedGraph { retired_nodes: vec![graph.node("a").key], ..StagedGraph::default() }).await?;
    expect_eq!(graph.visible(&view(3, &[])).await?, both);
    expect_eq!(graph.visible(&view(4, &[])).await?, ["node late def late()"]);
    Ok(())
}

pub(super) async fn neighbours_are_ordered_and_limited(store: &dyn GraphStore) -> Result<()> {
    let graph = Graph::new(store, "order");
    // Neighbours are ordered by kind, then by path, line and name of the other end. Two edges between the
    // same nodes are ordered by the line of the reference.
    let place = |name: &str, path: &str, line: u32| NodeRecord {
        path: RepoPath::parse(path).ok(),
        span: Some(LineSpan::new(line, line + 1)),
        ..graph.node(name)
    };
    let mut nodes = vec![graph.node("hub")];
    let places = [("n1", "a.py", 9), ("n2", "a.py", 20), ("n3", "b.py", 1), ("n5", "b.py", 1), ("n4", "b/a.py", 1)];
    nodes.extend(places.iter().rev().map(|(name, path, line)| place(name, path, *line)));
    let mut edges: Vec<EdgeRecord> = places.iter().rev().map(|(name, ..)| graph.call(name, "hub")).collect();
    edges.push(graph.edge("n1", EdgeKind::Calls, "hub", 1));
    edges.push(graph.edge("n5", EdgeKind::Contains, "hub", 0));
    edges.push(graph.edge("n1", EdgeKind::Follows, "hub", 0));
    edges.push(graph.edge("hub", EdgeKind::Calls, "hub", 0));
    graph.stage(1, StagedGraph { nodes, edges, ..StagedGraph::default() }).await?;
    let (view, scope, hub) = (view(2, &[]), graph.case.scope(), graph.node("hub").key);
    let callers =
        async |kinds: &[EdgeKind], limit| store.neighbours(&view, &scope, hub, Direction::In, kinds, limit).await;
    let order = ["n5", "n1", "n1", "n2", "n3", "n5", "n4", "hub", "n1"];
    for limit in [100, 9, 8, 3, 0] {
        let (found, total) = callers(&[], limit).await?;
        expect_eq!((names(&found), total), (order[..limit.min(9)].to_vec(), 9));
    }
    let (found, _) = callers(&[EdgeKind::Calls], 2).await?;
    expect_eq!(found.iter().map(|neighbour| neighbour.edge.line).collect::<Vec<_>>(), [2, 3]);
    let (found, total) = callers(&[EdgeKind::Follows, EdgeKind::Contains], 9).await?;
    expect_eq!((names(&found), total), (vec!["n5", "n1"], 2));
    expect_eq!(callers(&[EdgeKind::Imports], 9).await?, (Vec::new(), 0));
    let (out, total) = store.neighbours(&view, &scope, hub, Direction::Out, &[], 9).await?;
    expect_eq!((names(&out), total), (vec!["hub"], 1));
    Ok(())
}

pub(super) async fn nodes_come_in_the_order_of_the_keys(store: &dyn GraphStore) -> Result<()> {
    let graph = Graph::new(store, "keys");
    graph.stage_basics().await?;
    let keys: Vec<_> = ["c", "missing", "a", "b"].iter().map(|name| graph.node(name).key).collect();
    let found = store.nodes(&view(2, &[]), &graph.case.scope(), &keys).await?;
    expect_eq!(found, graph.nodes(&["c", "a", "b"]));
    expect_eq!(store.nodes(&view(2, &[]), &graph.case.scope(), &[]).await?, []);
    Ok(())
}

/// More nodes than any adapter returns on one page.
const NUM_MANY: u32 = 12_000;

pub(super) async fn pages_are_complete(store: &dyn GraphStore) -> Result<()> {
    let graph = Graph::new(store, "pages");
    let names: Vec<String> = (0..NUM_MANY).map(|number| format!("n{number}")).collect();
    let nodes: Vec<NodeRecord> = names.iter().map(|name| graph.node(name)).collect();
    let edges: Vec<EdgeRecord> = names
        .iter()
        .zip(names.iter().skip(1))
        .enumerate()
        .map(|(index, (source, target))| EdgeRecord {
            resolution: Resolution::ALL[index % 4],
            ..graph.call(source, target)
        })
        .collect();
    graph.stage(1, StagedGraph { nodes: nodes.clone(), edges: edges.clone(), ..StagedGraph::default() }).await?;
    let (view, scope, repository) = (view(2, &[]), graph.case.scope(), graph.r());
    let found = scroll(async |from| Ok(store.scroll_nodes(&view, &scope, repository, from).await?)).await?;
    expect_eq!(found.len(), nodes.len());
    expect_eq!(found.iter().map(|node| node.key).collect::<BTreeSet<_>>().len(), nodes.len());
    for resolution in [None, Some(Resolution::Exact), Some(Resolution::Ambiguous)] {
        let page = async |from| Ok(store.scroll_edges(&view, &scope, repository, resolution, from).await?);
        let found = scroll(page).await?;
        let wanted = |edge: &&EdgeRecord| resolution.is_none_or(|resolution| edge.resolution == resolution);
        let expected: BTreeSet<_> = edges.iter().filter(wanted).map(|edge| edge.key).collect();
        expect_eq!(found.len(), expected.len());
        anyhow::ensure!(
            found.iter().map(|edge| edge.key).collect::<BTreeSet<_>>() == expected,
            "the store returned other edges than were staged"
        );
    }
    Ok(())
}
