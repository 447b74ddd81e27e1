//! Checks of sync requests.

use anyhow::{Context, Result, ensure};
use cairn_domain::{Lane, SyncProgress};
use cairn_ports::{HANDED_OVER_WITHIN_MS, SyncRequest};

use crate::runs::fixture::{RunFixture, RunStore};
use crate::suite::{expect_eq, expect_kind};

const AGAIN_AFTER_MS: i64 = 1000;

/// Dispatches without a limit, and returns the requests of this check. The requests of other checks may also
/// be dispatched, but each check uses only its own repositories.
async fn dispatch(runs: &RunFixture<'_>, now_ms: i64) -> Result<Vec<SyncRequest>> {
    let all = runs.store.dispatch(usize::MAX, now_ms, AGAIN_AFTER_MS).await?;
    Ok(all.into_iter().filter(|request| request.job.tenant == runs.case.tenant).collect())
}

pub(super) async fn a_request_is_dispatched_once_and_answered(store: &dyn RunStore) -> Result<()> {
    let runs = RunFixture::new(store, "request");
    let a = runs.case.repository("a");
    expect_kind!(store.ask(a, Lane::Bulk, false, 0).await, NotFound);
    runs.register(&["a"]).await?;
    let number = store.ask(a, Lane::Bulk, false, 0).await?;
    expect_eq!(store.ask(a, Lane::Interactive, true, 1).await?, number);
    let is_pending = async || anyhow::Ok(runs.pending_sync("a").await?.is_some());
    expect_eq!(is_pending().await?, true);
    let request = dispatch(&runs, 2).await?.pop().context("no request was dispatched")?;
    expect_eq!((request.job.repository, request.job.request), (a, number));
    expect_eq!((request.lane, request.rebuild), (Lane::Interactive, true));
    expect_eq!(dispatch(&runs, 3).await?, []);
    expect_eq!(store.asked(a, number).await?, Some(request));
    // No worker has started the sync, so it is dispatched again.
    expect_eq!(dispatch(&runs, 2 + AGAIN_AFTER_MS).await?.len(), 1);
    expect_eq!(is_pending().await?, true);
    let failure = Some((cairn_domain::FailureCode::Forbidden, "no key".to_owned()));
    store.answer(a, number, failure.clone(), 50).await?;
    expect_eq!(is_pending().await?, false);
    expect_eq!(store.asked(a, number).await?, None);
    expect_eq!(dispatch(&runs, 99_999).await?, []);
    let record = store.repositories(&runs.case.scope()).await?.pop().context("no repository")?;
    expect_eq!(record.last_sync.map(|sync| (sync.at_ms, sync.failure)), Some((50, failure)));
    store.answer(runs.case.repository("nowhere"), 1, None, 50).await?;
    Ok(())
}

pub(super) async fn scheduled_requests_differ_from_user_requests(store: &dyn RunStore) -> Result<()> {
    let runs = RunFixture::new(store, "schedule");
    let a = runs.case.repository("a");
    expect_kind!(store.schedule(a, 0).await, NotFound);
    runs.register(&["a"]).await?;
    let number = store.schedule(a, 0).await?;
    expect_eq!(store.schedule(a, 1).await?, number);
    let asked = async || store.asked(a, number).await?.context("no request is pending");
    expect_eq!((asked().await?.is_scheduled, asked().await?.lane), (true, Lane::Bulk));
    let request = dispatch(&runs, 2).await?.pop().context("no request was dispatched")?;
    ensure!(request.is_scheduled, "the scheduled request was returned as a request from a user");
    store.answer(a, number, None, 3).await?;
    let next = store.schedule(a, 4).await?;
    expect_eq!(store.ask(a, Lane::Interactive, false, 5).await?, next);
    let request = dispatch(&runs, 6).await?.pop().context("no request was dispatched")?;
    expect_eq!((request.is_scheduled, request.lane), (false, Lane::Interactive));
    Ok(())
}

pub(super) async fn dispatched_request_is_not_repeated_soon(store: &dyn RunStore) -> Result<()> {
    let runs = RunFixture::new(store, "handed over");
    let a = runs.case.repository("a");
    runs.register(&["a"]).await?;
    let number = store.ask(a, Lane::Bulk, false, 0).await?;
    let again_after_ms = 2 * HANDED_OVER_WITHIN_MS;
    let dispatch = async |now_ms: i64| {
        let all = store.dispatch(usize::MAX, now_ms, again_after_ms).await?;
        anyhow::Ok(all.into_iter().filter(|request| request.job.tenant == runs.case.tenant).count())
    };
    expect_eq!((dispatch(1).await?, dispatch(HANDED_OVER_WITHIN_MS).await?), (1, 0));
    // The request was not reported as dispatched, as if the process had died before it published the job.
    expect_eq!(dispatch(1 + HANDED_OVER_WITHIN_MS).await?, 1);
    store.dispatched(a, number).await?;
    expect_eq!(dispatch(1 + again_after_ms).await?, 0);
    expect_eq!(dispatch(1 + HANDED_OVER_WITHIN_MS + again_after_ms).await?, 1);
    store
        .dispatched(runs.case.repository("nowhere"), number)
        .await
        .context("an error was returned for a repository that does not exist")?;
    store.answer(a, number, None, 50).await?;
    Ok(())
}

pub(super) async fn sync_between_attempts_takes_no_capacity(store: &dyn RunStore) -> Result<()> {
    let runs = RunFixture::new(store, "postponed");
    let [away, other] = ["away", "other"].map(|name| runs.case.repository(name));
    runs.register(&["away", "other"]).await?;
    let number = store.ask(away, Lane::Bulk, false, 0).await?;
    expect_eq!(dispatch(&runs, 1).await?.len(), 1);
    store.dispatched(away, number).await?;
    // Finds the number of requests in progress: this sync, and unanswered requests of other checks. Later
    // calls use this number as their limit.
    let first = store.ask(other, Lane::Bulk, false, 2).await?;
    let mut taken = 0;
    while store.dispatch(taken + 1, 3, AGAIN_AFTER_MS).await?.is_empty() {
        taken += 1;
        ensure!(taken < 1_000, "the limit is never reached");
    }
    store.answer(other, first, None, 4).await?;
    let again = store.ask(other, Lane::Bulk, false, 5).await?;
    expect_eq!(store.dispatch(taken, 6, AGAIN_AFTER_MS).await?, []);
    let failure = (cairn_domain::FailureCode::Unavailable, "the host is unavailable".to_owned());
    let until_ms = 3 * AGAIN_AFTER_MS;
    store.postpone(away, number, failure.clone(), 7, until_ms).await?;
    let dispatched = store.dispatch(taken, 8, AGAIN_AFTER_MS).await?;
    expect_eq!(dispatched.iter().map(|request| request.job.request).collect::<Vec<_>>(), [again]);
    // The sync is still requested, the reason for the failure is reported, and no new job is dispatched yet.
    let records = store.repositories(&runs.case.scope()).await?;
    let record = records.into_iter().find(|record| record.id == away).context("the repository is not in the list")?;
    expect_eq!(record.last_sync.map(|sync| (sync.at_ms, sync.failure)), Some((7, Some(failure.clone()))));
    expect_eq!(record.pending_sync.is_some(), true);
    let lost = dispatch(&runs, until_ms).await?;
    expect_eq!(lost.iter().filter(|request| request.job.repository == away).count(), 0);
    store.postpone(runs.case.repository("nowhere"), 1, failure, 9, 10).await?;
    store.answer(away, number, None, 11).await?;
    store.answer(other, again, None, 11).await?;
    Ok(())
}

pub(super) async fn request_during_a_sync_is_served_afterwards(store: &dyn RunStore) -> Result<()> {
    let runs = RunFixture::new(store, "meanwhile");
    let a = runs.case.repository("a");
    runs.register(&["a"]).await?;
    let first = store.ask(a, Lane::Bulk, false, 0).await?;
    dispatch(&runs, 1).await?;
    let run = runs.begin("a", None, &[], 2).await?;
    let second = store.ask(a, Lane::Bulk, false, 3).await?;
    expect_eq!(second, first + 1);
    store.answer(a, first, None, 4).await?;
    // The second request is not dispatched while the run is unfinished.
    expect_eq!(dispatch(&runs, 5).await?, []);
    store.publish(runs.publication(run, 6)).await?;
    let dispatched = dispatch(&runs, 7).await?;
    expect_eq!(dispatched.iter().map(|request| request.job.request).collect::<Vec<_>>(), [second]);
    store.answer(a, second, None, 8).await?;
    store.ask(a, Lane::Bulk, false, 9).await?;
    store.delete(a, 10).await?;
    expect_eq!(dispatch(&runs, 11).await?, []);
    Ok(())
}

pub(super) async fn cancelled_request_begins_no_run(store: &dyn RunStore) -> Result<()> {
    let runs = RunFixture::new(store, "cancelled");
    let id = |name: &str| runs.case.repository(name);
    runs.register(&["idle", "waiting", "working"]).await?;
    store.ask(id("waiting"), Lane::Bulk, false, 0).await?;
    let number = store.ask(id("working"), Lane::Bulk, false, 0).await?;
    dispatch(&runs, 1).await?;
    let lease = store.lease(id("working"), 2, 60_000).await?;
    let all = ["idle", "nowhere", "waiting", "working"].map(id);
    let mut cancelled = store.cancel(&all, "by a person", 3).await?;
    cancelled.sort();
    let mut expected = ["waiting", "working"].map(id);
    expected.sort();
    expect_eq!(cancelled, expected);
    expect_eq!(store.asked(id("working"), number).await?, None);
    expect_kind!(store.renew(lease, 4, 60_000, SyncProgress::default()).await, Conflict);
    expect_kind!(store.begin(lease, runs.new_run("working", None, &[], 4)).await, Conflict);
    expect_eq!(dispatch(&runs, 99_999).await?, []);
    expect_eq!(store.cancel(&[id("working")], "again", 5).await?, []);
    expect_eq!(store.cancel(&[id("nowhere")], "never", 5).await?, []);
    let failure = Some((cairn_domain::FailureCode::Cancelled, "by a person".to_owned()));
    for record in store.repositories(&runs.case.scope()).await? {
        let sync = record.last_sync.map(|sync| (sync.at_ms, sync.failure));
        expect_eq!(sync, (record.id != id("idle")).then(|| (3, failure.clone())));
    }
    // A new request after the cancellation is dispatched at once.
    store.ask(id("working"), Lane::Bulk, false, 6).await?;
    expect_eq!(dispatch(&runs, 7).await?.len(), 1);
    runs.begin("working", None, &[], 8).await?;
    Ok(())
}

pub(super) async fn interactive_requests_are_dispatched_first_and_in_bounds(store: &dyn RunStore) -> Result<()> {
    let runs = RunFixture::new(store, "lanes");
    runs.register(&["a", "b", "c"]).await?;
    for (name, lane, now_ms) in [("a", Lane::Bulk, 1), ("b", Lane::Bulk, 0), ("c", Lane::Interactive, 2)] {
        store.ask(runs.case.repository(name), lane, false, now_ms).await?;
    }
    expect_eq!(store.dispatch(0, 3, AGAIN_AFTER_MS).await?, []);
    let dispatched = dispatch(&runs, 3).await?;
    let order: Vec<_> = dispatched.iter().map(|request| request.job.repository).collect();
    expect_eq!(order, ["c", "b", "a"].map(|name| runs.case.repository(name)));
    Ok(())
}
