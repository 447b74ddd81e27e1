//! Checks of the ledger: leases, the parts of a plan, and the records of runs.

use anyhow::{Context, Result, ensure};
use cairn_domain::{FailureCode, Lane, PartEnd, PartId, RunState, StageName, SyncProgress};
use cairn_ports::{Lease, PartRecord, PartStatus};
use futures::future::join_all;

use crate::case::part;
use crate::runs::fixture::{RunFixture, RunStore};
use crate::suite::{expect_eq, expect_kind};

pub(super) async fn a_lease_has_one_holder(store: &dyn RunStore) -> Result<()> {
    let runs = RunFixture::new(store, "lease");
    runs.register(&["a", "b"]).await?;
    let (a, b) = (runs.case.repository("a"), runs.case.repository("b"));
    expect_kind!(store.lease(runs.case.repository("nobody"), 1000, 60).await, NotFound);
    let first = store.lease(a, 1000, 60).await?;
    expect_kind!(store.lease(a, 1059, 60).await, Conflict);
    store.lease(b, 1059, 60).await?;
    store.renew(first, 1050, 60, SyncProgress::default()).await?;
    expect_kind!(store.lease(a, 1100, 60).await, Conflict);
    let second = store.lease(a, 1110, 60).await?;
    ensure!(second.epoch > first.epoch, "the epoch did not increase: {first:?}, {second:?}");
    expect_kind!(store.renew(first, 1111, 60, SyncProgress::default()).await, Conflict);
    store.renew(second, 1111, 0, SyncProgress::default()).await?;
    expect_kind!(store.renew(second, 1112, 60, SyncProgress::default()).await, Conflict);
    let third = store.lease(a, 1112, 60).await?;
    ensure!(third.epoch > second.epoch, "the epoch did not increase: {second:?}, {third:?}");
    let progress = SyncProgress { fetched_bytes: 1 << 33, num_files_read: 12 };
    store.renew(third, 1113, 60, progress).await?;
    expect_eq!(runs.pending_sync("a").await?, None);
    store.ask(a, Lane::Bulk, false, 1114).await?;
    expect_eq!(runs.pending_sync("a").await?, Some(progress));
    store.renew(third, 1115, 0, progress).await?;
    expect_eq!(runs.pending_sync("a").await?, Some(SyncProgress::default()));
    let takers = join_all((0..8).map(|_| store.lease(a, 5000, 60))).await;
    expect_eq!(takers.into_iter().filter(Result::is_ok).count(), 1);
    Ok(())
}

pub(super) async fn beginning_is_guarded(store: &dyn RunStore) -> Result<()> {
    let runs = RunFixture::new(store, "begin");
    runs.register(&["a"]).await?;
    let stale = runs.lease("a", 0).await?;
    let lease = runs.lease("a", 5000).await?;
    let new_run = |previous| runs.new_run("a", previous, &[part(StageName::Publish, 0)], 5000);
    expect_kind!(store.begin(stale, new_run(None)).await, Conflict);
    let never = Lease { epoch: lease.epoch + 1, ..lease };
    expect_kind!(store.begin(never, new_run(None)).await, Conflict);
    expect_kind!(store.begin(lease, new_run(Some(runs.case.run("a", 1 << 40)))).await, Conflict);
    let first = store.begin(lease, new_run(None)).await?;
    expect_kind!(store.begin(lease, new_run(None)).await, Conflict);
    store.publish(runs.publication(first, 5001)).await?;
    expect_kind!(store.begin(lease, new_run(None)).await, Conflict);
    let second = store.begin(lease, new_run(Some(first))).await?;
    ensure!(second.generation > first.generation, "generation numbers do not increase");
    let unknown = Lease { repository: runs.case.repository("nobody"), ..lease };
    expect_kind!(store.begin(unknown, runs.new_run("nobody", None, &[], 0)).await, NotFound);
    Ok(())
}

fn plan() -> Vec<PartId> {
    use StageName::{Aggregate, Embed, EmbedPatterns, Link, Parse, Publish};
    let stages = [(Parse, 2), (Embed, 3), (Link, 1), (Aggregate, 1), (EmbedPatterns, 1), (Publish, 1)];
    stages.into_iter().flat_map(|(stage, count)| (0..count).map(move |number| part(stage, number))).collect()
}

pub(super) async fn parts_start_when_their_predecessors_have_ended(store: &dyn RunStore) -> Result<()> {
    use StageName::{Aggregate, Embed, EmbedPatterns, Link, Parse, Publish};
    let runs = RunFixture::new(store, "parts");
    runs.register(&["a"]).await?;
    let run = runs.begin("a", None, &plan(), 0).await?;
    expect_eq!(store.ready(run).await?, [part(Parse, 0), part(Parse, 1)]);
    expect_eq!(runs.done(run, part(Parse, 1)).await?, []);
    expect_eq!(store.ready(run).await?, [part(Parse, 0)]);
    let failed = PartEnd::Failed { code: FailureCode::Corrupt, message: "a torn pack".to_owned() };
    let after_parse = [part(Embed, 0), part(Embed, 1), part(Embed, 2), part(Link, 0), part(Aggregate, 0)];
    expect_eq!(store.end_part(run, part(Parse, 0), failed, String::new(), 0).await?, after_parse);
    expect_eq!(store.ready(run).await?, after_parse);
    expect_eq!(runs.done(run, part(Aggregate, 0)).await?, [part(EmbedPatterns, 0)]);
    for earlier in [part(Embed, 2), part(Embed, 0), part(Link, 0), part(EmbedPatterns, 0)] {
        expect_eq!(runs.done(run, earlier).await?, []);
    }
    expect_eq!(store.ready(run).await?, [part(Embed, 1)]);
    expect_eq!(runs.done(run, part(Embed, 1)).await?, [part(Publish, 0)]);
    store.publish(runs.publication(run, 1)).await?;
    expect_eq!(store.ready(run).await?, []);
    Ok(())
}

pub(super) async fn first_end_of_a_part_is_kept(store: &dyn RunStore) -> Result<()> {
    let runs = RunFixture::new(store, "first-end");
    runs.register(&["a"]).await?;
    let (parse, link) = (part(StageName::Parse, 0), part(StageName::Link, 0));
    let run = runs.begin("a", None, &[parse, link], 0).await?;
    let failed = PartEnd::Failed { code: FailureCode::Crash, message: "died twice".to_owned() };
    expect_eq!(store.end_part(run, parse, failed.clone(), "{\"a\":1}".to_owned(), 0).await?, [link]);
    expect_eq!(store.end_part(run, parse, PartEnd::Done, "{\"a\":2}".to_owned(), 0).await?, []);
    let open = PartRecord { id: link, end: None, report: String::new() };
    let ended = PartRecord { id: parse, end: Some(failed), report: "{\"a\":1}".to_owned() };
    expect_eq!(store.parts(run).await?, [ended, open]);
    expect_kind!(runs.store.end_part(run, part(StageName::Parse, 7), PartEnd::Done, String::new(), 0).await, NotFound);
    Ok(())
}

pub(super) async fn worker_reads_the_status_of_a_part(store: &dyn RunStore) -> Result<()> {
    let runs = RunFixture::new(store, "status");
    runs.register(&["a"]).await?;
    let parse = part(StageName::Parse, 0);
    let aborted = runs.begin("a", None, &[parse], 0).await?;
    store.abort(aborted, RunState::Failed, "no", 1).await?;
    let run = runs.begin("a", None, &[parse, part(StageName::Publish, 0)], 2).await?;
    let status = |is_ended| PartStatus { state: RunState::Running, is_ended, aborted: [aborted.generation].into() };
    expect_eq!(store.part_status(run, parse).await?, status(false));
    runs.done(run, parse).await?;
    expect_eq!(store.part_status(run, parse).await?, status(true));
    expect_eq!(store.part_status(aborted, parse).await?.state, RunState::Failed);
    expect_kind!(store.part_status(runs.case.run("a", 1 << 40), parse).await, NotFound);
    Ok(())
}

pub(super) async fn exactly_one_end_sees_the_last_part(store: &dyn RunStore) -> Result<()> {
    let runs = RunFixture::new(store, "race");
    runs.register(&["a"]).await?;
    let mut previous = None;
    for round in 0..5 {
        let mut parts: Vec<PartId> = (0..12).map(|number| part(StageName::Parse, number)).collect();
        let successors = [part(StageName::Retire, 0), part(StageName::Link, 0)];
        parts.extend(successors);
        let run = runs.begin("a", previous, &parts, round).await?;
        // For every parse part, two concurrent workers report the end.
        let ends = (0..24).map(|number| runs.done(run, part(StageName::Parse, number % 12)));
        let started: Vec<Vec<PartId>> = join_all(ends).await.into_iter().collect::<Result<_>>()?;
        expect_eq!(started.concat(), successors);
        for successor in successors {
            runs.done(run, successor).await?;
        }
        store.publish(runs.publication(run, round)).await?;
        previous = Some(run);
    }
    Ok(())
}

pub(super) async fn a_finished_run_takes_no_ends(store: &dyn RunStore) -> Result<()> {
    let runs = RunFixture::new(store, "finished");
    runs.register(&["a"]).await?;
    let parse = part(StageName::Parse, 0);
    let aborted = runs.begin("a", None, &[parse], 0).await?;
    expect_kind!(store.abort(aborted, RunState::Published, "", 1).await, Invalid);
    store.abort(aborted, RunState::Failed, "invalid_settings", 1).await?;
    expect_kind!(store.end_part(aborted, parse, PartEnd::Done, String::new(), 0).await, Conflict);
    expect_eq!(store.ready(aborted).await?, []);
    expect_kind!(store.abort(aborted, RunState::Cancelled, "again", 2).await, Conflict);
    expect_eq!(store.run(aborted).await?.message.as_deref(), Some("invalid_settings"));
    // The sync that began the run is recorded with the failure of the run.
    let record = store.repositories(&runs.case.scope()).await?.pop().context("no repository")?;
    let failure = Some((cairn_domain::FailureCode::InvalidSettings, String::new()));
    expect_eq!(record.last_sync.map(|sync| (sync.at_ms, sync.failure)), Some((1, failure)));
    let nobody = runs.case.run("nobody", 1 << 40);
    expect_kind!(store.end_part(nobody, parse, PartEnd::Done, String::new(), 0).await, NotFound);
    expect_kind!(store.abort(nobody, RunState::Failed, "", 0).await, NotFound);
    expect_kind!(store.run(nobody).await, NotFound);
    Ok(())
}

pub(super) async fn runs_are_recorded(store: &dyn RunStore) -> Result<()> {
    let runs = RunFixture::new(store, "record");
    runs.register(&["a", "b"]).await?;
    let parts = [part(StageName::Parse, 0), part(StageName::Parse, 1), part(StageName::Publish, 0)];
    let first = runs.begin("a", None, &parts, 100).await?;
    runs.done(first, parts[0]).await?;
    let failed = PartEnd::Failed { code: FailureCode::Corrupt, message: String::new() };
    store.end_part(first, parts[1], failed, String::new(), 0).await?;
    let record = store.run(first).await?;
    let planned = runs.new_run("a", None, &parts, 100);
    expect_eq!((record.num_parts, record.num_ended, record.num_failed), (3, 2, 1));
    expect_eq!((record.state, record.ended_at_ms, record.previous), (RunState::Running, None, None));
    expect_eq!((&record.manifest, &record.plan, &record.result), (&planned.manifest, &planned.plan, &planned.result));
    expect_eq!((&record.revision, &record.branch), (&planned.revision, &planned.branch));
    store.publish(runs.publication(first, 150)).await?;
    let record = store.run(first).await?;
    expect_eq!((record.state, record.started_at_ms, record.ended_at_ms), (RunState::Published, 100, Some(150)));
    expect_eq!(record.result, runs.publication(first, 150).result);

    let second = runs.begin("a", Some(first), &[], 200).await?;
    let other = runs.begin("b", None, &[], 300).await?;
    expect_eq!(store.run(second).await?.previous, Some(first.generation));
    let ids = |records: Vec<cairn_ports::RunRecord>| records.into_iter().map(|run| run.id).collect::<Vec<_>>();
    expect_eq!(ids(store.runs(Some(runs.case.repository("a")), 10).await?), [second, first]);
    expect_eq!(ids(store.runs(Some(runs.case.repository("a")), 1).await?), [second]);
    expect_eq!(ids(store.runs(None, 3).await?)[..2], [other, second]);
    let (a, b, nobody) = (runs.case.repository("a"), runs.case.repository("b"), runs.case.repository("nobody"));
    expect_eq!(ids(store.runs_of(&[a, nobody, b], 1, 9).await?), [other, second]);
    expect_eq!(ids(store.runs_of(&[b, a], 2, 9).await?), [other, second, first]);
    expect_eq!(ids(store.runs_of(&[b, a], 2, 2).await?), [other, second]);
    expect_eq!(ids(store.runs_of(&[b], 9, 9).await?), [other]);
    expect_eq!(ids(store.runs_of(&[], 9, 9).await?), []);
    let mut unfinished = ids(store.unfinished().await?);
    unfinished.retain(|run| [first, second, other].contains(run));
    expect_eq!(unfinished, [second, other]);
    Ok(())
}
