//! Checks of visibility, idempotence and sweeping.

use anyhow::{Result, ensure};
use cairn_domain::{EdgeRecord, GenerationId, NodeRecord, StageName};
use cairn_ports::{GraphStore, StagedGraph, Staging};

use crate::case::{part, view};
use crate::graph_store::fixture::{Graph, generation};
use crate::suite::expect_eq;

const BASICS: [&str; 6] = [
    "edge Calls a to b line 2",
    "edge Calls c to b line 2",
    "node a def a()",
    "node b def b()",
    "node c def c()",
    "pattern Importer how Importer looks",
];
const WITHOUT_A: [&str; 3] = ["edge Calls c to b line 2", "node b def b()", "node c def c()"];
const NOTHING: [&str; 0] = [];

pub(super) async fn staged_records_are_visible_once_published(store: &dyn GraphStore) -> Result<()> {
    let graph = Graph::new(store, "publish");
    graph.stage_basics().await?;
    expect_eq!(graph.visible(&view(1, &[])).await?, NOTHING);
    expect_eq!(graph.visible(&view(3, &[1])).await?, NOTHING);
    expect_eq!(graph.visible(&view(2, &[])).await?, BASICS);
    expect_eq!(graph.visible(&view(9, &[3])).await?, BASICS);
    Ok(())
}

pub(super) async fn retired_records_stay_visible_to_earlier_views(store: &dyn GraphStore) -> Result<()> {
    let graph = Graph::new(store, "retire");
    graph.stage_basics().await?;
    graph.stage(4, graph.retire_basics()).await?;
    expect_eq!(graph.visible(&view(2, &[])).await?, BASICS);
    expect_eq!(graph.visible(&view(5, &[])).await?, WITHOUT_A);
    Ok(())
}

/// A new version of the node `a` and of the call from `a`.
fn changed(graph: &Graph<'_>) -> StagedGraph {
    let node = NodeRecord { signature: "def a(changed)".to_owned(), ..graph.node("a") };
    let edge = EdgeRecord { line: 7, ..graph.call("a", "b") };
    StagedGraph {
        nodes: vec![node],
        edges: vec![edge],
        patterns: vec![cairn_domain::PatternRecord {
            description: "changed".to_owned(),
            ..graph.pattern("Importer", 6)
        }],
        ..graph.retire_basics()
    }
}

const CHANGED: [&str; 6] = [
    "edge Calls a to b line 7",
    "edge Calls c to b line 2",
    "node a def a(changed)",
    "node b def b()",
    "node c def c()",
    "pattern Importer changed",
];

pub(super) async fn a_new_version_replaces_the_old_one(store: &dyn GraphStore) -> Result<()> {
    let graph = Graph::new(store, "replace");
    graph.stage_basics().await?;
    graph.stage(2, changed(&graph)).await?;
    expect_eq!(graph.visible(&view(2, &[])).await?, BASICS);
    expect_eq!(graph.visible(&view(3, &[2])).await?, BASICS);
    expect_eq!(graph.visible(&view(3, &[])).await?, CHANGED);
    // Stages the first version again, as if a change were reverted.
    graph
        .stage(
            3,
            StagedGraph {
                nodes: graph.nodes(&["a"]),
                edges: vec![graph.call("a", "b")],
                patterns: vec![graph.pattern("Importer", 5)],
                ..graph.retire_basics()
            },
        )
        .await?;
    expect_eq!(graph.visible(&view(3, &[])).await?, CHANGED);
    expect_eq!(graph.visible(&view(4, &[])).await?, BASICS);
    Ok(())
}

pub(super) async fn hidden_generations_change_nothing(store: &dyn GraphStore) -> Result<()> {
    let graph = Graph::new(store, "hidden");
    graph.stage_basics().await?;
    graph.stage(2, changed(&graph)).await?;
    graph
        .stage(
            2,
            StagedGraph { nodes: graph.nodes(&["d"]), edges: vec![graph.call("d", "b")], ..StagedGraph::default() },
        )
        .await?;
    expect_eq!(graph.visible(&view(10, &[2])).await?, BASICS);
    Ok(())
}

pub(super) async fn staging_again_changes_nothing(store: &dyn GraphStore) -> Result<()> {
    let graph = Graph::new(store, "again");
    for _ in 0..2 {
        graph.stage_basics().await?;
    }
    expect_eq!(graph.visible(&view(2, &[])).await?, BASICS);
    for _ in 0..3 {
        graph.stage(2, changed(&graph)).await?;
    }
    expect_eq!(graph.visible(&view(2, &[])).await?, BASICS);
    expect_eq!(graph.visible(&view(3, &[])).await?, CHANGED);
    let [node, edge] = [graph.node("d"), graph.node("d")];
    let call = graph.call("d", "b");
    graph
        .stage(3, StagedGraph { nodes: vec![node, edge], edges: vec![call.clone(), call], ..StagedGraph::default() })
        .await?;
    expect_eq!(graph.visible(&view(4, &[])).await?.len(), CHANGED.len() + 2);
    Ok(())
}

pub(super) async fn a_late_writer_retires_nothing_newer(store: &dyn GraphStore) -> Result<()> {
    let graph = Graph::new(store, "late");
    graph.stage_basics().await?;
    graph.stage(2, graph.retire_basics()).await?;
    let back = StagedGraph {
        nodes: graph.nodes(&["a"]),
        edges: vec![graph.call("a", "b")],
        patterns: vec![graph.pattern("Importer", 5)],
        ..StagedGraph::default()
    };
    graph.stage(3, back).await?;
    graph.stage(2, graph.retire_basics()).await?;
    expect_eq!(graph.visible(&view(3, &[])).await?, WITHOUT_A);
    expect_eq!(graph.visible(&view(4, &[])).await?, BASICS);
    // The value of `gen_to` that generation 2 has set stays unchanged, even if a later generation retires the
    // record again.
    graph.stage(4, graph.retire_basics()).await?;
    expect_eq!(graph.visible(&view(3, &[])).await?, WITHOUT_A);
    expect_eq!(graph.visible(&view(5, &[])).await?, WITHOUT_A);
    Ok(())
}

pub(super) async fn records_retired_by_an_aborted_generation_can_be_retired_again(
    store: &dyn GraphStore,
) -> Result<()> {
    let graph = Graph::new(store, "aborted-mark");
    graph.stage_basics().await?;
    graph.stage(2, graph.retire_basics()).await?;
    // When generation 3 begins, generation 2 is cancelled but not yet swept.
    let run = graph.case.run("r", 3);
    let aborted = [GenerationId(2)].into();
    let staging = Staging { aborted, ..graph.case.staging(run, part(StageName::Link, 0)) };
    store.stage(&staging, changed(&graph)).await?;
    expect_eq!(graph.visible(&view(2, &[])).await?, BASICS);
    expect_eq!(graph.visible(&view(4, &[2])).await?, CHANGED);
    expect_eq!(store.sweep_aborted(graph.r(), GenerationId(2)).await?, 0);
    expect_eq!(graph.visible(&view(4, &[])).await?, CHANGED);
    expect_eq!(graph.visible(&view(2, &[])).await?, BASICS);
    Ok(())
}

pub(super) async fn parts_of_a_run_add_up(store: &dyn GraphStore) -> Result<()> {
    let graph = Graph::new(store, "parts");
    graph
        .stage(
            1,
            StagedGraph {
                nodes: graph.nodes(&["a", "b"]),
                edges: vec![graph.call("a", "b")],
                ..StagedGraph::default()
            },
        )
        .await?;
    let run = graph.case.run("r", 1);
    let second = StagedGraph {
        nodes: graph.nodes(&["b", "c"]),
        edges: vec![graph.call("a", "c"), graph.call("a", "b"), graph.call("c", "b")],
        ..StagedGraph::default()
    };
    store.stage(&graph.case.staging(run, part(StageName::Aggregate, 0)), second).await?;
    let mut expected = BASICS.to_vec();
    expected.retain(|line| !line.starts_with("pattern"));
    expected.insert(1, "edge Calls a to c line 2");
    expect_eq!(graph.visible(&view(2, &[])).await?, expected);
    Ok(())
}

pub(super) async fn sweeping_retired_records_changes_no_view(store: &dyn GraphStore) -> Result<()> {
    let graph = Graph::new(store, "sweep");
    graph.stage_basics().await?;
    graph.stage(2, changed(&graph)).await?;
    graph.stage(3, graph.retire_basics()).await?;
    let removed = store.sweep_retired(graph.r(), &[generation(1), generation(2)]).await?;
    ensure!(removed >= 3, "only {removed} records were removed; expected a node, an edge and a pattern");
    expect_eq!(store.sweep_retired(graph.r(), &[generation(1), generation(2)]).await?, 0);
    expect_eq!(graph.visible(&view(3, &[])).await?, CHANGED);
    expect_eq!(graph.visible(&view(4, &[])).await?, WITHOUT_A);
    expect_eq!(store.sweep_retired(graph.case.repository("other"), &[generation(3)]).await?, 0);
    expect_eq!(graph.visible(&view(3, &[])).await?, CHANGED);
    store.verify(graph.r()).await?;
    Ok(())
}

/// Some views in use are older than the newest published generation.
pub(super) async fn sweeping_unseen_records_changes_no_used_view(store: &dyn GraphStore) -> Result<()> {
    let graph = Graph::new(store, "unseen");
    graph.stage_basics().await?;
    for number in 2..9 {
        graph.stage(number, changed(&graph)).await?;
    }
    graph.stage(9, graph.retire_basics()).await?;
    let (first, middle, newest) = (view(2, &[]), view(6, &[]), view(10, &[]));
    for used in [vec![first.clone(), middle.clone(), newest.clone()], vec![middle.clone(), newest.clone()]] {
        for _ in 0..2 {
            store.sweep_unseen(graph.r(), &(2..10).map(generation).collect::<Vec<_>>(), &used).await?;
            store.compact(graph.r()).await?;
            if used.contains(&first) {
                expect_eq!(graph.visible(&first).await?, BASICS);
            }
            expect_eq!(graph.visible(&middle).await?, CHANGED);
            expect_eq!(graph.visible(&newest).await?, WITHOUT_A);
        }
    }
    store.verify(graph.r()).await?;
    store.sweep_retired(graph.r(), &(1..10).map(generation).collect::<Vec<_>>()).await?;
    expect_eq!(graph.visible(&newest).await?, WITHOUT_A);
    Ok(())
}

pub(super) async fn sweeping_an_aborted_generation_undoes_it(store: &dyn GraphStore) -> Result<()> {
    let graph = Graph::new(store, "abort");
    graph.stage_basics().await?;
    graph.stage(2, changed(&graph)).await?;
    for _ in 0..2 {
        expect_eq!(store.sweep_aborted(graph.r(), generation(2)).await?, 0);
        // The sweep has removed the records of the generation, so the view need not hide the generation.
        expect_eq!(graph.visible(&view(3, &[])).await?, BASICS);
    }
    graph.stage(3, graph.retire_basics()).await?;
    expect_eq!(graph.visible(&view(3, &[])).await?, BASICS);
    expect_eq!(graph.visible(&view(4, &[])).await?, WITHOUT_A);
    store.verify(graph.r()).await?;
    Ok(())
}

pub(super) async fn removing_a_repository_keeps_later_runs(store: &dyn GraphStore) -> Result<()> {
    let graph = Graph::new(store, "remove");
    graph.stage_basics().await?;
    graph.stage_in("other", 2, StagedGraph { nodes: graph.nodes(&["other:x"]), ..StagedGraph::default() }).await?;
    graph.stage(3, changed(&graph)).await?;
    graph
        .stage(
            5,
            StagedGraph {
                nodes: graph.nodes(&["a", "b"]),
                edges: vec![graph.call("a", "b")],
                ..StagedGraph::default()
            },
        )
        .await?;
    for _ in 0..2 {
        store.remove_repository(&graph.case.tenant, graph.r(), generation(4)).await?;
        let again = ["edge Calls a to b line 2", "node a def a()", "node b def b()"];
        expect_eq!(graph.visible(&view(6, &[])).await?, again);
        expect_eq!(graph.visible(&view(5, &[])).await?, NOTHING);
    }
    let other = graph.case.repository("other");
    expect_eq!(graph.visible_in(&view(6, &[]), &graph.case.scope(), other).await?, ["node x def x()"]);
    store.remove_repository(&graph.case.tenant, graph.r(), generation(6)).await?;
    expect_eq!(graph.visible(&view(9, &[])).await?, NOTHING);
    store.verify(graph.r()).await?;
    Ok(())
}

pub(super) async fn compacting_changes_nothing(store: &dyn GraphStore) -> Result<()> {
    let graph = Graph::new(store, "compact");
    graph.stage_basics().await?;
    for number in 2..8 {
        graph.stage(number, changed(&graph)).await?;
    }
    store.sweep_retired(graph.r(), &[generation(2), generation(3)]).await?;
    for _ in 0..2 {
        store.compact(graph.r()).await?;
        store.verify(graph.r()).await?;
        expect_eq!(graph.visible(&view(5, &[])).await?, CHANGED);
        expect_eq!(graph.visible(&view(8, &[])).await?, CHANGED);
    }
    Ok(())
}
