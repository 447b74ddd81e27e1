//! Checks of visibility, idempotence and sweeping.

use anyhow::{Result, ensure};
use cairn_domain::{ChunkRecord, GenerationId, StageName};
use cairn_ports::{StagedPoints, Staging, VectorStore};

use crate::case::{part, view};
use crate::suite::expect_eq;
use crate::vector_store::fixture::{Points, place};

const BASICS: [&str; 3] = ["src/a.py function a 1", "src/b.py function b 1", "src/c.py function c 1"];
const WITHOUT_A: [&str; 2] = ["src/b.py function b 1", "src/c.py function c 1"];
const CHANGED: [&str; 3] = ["src/a.py function a changed 1", "src/b.py function b 1", "src/c.py function c 1"];
const NOTHING: [&str; 0] = [];

fn retire_a(points: &Points<'_>) -> StagedPoints {
    StagedPoints { points: Vec::new(), retired: vec![points.chunk("a").key] }
}

/// A new version of the chunk `a`.
fn change_a(points: &Points<'_>) -> StagedPoints {
    let chunk = ChunkRecord { header: "function a changed".to_owned(), ..points.chunk("a") };
    StagedPoints { points: vec![place(chunk, 2)], ..retire_a(points) }
}

pub(super) async fn staged_chunks_are_visible_once_published(store: &dyn VectorStore) -> Result<()> {
    let points = Points::new(store, "publish");
    points.stage_basics().await?;
    expect_eq!(points.visible(&view(1, &[])).await?, NOTHING);
    expect_eq!(points.visible(&view(3, &[1])).await?, NOTHING);
    expect_eq!(points.visible(&view(2, &[])).await?, BASICS);
    expect_eq!(points.visible(&view(9, &[3])).await?, BASICS);
    Ok(())
}

pub(super) async fn retired_chunks_stay_visible_to_earlier_views(store: &dyn VectorStore) -> Result<()> {
    let points = Points::new(store, "retire");
    points.stage_basics().await?;
    points.stage(4, retire_a(&points)).await?;
    expect_eq!(points.visible(&view(2, &[])).await?, BASICS);
    expect_eq!(points.visible(&view(5, &[])).await?, WITHOUT_A);
    Ok(())
}

pub(super) async fn a_new_version_replaces_the_old_one(store: &dyn VectorStore) -> Result<()> {
    let points = Points::new(store, "replace");
    points.stage_basics().await?;
    points.stage(2, change_a(&points)).await?;
    expect_eq!(points.visible(&view(2, &[])).await?, BASICS);
    expect_eq!(points.visible(&view(3, &[2])).await?, BASICS);
    expect_eq!(points.visible(&view(3, &[])).await?, CHANGED);
    points.stage(3, StagedPoints { points: points.points(&["a"]), ..retire_a(&points) }).await?;
    expect_eq!(points.visible(&view(3, &[])).await?, CHANGED);
    expect_eq!(points.visible(&view(4, &[])).await?, BASICS);
    Ok(())
}

pub(super) async fn hidden_generations_change_nothing(store: &dyn VectorStore) -> Result<()> {
    let points = Points::new(store, "hidden");
    points.stage_basics().await?;
    let mut staged = change_a(&points);
    staged.points.extend(points.points(&["d"]));
    points.stage(2, staged).await?;
    expect_eq!(points.visible(&view(10, &[2])).await?, BASICS);
    Ok(())
}

pub(super) async fn staging_again_changes_nothing(store: &dyn VectorStore) -> Result<()> {
    let points = Points::new(store, "again");
    for _ in 0..2 {
        points.stage_basics().await?;
    }
    expect_eq!(points.visible(&view(2, &[])).await?, BASICS);
    for _ in 0..3 {
        points.stage(2, change_a(&points)).await?;
    }
    expect_eq!(points.visible(&view(2, &[])).await?, BASICS);
    expect_eq!(points.visible(&view(3, &[])).await?, CHANGED);
    Ok(())
}

pub(super) async fn a_late_writer_retires_nothing_newer(store: &dyn VectorStore) -> Result<()> {
    let points = Points::new(store, "late");
    points.stage_basics().await?;
    points.stage(2, retire_a(&points)).await?;
    points.stage(3, StagedPoints { points: points.points(&["a"]), retired: Vec::new() }).await?;
    points.stage(2, retire_a(&points)).await?;
    expect_eq!(points.visible(&view(3, &[])).await?, WITHOUT_A);
    expect_eq!(points.visible(&view(4, &[])).await?, BASICS);
    points.stage(4, retire_a(&points)).await?;
    expect_eq!(points.visible(&view(3, &[])).await?, WITHOUT_A);
    expect_eq!(points.visible(&view(5, &[])).await?, WITHOUT_A);
    Ok(())
}

pub(super) async fn records_retired_by_an_aborted_generation_can_be_retired_again(
    store: &dyn VectorStore,
) -> Result<()> {
    let points = Points::new(store, "aborted-mark");
    points.stage_basics().await?;
    points.stage(2, retire_a(&points)).await?;
    // When generation 3 begins, generation 2 is cancelled but not yet swept.
    let run = points.case.run("r", 3);
    let aborted = [GenerationId(2)].into();
    let staging = Staging { aborted, ..points.case.staging(run, part(StageName::Embed, 0)) };
    store.stage(&staging, change_a(&points)).await?;
    expect_eq!(points.visible(&view(2, &[])).await?, BASICS);
    expect_eq!(points.visible(&view(4, &[2])).await?, CHANGED);
    expect_eq!(store.sweep_aborted(points.r(), GenerationId(2)).await?, 0);
    expect_eq!(points.visible(&view(4, &[])).await?, CHANGED);
    expect_eq!(points.visible(&view(2, &[])).await?, BASICS);
    Ok(())
}

pub(super) async fn parts_of_a_run_add_up(store: &dyn VectorStore) -> Result<()> {
    let points = Points::new(store, "parts");
    points.stage_basics().await?;
    points.stage(2, change_a(&points)).await?;
    let run = points.case.run("r", 2);
    let second = StagedPoints { points: points.points(&["d"]), retired: vec![points.chunk("b").key] };
    store.stage(&points.case.staging(run, part(StageName::Embed, 1)), second).await?;
    let third = StagedPoints { points: points.points(&["e"]), retired: vec![points.chunk("c").key] };
    store.stage(&points.case.staging(run, part(StageName::Retire, 0)), third).await?;
    expect_eq!(points.visible(&view(2, &[])).await?, BASICS);
    let all = ["src/a.py function a changed 1", "src/d.py function d 1", "src/e.py function e 1"];
    expect_eq!(points.visible(&view(3, &[])).await?, all);
    Ok(())
}

pub(super) async fn sweeping_retired_chunks_changes_no_view(store: &dyn VectorStore) -> Result<()> {
    let points = Points::new(store, "sweep");
    points.stage_basics().await?;
    points.stage(2, change_a(&points)).await?;
    points.stage(3, retire_a(&points)).await?;
    let (one, two) = (GenerationId(1), GenerationId(2));
    let removed = store.sweep_retired(points.r(), &[one, two]).await?;
    ensure!(removed >= 1, "no record was removed");
    expect_eq!(store.sweep_retired(points.r(), &[one, two]).await?, 0);
    expect_eq!(points.visible(&view(3, &[])).await?, CHANGED);
    expect_eq!(points.visible(&view(4, &[])).await?, WITHOUT_A);
    store.verify(points.r()).await?;
    Ok(())
}

/// Some views in use are older than the newest published generation.
pub(super) async fn sweeping_unseen_chunks_changes_no_used_view(store: &dyn VectorStore) -> Result<()> {
    let points = Points::new(store, "unseen");
    points.stage_basics().await?;
    for number in 2..9 {
        points.stage(number, change_a(&points)).await?;
    }
    points.stage(9, retire_a(&points)).await?;
    let (first, middle, newest) = (view(2, &[]), view(6, &[]), view(10, &[]));
    for used in [vec![first.clone(), middle.clone(), newest.clone()], vec![middle.clone(), newest.clone()]] {
        for _ in 0..3 {
            store.sweep_unseen(points.r(), &(2..10).map(GenerationId).collect::<Vec<_>>(), &used).await?;
            store.compact(points.r()).await?;
            if used.contains(&first) {
                expect_eq!(points.visible(&first).await?, BASICS);
            }
            expect_eq!(points.visible(&middle).await?, CHANGED);
            expect_eq!(points.visible(&newest).await?, WITHOUT_A);
        }
    }
    store.verify(points.r()).await?;
    // If the records of a generation are already merged, a late writer of this generation does not change
    // anything.
    points.stage(8, change_a(&points)).await?;
    expect_eq!(points.visible(&middle).await?, CHANGED);
    expect_eq!(points.visible(&newest).await?, WITHOUT_A);
    points.stage(10, StagedPoints { points: points.points(&["a"]), retired: Vec::new() }).await?;
    store.sweep_retired(points.r(), &(1..11).map(GenerationId).collect::<Vec<_>>()).await?;
    expect_eq!(points.visible(&view(11, &[])).await?, BASICS);
    Ok(())
}

pub(super) async fn sweeping_an_aborted_generation_undoes_it(store: &dyn VectorStore) -> Result<()> {
    let points = Points::new(store, "abort");
    points.stage_basics().await?;
    points.stage(2, change_a(&points)).await?;
    for _ in 0..2 {
        expect_eq!(store.sweep_aborted(points.r(), GenerationId(2)).await?, 0);
        // The sweep has removed the records of the generation, so the view need not hide the generation.
        expect_eq!(points.visible(&view(3, &[])).await?, BASICS);
    }
    points.stage(3, retire_a(&points)).await?;
    expect_eq!(points.visible(&view(3, &[])).await?, BASICS);
    expect_eq!(points.visible(&view(4, &[])).await?, WITHOUT_A);
    store.verify(points.r()).await?;
    Ok(())
}

pub(super) async fn removing_a_repository_keeps_later_runs(store: &dyn VectorStore) -> Result<()> {
    let points = Points::new(store, "remove");
    points.stage_basics().await?;
    points.stage_in("other", 2, StagedPoints { points: points.points(&["other:x"]), retired: Vec::new() }).await?;
    points.stage(3, change_a(&points)).await?;
    points.stage(5, StagedPoints { points: points.points(&["a", "b"]), retired: Vec::new() }).await?;
    for _ in 0..2 {
        store.remove_repository(&points.case.tenant, points.r(), GenerationId(4)).await?;
        expect_eq!(points.visible(&view(6, &[])).await?, BASICS[..2]);
        expect_eq!(points.visible(&view(5, &[])).await?, NOTHING);
    }
    let other = points.case.repository("other");
    expect_eq!(points.visible_in(&view(6, &[]), &points.case.scope(), other).await?, ["src/x.py function x 1"]);
    store.remove_repository(&points.case.tenant, points.r(), GenerationId(6)).await?;
    expect_eq!(points.visible(&view(9, &[])).await?, NOTHING);
    Ok(())
}

pub(super) async fn removing_after_a_merge_keeps_later_runs_once(store: &dyn VectorStore) -> Result<()> {
    let points = Points::new(store, "remove-merged");
    points.stage_basics().await?;
    for number in 2..8 {
        points.stage(number, change_a(&points)).await?;
    }
    // Generation 8 is the deletion of the repository. The repository is indexed again before the sweep.
    points.stage(9, StagedPoints { points: points.points(&["a", "b"]), retired: Vec::new() }).await?;
    store.sweep_retired(points.r(), &[1, 2, 3, 4, 5, 6, 7, 9].map(GenerationId)).await?;
    store.compact(points.r()).await?;
    for _ in 0..2 {
        store.remove_repository(&points.case.tenant, points.r(), GenerationId(8)).await?;
        expect_eq!(points.visible(&view(10, &[])).await?, BASICS[..2]);
    }
    Ok(())
}

pub(super) async fn compacting_changes_nothing(store: &dyn VectorStore) -> Result<()> {
    let points = Points::new(store, "compact");
    points.stage_basics().await?;
    for number in 2..12 {
        points.stage(number, change_a(&points)).await?;
    }
    for _ in 0..2 {
        store.compact(points.r()).await?;
        store.verify(points.r()).await?;
        expect_eq!(points.visible(&view(2, &[])).await?, BASICS);
        expect_eq!(points.visible(&view(5, &[])).await?, CHANGED);
        expect_eq!(points.visible(&view(12, &[])).await?, CHANGED);
        expect_eq!(points.visible(&view(12, &[11])).await?, CHANGED);
    }
    store.sweep_retired(points.r(), &(2..12).map(GenerationId).collect::<Vec<_>>()).await?;
    store.compact(points.r()).await?;
    expect_eq!(points.visible(&view(12, &[])).await?, CHANGED);
    // After a compaction, a later generation can still retire the earlier records.
    points.stage(12, retire_a(&points)).await?;
    expect_eq!(points.visible(&view(12, &[])).await?, CHANGED);
    expect_eq!(points.visible(&view(13, &[])).await?, WITHOUT_A);
    Ok(())
}
