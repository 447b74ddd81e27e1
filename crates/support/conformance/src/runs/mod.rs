//! The suite of the catalogue and the run ledger, which share the state of runs and are therefore one subject.

mod catalogue;
mod faults;
mod ledger;
mod outbox;
mod requests;
mod sweep;

use anyhow::{Context, Result};
use cairn_domain::{
    ArtifactRef, GenerationId, Lane, PartEnd, PartId, RepositoryName, RunId, RunState, Source, StageName, SyncProgress,
};
use cairn_ports::{
    Catalogue, CatalogueSweep, Lease, Ledger, LedgerRead, NewRun, Outbox, PublishedGeneration, RepositoryRecord,
    Requests,
};
use cairn_wire::RunResult;

pub use faults::faults;

use crate::Case;
use crate::case::part;
use crate::suite::{Check, checks};

/// What keeps runs: the ports over one state.
pub trait RunStore: Catalogue + CatalogueSweep + Ledger + LedgerRead + Outbox + Requests {}

impl<T: Catalogue + CatalogueSweep + Ledger + LedgerRead + Outbox + Requests> RunStore for T {}

pub fn checks() -> Vec<Check<dyn RunStore>> {
    use {catalogue::*, ledger::*, outbox::*, requests::*, sweep::*};
    checks![
        repositories_are_listed_by_name_and_scope,
        registering_again_updates,
        a_run_is_invisible_until_it_is_published,
        views_taken_earlier_stay_as_they_are,
        a_view_comes_back_by_its_seq,
        unpublished_generations_are_hidden,
        publishing_is_guarded,
        a_deleted_repository_is_hidden_at_once,
        deleting_cancels_the_unfinished_run,
        indexing_again_during_a_deletion_is_safe,
        a_lease_has_one_holder,
        beginning_is_guarded,
        parts_start_when_their_predecessors_have_ended,
        the_first_end_of_a_part_stands,
        exactly_one_end_sees_the_last_part,
        a_worker_is_told_how_things_stand,
        a_finished_run_takes_no_ends,
        runs_are_recorded,
        a_window_bounds_what_may_be_worked_on,
        the_outbox_keeps_what_was_not_sent,
        a_stalled_run_is_sent_again,
        a_request_is_dispatched_once_and_answered,
        what_is_due_is_told_from_what_a_person_asks,
        what_the_broker_has_is_not_dispatched_again_soon,
        what_is_asked_meanwhile_is_done_afterwards,
        what_is_cancelled_begins_no_run,
        a_sync_between_two_attempts_takes_no_room,
        interactive_requests_are_dispatched_first_and_in_bounds,
        published_generations_are_swept_after_the_grace_period,
        aborted_generations_are_hidden_until_they_are_swept,
        a_deleted_repository_is_forgotten_when_swept,
        manifests_live_as_long_as_a_view_may_see_them,
        whoever_syncs_or_runs_is_at_work,
    ]
}

/// A case with its store.
struct RunFixture<'a> {
    store: &'a dyn RunStore,
    case: Case,
}

impl<'a> RunFixture<'a> {
    fn new(store: &'a dyn RunStore, check: &str) -> Self {
        Self { store, case: Case::new(check) }
    }

    fn record(&self, name: &str) -> RepositoryRecord {
        RepositoryRecord {
            id: self.case.repository(name),
            tenant: self.case.tenant.clone(),
            name: RepositoryName::new(name),
            source: Source::Bare { path: format!("repositories/{name}") },
            branch: None,
            settings: "{}".to_owned(),
            aliases: Vec::new(),
            hosted: None,
            last_sync: None,
            pending_sync: None,
        }
    }

    async fn register(&self, names: &[&str]) -> Result<()> {
        for name in names {
            self.store.register(self.record(name)).await?;
        }
        Ok(())
    }

    /// As its record has it.
    async fn pending_sync(&self, name: &str) -> Result<Option<SyncProgress>> {
        let records = self.store.repositories(&self.case.scope()).await?;
        let record = records.into_iter().find(|record| record.name.as_str() == name);
        Ok(record.context("it is not there")?.pending_sync)
    }

    async fn lease(&self, name: &str, now_ms: i64) -> Result<Lease> {
        Ok(self.store.lease(self.case.repository(name), now_ms, 1000).await?)
    }

    fn new_run(&self, name: &str, previous: Option<RunId>, parts: &[PartId], now_ms: i64) -> NewRun {
        NewRun {
            repository: self.case.repository(name),
            previous: previous.map(|run| run.generation),
            manifest: self.artifact(&format!("planned/{name}/{now_ms}")),
            plan: self.artifact(&format!("plans/{name}/{now_ms}")),
            parts: parts.to_vec(),
            lane: Lane::Bulk,
            window: 1000,
            revision: format!("revision-{now_ms}"),
            branch: Some("trunk".to_owned()),
            result: RunResult { repository: name.to_owned(), ..RunResult::default() },
            started_at_ms: now_ms,
        }
    }

    /// Begins a run under a lease that ends with it.
    async fn begin(&self, name: &str, previous: Option<RunId>, parts: &[PartId], now_ms: i64) -> Result<RunId> {
        let lease = self.lease(name, now_ms).await?;
        let run = self.store.begin(lease, self.new_run(name, previous, parts, now_ms)).await?;
        self.store.renew(lease, now_ms, 0, SyncProgress::default()).await?;
        Ok(run)
    }

    fn publication(&self, run: RunId, now_ms: i64) -> PublishedGeneration {
        PublishedGeneration {
            run,
            seq: Default::default(),
            manifest: self.artifact(&format!("manifests/{}", run.generation)),
            revision: format!("revision of {}", run.generation),
            branch: Some("trunk".to_owned()),
            indexed_at_ms: now_ms,
            state: RunState::Published,
            result: RunResult { chunks: run.generation.0, ..RunResult::default() },
            model: "model-1".to_owned(),
        }
    }

    /// RunFixture from lease to publication, with nothing to do in between.
    async fn publish(&self, name: &str, previous: Option<RunId>, now_ms: i64) -> Result<RunId> {
        let run = self.begin(name, previous, &[part(StageName::Publish, 0)], now_ms).await?;
        self.store.publish(self.publication(run, now_ms)).await?;
        Ok(run)
    }

    /// A claim check that no other case has.
    fn artifact(&self, key: &str) -> ArtifactRef {
        ArtifactRef { key: format!("{}/{key}", self.case.tenant), size_bytes: key.len() as u64, hash: [7; 32] }
    }

    async fn done(&self, run: RunId, part: PartId) -> Result<Vec<PartId>> {
        Ok(self.store.end_part(run, part, PartEnd::Done, String::new(), 0).await?)
    }

    /// The generation of a repository that is published now.
    async fn published_now(&self, name: &str) -> Result<Option<GenerationId>> {
        let view = self.store.view().await?;
        let published = self.store.published(&view, self.case.repository(name)).await?;
        Ok(published.map(|published| published.run.generation))
    }
}
