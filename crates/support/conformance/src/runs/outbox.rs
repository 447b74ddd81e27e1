//! Checks of the outbox, and of the window of a run: the maximum number of its parts that may be in progress.

use std::collections::BTreeSet;

use anyhow::{Result, ensure};
use cairn_domain::{PartEnd, PartId, RunId, StageName};
use cairn_ports::NewRun;

use crate::case::part;
use crate::runs::fixture::{RunFixture, RunStore};
use crate::suite::{expect_eq, expect_kind};

fn parse(count: u32) -> Vec<PartId> {
    (0..count).map(|number| part(StageName::Parse, number)).collect()
}

/// Begins a run with five parts, of which only two may be in progress at a time.
async fn begin_narrow(runs: &RunFixture<'_>) -> Result<RunId> {
    runs.register(&["a"]).await?;
    let lease = runs.lease("a", 0).await?;
    let run = NewRun { window: 2, ..runs.new_run("a", None, &parse(5), 0) };
    Ok(runs.store.begin(lease, run).await?)
}

/// The parts of the run that are in the outbox.
async fn unsent(runs: &RunFixture<'_>, run: RunId) -> Result<Vec<PartId>> {
    let all = runs.store.unsent(i64::MAX, usize::MAX).await?;
    Ok(all.into_iter().find(|(record, _)| record.id == run).map(|(_, parts)| parts).unwrap_or_default())
}

pub(super) async fn window_bounds_parts_in_progress(store: &dyn RunStore) -> Result<()> {
    let runs = RunFixture::new(store, "window");
    let run = begin_narrow(&runs).await?;
    expect_eq!(store.ready(run).await?, parse(2));
    expect_eq!(runs.done(run, part(StageName::Parse, 1)).await?, [part(StageName::Parse, 2)]);
    expect_eq!(store.ready(run).await?, [part(StageName::Parse, 0), part(StageName::Parse, 2)]);
    Ok(())
}

pub(super) async fn outbox_keeps_unsent_jobs(store: &dyn RunStore) -> Result<()> {
    let runs = RunFixture::new(store, "outbox");
    let run = begin_narrow(&runs).await?;
    expect_eq!(unsent(&runs, run).await?, parse(2));
    store.sent(run, &parse(1)).await?;
    expect_eq!(unsent(&runs, run).await?, [part(StageName::Parse, 1)]);
    runs.done(run, part(StageName::Parse, 0)).await?;
    expect_eq!(unsent(&runs, run).await?, [part(StageName::Parse, 1), part(StageName::Parse, 2)]);
    store.sent(run, &parse(3)).await?;
    expect_eq!(unsent(&runs, run).await?, []);
    // If a run has just made progress, a worker may still be publishing the jobs of its parts, so `unsent`
    // does not return these parts.
    store.end_part(run, part(StageName::Parse, 1), PartEnd::Done, String::new(), 500).await?;
    let quiet = async |since_ms| {
        anyhow::Ok(store.unsent(since_ms, usize::MAX).await?.iter().any(|(record, _)| record.id == run))
    };
    expect_eq!((quiet(499).await?, quiet(500).await?), (false, true));
    let nobody = RunId { generation: cairn_domain::GenerationId(u64::MAX / 4), ..run };
    expect_kind!(store.sent(nobody, &parse(1)).await, NotFound);
    Ok(())
}

pub(super) async fn a_stalled_run_is_sent_again(store: &dyn RunStore) -> Result<()> {
    let (runs, nothing) = (RunFixture::new(store, "stalled"), BTreeSet::new());
    let run = begin_narrow(&runs).await?;
    store.sent(run, &parse(2)).await?;
    store.end_part(run, part(StageName::Parse, 0), PartEnd::Done, String::new(), 100).await?;
    store.sent(run, &parse(3)).await?;
    store.send_again(&nothing, 199, 100).await?;
    expect_eq!(unsent(&runs, run).await?, []);
    ensure!(
        store.in_flight().await?.get(&StageName::Parse).is_some_and(|count| *count >= 2),
        "fewer than two parts are in flight"
    );
    store.send_again(&BTreeSet::from([StageName::Parse]), 200, 100).await?;
    expect_eq!(unsent(&runs, run).await?, []);
    ensure!(store.send_again(&nothing, 200, 100).await? >= 1, "`send_again` did not report the stalled run");
    expect_eq!(unsent(&runs, run).await?, [part(StageName::Parse, 1), part(StageName::Parse, 2)]);
    Ok(())
}
