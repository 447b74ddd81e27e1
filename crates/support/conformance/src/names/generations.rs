//! Checks of visibility, idempotence and sweeping.

use anyhow::Result;
use cairn_domain::GenerationId;
use cairn_ports::{Names, StagedNames};

use crate::case::view;
use crate::names::fixture::{Index, path};
use crate::suite::expect_eq;

const BASICS: [&str; 5] = ["first src/a.py:1", "second src/a.py:2", "third src/b.py:1", "src/a.py", "src/b.py"];
const CHANGED: [&str; 5] = ["first src/a.py:5", "third src/b.py:1", "fourth src/a.py:9", "src/a.py", "src/b.py"];
const WITHOUT_A: [&str; 2] = ["third src/b.py:1", "src/b.py"];
const NOTHING: [&str; 0] = [];

pub(super) async fn staged_names_are_visible_once_published(store: &dyn Names) -> Result<()> {
    let index = Index::new(store, "publish");
    index.stage_basics().await?;
    expect_eq!(index.visible(&view(1, &[])).await?, NOTHING);
    expect_eq!(index.visible(&view(3, &[1])).await?, NOTHING);
    expect_eq!(index.visible(&view(2, &[])).await?, BASICS);
    expect_eq!(index.visible(&view(9, &[3])).await?, BASICS);
    Ok(())
}

pub(super) async fn replaced_names_stay_visible_to_earlier_views(store: &dyn Names) -> Result<()> {
    let index = Index::new(store, "replace");
    index.stage_basics().await?;
    index.stage(3, index.change_a()).await?;
    index.stage(5, index.remove_a()).await?;
    let back = StagedNames {
        replaced: vec![path("a")],
        symbols: vec![index.symbol("first", "a", 1), index.symbol("second", "a", 2)],
        files: vec![path("a")],
    };
    index.stage(7, back).await?;
    for (next_gen, expected) in [(2, &BASICS[..]), (4, &CHANGED), (6, &WITHOUT_A), (8, &BASICS)] {
        expect_eq!(index.visible(&view(next_gen, &[])).await?, expected);
    }
    Ok(())
}

pub(super) async fn hidden_generations_change_nothing(store: &dyn Names) -> Result<()> {
    let index = Index::new(store, "hidden");
    index.stage_basics().await?;
    index.stage(2, index.change_a()).await?;
    index.stage(3, index.remove_a()).await?;
    expect_eq!(index.visible(&view(9, &[2, 3])).await?, BASICS);
    expect_eq!(index.visible(&view(9, &[3])).await?, CHANGED);
    Ok(())
}

pub(super) async fn staging_again_changes_nothing(store: &dyn Names) -> Result<()> {
    let index = Index::new(store, "again");
    for _ in 0..2 {
        index.stage_basics().await?;
    }
    for _ in 0..2 {
        index.stage(2, index.change_a()).await?;
    }
    // A late writer of an earlier generation changes nothing.
    index.stage_basics().await?;
    expect_eq!(index.visible(&view(2, &[])).await?, BASICS);
    expect_eq!(index.visible(&view(3, &[])).await?, CHANGED);
    Ok(())
}

pub(super) async fn sweeping_replaced_names_changes_no_view(store: &dyn Names) -> Result<()> {
    let index = Index::new(store, "sweep");
    index.stage_basics().await?;
    index.stage(2, index.change_a()).await?;
    index.stage(3, index.remove_a()).await?;
    let swept = [GenerationId(1), GenerationId(2)];
    store.sweep_retired(index.r(), &swept).await?;
    expect_eq!(store.sweep_retired(index.r(), &swept).await?, 0);
    expect_eq!(index.visible(&view(3, &[])).await?, CHANGED);
    expect_eq!(index.visible(&view(4, &[])).await?, WITHOUT_A);
    store.verify(index.r()).await?;
    Ok(())
}

/// Some views in use are older than the newest published generation.
pub(super) async fn sweeping_unseen_names_changes_no_used_view(store: &dyn Names) -> Result<()> {
    let index = Index::new(store, "unseen");
    index.stage_basics().await?;
    for generation in 2..9 {
        index.stage(generation, index.change_a()).await?;
    }
    index.stage(9, index.remove_a()).await?;
    let (first, middle, newest) = (view(2, &[]), view(6, &[]), view(10, &[]));
    for used in [vec![first.clone(), middle.clone(), newest.clone()], vec![middle.clone(), newest.clone()]] {
        for _ in 0..3 {
            store.sweep_unseen(index.r(), &(2..10).map(GenerationId).collect::<Vec<_>>(), &used).await?;
            store.compact(index.r()).await?;
            if used.contains(&first) {
                expect_eq!(index.visible(&first).await?, BASICS);
            }
            expect_eq!(index.visible(&middle).await?, CHANGED);
            expect_eq!(index.visible(&newest).await?, WITHOUT_A);
        }
    }
    store.verify(index.r()).await?;
    // If the names of a generation are already merged, a late writer of this generation does not change
    // anything.
    index.stage(8, index.change_a()).await?;
    expect_eq!(index.visible(&middle).await?, CHANGED);
    expect_eq!(index.visible(&newest).await?, WITHOUT_A);
    store.sweep_retired(index.r(), &(1..10).map(GenerationId).collect::<Vec<_>>()).await?;
    expect_eq!(index.visible(&newest).await?, WITHOUT_A);
    Ok(())
}

pub(super) async fn sweeping_an_aborted_generation_undoes_it(store: &dyn Names) -> Result<()> {
    let index = Index::new(store, "abort");
    index.stage_basics().await?;
    index.stage(2, index.change_a()).await?;
    for _ in 0..2 {
        expect_eq!(store.sweep_aborted(index.r(), GenerationId(2)).await?, 0);
        // The sweep has removed the names of the generation, so the view need not hide the generation.
        expect_eq!(index.visible(&view(3, &[])).await?, BASICS);
    }
    index.stage(3, index.remove_a()).await?;
    expect_eq!(index.visible(&view(3, &[])).await?, BASICS);
    expect_eq!(index.visible(&view(4, &[])).await?, WITHOUT_A);
    store.verify(index.r()).await?;
    Ok(())
}

pub(super) async fn removing_a_repository_keeps_later_runs(store: &dyn Names) -> Result<()> {
    let index = Index::new(store, "remove");
    index.stage_basics().await?;
    let other = StagedNames {
        symbols: vec![index.symbol_of("other", "second", "x", 1)],
        files: vec![path("x")],
        ..StagedNames::default()
    };
    index.stage_in("other", 2, other).await?;
    index.stage(3, index.change_a()).await?;
    let again = StagedNames { replaced: Vec::new(), ..index.change_a() };
    index.stage(5, again).await?;
    for _ in 0..2 {
        store.remove_repository(&index.case.tenant, index.r(), GenerationId(4)).await?;
        let left = ["first src/a.py:5", "second src/x.py:1", "fourth src/a.py:9", "src/a.py", "src/x.py"];
        let mut found = index.visible(&view(6, &[])).await?;
        // The order of the two repositories depends on their ids, so the results are sorted.
        found.sort();
        let mut expected = left.to_vec();
        expected.sort_unstable();
        expect_eq!(found, expected);
        expect_eq!(index.visible(&view(5, &[])).await?, ["second src/x.py:1", "src/x.py"]);
    }
    store.remove_repository(&index.case.tenant, index.r(), GenerationId(6)).await?;
    expect_eq!(index.visible(&view(9, &[])).await?, ["second src/x.py:1", "src/x.py"]);
    Ok(())
}

pub(super) async fn removing_after_a_merge_keeps_later_runs_once(store: &dyn Names) -> Result<()> {
    let index = Index::new(store, "remove-merged");
    index.stage_basics().await?;
    for generation in 2..12 {
        index.stage(generation, index.change_a()).await?;
    }
    // Generation 12 is the deletion of the repository. The repository is indexed again before the sweep.
    let again = StagedNames { replaced: Vec::new(), ..index.change_a() };
    index.stage(13, again).await?;
    let published = (1..12).chain([13]).map(GenerationId).collect::<Vec<_>>();
    store.sweep_retired(index.r(), &published).await?;
    store.compact(index.r()).await?;
    for _ in 0..2 {
        store.remove_repository(&index.case.tenant, index.r(), GenerationId(12)).await?;
        expect_eq!(index.visible(&view(14, &[])).await?, ["first src/a.py:5", "fourth src/a.py:9", "src/a.py"]);
    }
    Ok(())
}

pub(super) async fn compacting_changes_nothing(store: &dyn Names) -> Result<()> {
    let index = Index::new(store, "compact");
    index.stage_basics().await?;
    for generation in 2..14 {
        index.stage(generation, index.change_a()).await?;
    }
    for _ in 0..2 {
        store.compact(index.r()).await?;
        store.verify(index.r()).await?;
        expect_eq!(index.visible(&view(2, &[])).await?, BASICS);
        expect_eq!(index.visible(&view(7, &[])).await?, CHANGED);
        expect_eq!(index.visible(&view(14, &[13])).await?, CHANGED);
    }
    store.sweep_retired(index.r(), &(2..14).map(GenerationId).collect::<Vec<_>>()).await?;
    store.compact(index.r()).await?;
    expect_eq!(index.visible(&view(14, &[])).await?, CHANGED);
    index.stage(14, index.remove_a()).await?;
    expect_eq!(index.visible(&view(14, &[])).await?, CHANGED);
    expect_eq!(index.visible(&view(15, &[])).await?, WITHOUT_A);
    Ok(())
}
