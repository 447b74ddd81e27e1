//! Checks of sweeping: when generations are listed, and which records are removed.

use anyhow::{Result, ensure};
use cairn_domain::{RunState, StageName, SyncProgress};
use cairn_ports::SweepList;

use crate::case::part;
use crate::runs::fixture::{RunFixture, RunStore};
use crate::suite::{expect_eq, expect_kind};

/// The entries for the repositories of this check. The list may contain other entries, because other checks
/// share the store.
fn own(runs: &RunFixture<'_>, list: SweepList) -> SweepList {
    let repositories = [runs.case.repository("a"), runs.case.repository("b")];
    SweepList {
        retired: list.retired.into_iter().filter(|run| repositories.contains(&run.repository)).collect(),
        aborted: list.aborted.into_iter().filter(|run| repositories.contains(&run.repository)).collect(),
        deleted: list.deleted.into_iter().filter(|(_, repository, _)| repositories.contains(repository)).collect(),
    }
}

pub(super) async fn published_generations_are_swept_after_the_grace_period(store: &dyn RunStore) -> Result<()> {
    let runs = RunFixture::new(store, "grace");
    runs.register(&["a"]).await?;
    let first = runs.publish("a", None, 1000).await?;
    let second = runs.publish("a", Some(first), 2000).await?;
    let retired = async |now_ms| Ok::<_, anyhow::Error>(own(&runs, store.sweep_list(now_ms, 500).await?).retired);
    expect_eq!(retired(1499).await?, []);
    expect_eq!(retired(1500).await?, [first]);
    expect_eq!(retired(2500).await?, [first, second]);
    store.swept(&SweepList { retired: vec![first], ..SweepList::default() }, 2500, 500).await?;
    expect_eq!(retired(9000).await?, [second]);
    expect_eq!(runs.published_now("a").await?, Some(second.generation));
    Ok(())
}

pub(super) async fn aborted_generations_are_hidden_until_they_are_swept(store: &dyn RunStore) -> Result<()> {
    let runs = RunFixture::new(store, "aborted");
    runs.register(&["a", "b"]).await?;
    let failed = runs.begin("a", None, &[], 0).await?;
    store.abort(failed, RunState::Failed, "invalid_settings", 1).await?;
    let running = runs.begin("a", None, &[], 2).await?;
    runs.publish("b", None, 3).await?;
    let list = own(&runs, store.sweep_list(4, 1000).await?);
    expect_eq!(list.aborted, [failed]);
    // If the generation of an unfinished run is reported as swept, this report must not make the generation
    // visible.
    store.swept(&SweepList { aborted: vec![running], ..SweepList::default() }, 9000, 1000).await?;
    let view = store.view().await?;
    ensure!(view.hidden.contains(&failed.generation), "an aborted generation is visible before it is swept");
    ensure!(view.hidden.contains(&running.generation), "an unfinished generation is visible");
    store.swept(&list, 1000, 1000).await?;
    let view = store.view().await?;
    ensure!(
        view.hidden.contains(&failed.generation),
        "records that a late writer adds to an aborted generation are visible"
    );
    expect_eq!(own(&runs, store.sweep_list(1000, 1000).await?).aborted, [failed]);
    store.swept(&list, 1001, 1000).await?;
    ensure!(!store.view().await?.hidden.contains(&failed.generation), "a swept generation is still hidden");
    expect_eq!(own(&runs, store.sweep_list(9000, 0).await?).aborted, []);
    Ok(())
}

pub(super) async fn a_deleted_repository_is_forgotten_when_swept(store: &dyn RunStore) -> Result<()> {
    let runs = RunFixture::new(store, "forget");
    runs.register(&["a", "b"]).await?;
    let first = runs.publish("a", None, 0).await?;
    let aborted = runs.begin("a", Some(first), &[], 1).await?;
    let deletion = store.delete(runs.case.repository("a"), 4).await?;
    let list = own(&runs, store.sweep_list(5, 1000).await?);
    expect_eq!(list.deleted, [(runs.case.tenant.clone(), runs.case.repository("a"), deletion)]);
    // The deletion cancelled a run, and the writers of that run may not have noticed the cancellation yet.
    store.swept(&list, 1003, 1000).await?;
    expect_eq!(own(&runs, store.sweep_list(1003, 1000).await?), list);
    store.swept(&list, 1004, 1000).await?;
    expect_eq!(own(&runs, store.sweep_list(9000, 0).await?), SweepList::default());
    let view = store.view().await?;
    ensure!(view.sees_repository(runs.case.repository("a")), "a removed repository is still hidden");
    ensure!(!view.hidden.contains(&aborted.generation), "a removed generation is still hidden");
    expect_kind!(store.run(first).await, NotFound);
    expect_eq!(runs.published_now("a").await?, None);
    runs.register(&["a"]).await?;
    let again = runs.publish("a", None, 10).await?;
    ensure!(again.generation > deletion, "a generation number was used again");
    expect_eq!(runs.published_now("a").await?, Some(again.generation));
    Ok(())
}

pub(super) async fn syncing_and_running_repositories_are_in_progress(store: &dyn RunStore) -> Result<()> {
    let runs = RunFixture::new(store, "at-work");
    runs.register(&["a", "b", "c"]).await?;
    let [a, b, c] = ["a", "b", "c"].map(|name| runs.case.repository(name));
    runs.publish("a", None, 0).await?;
    // Other checks use the same store at the same time, so only the repositories of this check are compared.
    let at_work = async |now_ms| {
        let mut all = store.at_work(now_ms).await?;
        all.retain(|repository| [a, b, c].contains(repository));
        anyhow::Ok(all.into_iter().collect::<Vec<_>>())
    };
    expect_eq!(at_work(1).await?, []);
    let running = runs.begin("b", None, &[part(StageName::Parse, 0)], 2).await?;
    let lease = store.lease(c, 10, 1000).await?;
    let mut both = [b, c];
    both.sort_unstable();
    expect_eq!(at_work(500).await?, both);
    store.abort(running, RunState::Cancelled, "by a person", 600).await?;
    expect_eq!(at_work(1009).await?, [c]);
    expect_eq!(at_work(1010).await?, []);
    store.renew(lease, 1010, 1000, SyncProgress::default()).await?;
    expect_eq!(at_work(1011).await?, [c]);
    store.renew(lease, 1012, 0, SyncProgress::default()).await?;
    expect_eq!(at_work(1013).await?, []);
    Ok(())
}

pub(super) async fn manifests_live_as_long_as_a_view_may_see_them(store: &dyn RunStore) -> Result<()> {
    let runs = RunFixture::new(store, "manifests");
    runs.register(&["a", "b"]).await?;
    let first = runs.publish("a", None, 1000).await?;
    let second = runs.publish("a", Some(first), 2000).await?;
    let doomed = runs.publish("b", None, 2000).await?;
    store.delete(runs.case.repository("b"), 2050).await?;
    let aborted = runs.begin("a", Some(second), &[], 2100).await?;
    store.abort(aborted, RunState::Cancelled, "by a person", 2200).await?;
    let running = runs.begin("a", Some(second), &[part(StageName::Parse, 0)], 2300).await?;
    let [first, second, doomed] = [first, second, doomed].map(|run| runs.publication(run, 0).manifest);
    let [planned, cancelled] = [2300, 2100].map(|now_ms| runs.artifact(&format!("planned/a/{now_ms}")));
    // Other checks use the same store at the same time, so only the manifests of this tenant are compared.
    let live = async |now_ms| {
        let all = store.live_manifests(now_ms, 500).await?;
        let own = all.into_iter().filter(|(tenant, _)| *tenant == runs.case.tenant);
        anyhow::Ok(own.map(|(_, manifest)| manifest).collect::<Vec<_>>())
    };
    let within = live(2499).await?;
    let plan = runs.artifact("plans/a/2300");
    for manifest in [&first, &second, &planned, &plan] {
        ensure!(within.contains(manifest), "the manifest {manifest:?} is not reported as live");
    }
    for manifest in [&doomed, &cancelled] {
        ensure!(!within.contains(manifest), "the manifest {manifest:?} is reported as live");
    }
    let after = live(2500).await?;
    ensure!(!after.contains(&first), "a manifest that no view can read is reported as live");
    ensure!(after.contains(&second) && after.contains(&planned), "the newest manifests are not reported as live");
    store.abort(running, RunState::Cancelled, "by a person", 2600).await?;
    ensure!(!live(2600).await?.contains(&planned), "the manifest of an aborted run is reported as live");
    Ok(())
}
