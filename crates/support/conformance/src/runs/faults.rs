//! Faults that a test plants in catalogues and ledgers. Each wrapper adds exactly one fault.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use cairn_domain::{
    ArtifactRef, FailureCode, GenerationId, Lane, PartEnd, PartId, PublishedSeq, RepositoryId, RunId, RunState, Scope,
    StageName, SyncProgress, Tenant, View,
};
use cairn_ports::{
    Catalogue, CatalogueError, CatalogueSweep, ErrorKind, Lease, Ledger, LedgerError, LedgerRead, MaySee, NewRun,
    Outbox, PartRecord, PartStatus, PostponedPart, PublishedGeneration, RepositoryRecord, Requests, RunRecord,
    SweepList, SyncRequest,
};

use crate::faulty::{Faulty, planted};
use crate::runs::fixture::RunStore;
use crate::suite::PlantedFault;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    LosesPublication,
    SeesStaged,
    SeesDeleted,
    OldViewSeesNew,
    IgnoresScope,
    ShowsEveryName,
    ListsBackwards,
    PublishesTwice,
    LeasesToAnyone,
    LosesEnds,
    ReportsReadyEachTime,
    ReportsNothing,
    LosesAborts,
    RunsOldestFirst,
    IgnoresGrace,
    ListsSweptAgain,
    ForgetsAtOnce,
    ForgetsManifests,
    RecallsTheNewest,
    ForgetsTheOutbox,
    SendsForEver,
    DispatchesTwice,
    ForgetsWhatWasDispatched,
    LosesPostponements,
    LosesAnswers,
    TakesTheScheduleForAPerson,
    CancelsTheAsking,
    DispatchesBackwards,
    WorksOnEndedParts,
    ForgetsWhatWasAborted,
    PublishedOfOne,
    LimitsAllTogether,
    LimitsEachAlone,
    TakesSyncsForIdle,
    LosesConflictsOfSettings,
    ListReplacesSettings,
}

const ALL: [(&str, Fault, &str); 36] = [
    ("loses a publication", Fault::LosesPublication, "a_run_is_invisible_until_it_is_published"),
    ("sees staged generations", Fault::SeesStaged, "unpublished_generations_are_hidden"),
    ("sees deleted repositories", Fault::SeesDeleted, "a_deleted_repository_is_hidden_at_once"),
    ("shows the newest generation in an old view", Fault::OldViewSeesNew, "a_run_is_invisible_until_it_is_published"),
    ("ignores the scope", Fault::IgnoresScope, "repositories_are_listed_by_name_and_scope"),
    ("shows names that the caller may not see", Fault::ShowsEveryName, "repositories_are_listed_by_name_and_scope"),
    ("lists repositories backwards", Fault::ListsBackwards, "repositories_are_listed_by_name_and_scope"),
    ("publishes again with a new sequence number", Fault::PublishesTwice, "publishing_is_guarded"),
    ("leases to anyone", Fault::LeasesToAnyone, "a_lease_has_one_holder"),
    ("does not record ends of parts", Fault::LosesEnds, "publishing_is_guarded"),
    (
        "reports ready parts again with each end",
        Fault::ReportsReadyEachTime,
        "parts_start_when_their_predecessors_have_ended",
    ),
    ("never reports ready parts", Fault::ReportsNothing, "parts_start_when_their_predecessors_have_ended"),
    ("loses aborts", Fault::LosesAborts, "publishing_is_guarded"),
    ("lists runs oldest first", Fault::RunsOldestFirst, "runs_are_recorded"),
    ("ignores the grace period", Fault::IgnoresGrace, "published_generations_are_swept_after_the_grace_period"),
    ("lists swept generations again", Fault::ListsSweptAgain, "published_generations_are_swept_after_the_grace_period"),
    (
        "no longer hides aborted generations after the first sweep",
        Fault::ForgetsAtOnce,
        "aborted_generations_are_hidden_until_they_are_swept",
    ),
    ("forgets live manifests", Fault::ForgetsManifests, "manifests_live_as_long_as_a_view_may_see_them"),
    ("returns the newest view instead of an earlier view", Fault::RecallsTheNewest, "a_view_comes_back_by_its_seq"),
    ("forgets the outbox", Fault::ForgetsTheOutbox, "outbox_keeps_unsent_jobs"),
    ("never removes a job from the outbox", Fault::SendsForEver, "outbox_keeps_unsent_jobs"),
    ("dispatches a request twice", Fault::DispatchesTwice, "a_request_is_dispatched_once_and_answered"),
    (
        "does not record that the broker has confirmed a job",
        Fault::ForgetsWhatWasDispatched,
        "dispatched_request_is_not_repeated_soon",
    ),
    ("forgets failed attempts", Fault::LosesPostponements, "sync_between_attempts_takes_no_capacity"),
    ("loses answers", Fault::LosesAnswers, "a_request_is_dispatched_once_and_answered"),
    (
        "treats scheduled requests as requests of a person",
        Fault::TakesTheScheduleForAPerson,
        "scheduled_requests_differ_from_user_requests",
    ),
    (
        "cancels the pending request but not the sync in progress",
        Fault::CancelsTheAsking,
        "cancelled_request_begins_no_run",
    ),
    (
        "dispatches the newest request first",
        Fault::DispatchesBackwards,
        "interactive_requests_are_dispatched_first_and_in_bounds",
    ),
    ("allows work on ended parts", Fault::WorksOnEndedParts, "worker_reads_the_status_of_a_part"),
    ("forgets aborted generations", Fault::ForgetsWhatWasAborted, "worker_reads_the_status_of_a_part"),
    ("reports the publication of one repository only", Fault::PublishedOfOne, "views_taken_earlier_stay_as_they_are"),
    ("limits the runs of all repositories together", Fault::LimitsAllTogether, "runs_are_recorded"),
    ("does not limit runs of several repositories", Fault::LimitsEachAlone, "runs_are_recorded"),
    (
        "reports that no repository is in progress",
        Fault::TakesSyncsForIdle,
        "syncing_and_running_repositories_are_in_progress",
    ),
    (
        "reports success when other settings were stored first",
        Fault::LosesConflictsOfSettings,
        "changed_settings_replace_only_the_expected_ones",
    ),
    ("a list replaces settings", Fault::ListReplacesSettings, "listed_repositories_keep_their_settings"),
];

pub fn faults() -> Vec<PlantedFault<dyn RunStore>> {
    planted(ALL, |faulty| Box::new(faulty))
}

#[async_trait]
impl Catalogue for Faulty<dyn RunStore, Fault> {
    async fn register(&self, repository: RepositoryRecord) -> Result<(), CatalogueError> {
        self.inner.register(repository).await
    }

    async fn register_listed(&self, repository: RepositoryRecord) -> Result<(), CatalogueError> {
        match self.fault {
            Fault::ListReplacesSettings => self.inner.register(repository).await,
            _ => self.inner.register_listed(repository).await,
        }
    }

    async fn change_settings(
        &self,
        repository: RepositoryId,
        expected: &str,
        settings: &str,
    ) -> Result<(), CatalogueError> {
        match (self.fault, self.inner.change_settings(repository, expected, settings).await) {
            (Fault::LosesConflictsOfSettings, Err(error)) if error.kind == ErrorKind::Conflict => Ok(()),
            (_, changed) => changed,
        }
    }

    async fn repositories(&self, scope: &Scope) -> Result<Vec<RepositoryRecord>, CatalogueError> {
        let all = Scope::all(scope.tenant.clone());
        let scope = if self.fault == Fault::IgnoresScope { &all } else { scope };
        let mut repositories = self.inner.repositories(scope).await?;
        if self.fault == Fault::ListsBackwards {
            repositories.reverse();
        }
        Ok(repositories)
    }

    async fn visible(&self, tenant: &Tenant, may_see: &MaySee<'_>) -> Result<Vec<RepositoryRecord>, CatalogueError> {
        match self.fault {
            Fault::ShowsEveryName => self.inner.visible(tenant, &|_| true).await,
            _ => self.inner.visible(tenant, may_see).await,
        }
    }

    async fn view(&self) -> Result<View, CatalogueError> {
        let mut view = self.inner.view().await?;
        match self.fault {
            Fault::SeesStaged => view.hidden.clear(),
            Fault::SeesDeleted => view.hidden_repositories.clear(),
            _ => {}
        }
        Ok(view)
    }

    async fn view_at(&self, seq: PublishedSeq) -> Result<Option<View>, CatalogueError> {
        match self.fault {
            Fault::RecallsTheNewest => Ok(Some(self.inner.view().await?)),
            _ => self.inner.view_at(seq).await,
        }
    }

    async fn published_of(
        &self,
        view: &View,
        repositories: &[RepositoryId],
    ) -> Result<Vec<PublishedGeneration>, CatalogueError> {
        let newest = self.inner.view().await?;
        let view = if self.fault == Fault::OldViewSeesNew { &newest } else { view };
        let mut published = self.inner.published_of(view, repositories).await?;
        if self.fault == Fault::PublishedOfOne {
            published.truncate(1);
        }
        Ok(published)
    }

    async fn publish(&self, published: PublishedGeneration) -> Result<PublishedSeq, CatalogueError> {
        if self.fault == Fault::LosesPublication {
            return Ok(PublishedSeq(self.inner.view().await?.seq.0 + 1));
        }
        let before = self.inner.view().await?.seq;
        let seq = self.inner.publish(published).await?;
        let is_again = self.inner.view().await?.seq == before;
        Ok(if self.fault == Fault::PublishesTwice && is_again { PublishedSeq(seq.0 + 1) } else { seq })
    }

    async fn delete(&self, repository: RepositoryId, now_ms: i64) -> Result<GenerationId, CatalogueError> {
        self.inner.delete(repository, now_ms).await
    }
}

#[async_trait]
impl CatalogueSweep for Faulty<dyn RunStore, Fault> {
    async fn sweep_list(&self, now_ms: i64, grace_ms: i64) -> Result<SweepList, CatalogueError> {
        let grace_ms = if self.fault == Fault::IgnoresGrace { 0 } else { grace_ms };
        self.inner.sweep_list(now_ms, grace_ms).await
    }

    async fn swept(&self, swept: &SweepList, now_ms: i64, grace_ms: i64) -> Result<(), CatalogueError> {
        match self.fault {
            Fault::ListsSweptAgain => Ok(()),
            Fault::ForgetsAtOnce => self.inner.swept(swept, i64::MAX, 0).await,
            _ => self.inner.swept(swept, now_ms, grace_ms).await,
        }
    }

    async fn at_work(&self, now_ms: i64) -> Result<BTreeSet<RepositoryId>, CatalogueError> {
        match self.fault {
            Fault::TakesSyncsForIdle => Ok(BTreeSet::new()),
            _ => self.inner.at_work(now_ms).await,
        }
    }

    async fn live_manifests(&self, now_ms: i64, grace_ms: i64) -> Result<Vec<(Tenant, ArtifactRef)>, CatalogueError> {
        let mut manifests = self.inner.live_manifests(now_ms, grace_ms).await?;
        if self.fault == Fault::ForgetsManifests {
            manifests.pop();
        }
        Ok(manifests)
    }
}

#[async_trait]
impl Ledger for Faulty<dyn RunStore, Fault> {
    async fn lease(&self, repository: RepositoryId, now_ms: i64, ttl_ms: i64) -> Result<Lease, LedgerError> {
        let leased = self.inner.lease(repository, now_ms, ttl_ms).await;
        match leased {
            Err(error) if self.fault == Fault::LeasesToAnyone && error.kind == ErrorKind::Conflict => {
                self.inner.lease(repository, i64::MAX / 2, ttl_ms).await
            }
            leased => leased,
        }
    }

    async fn renew(&self, lease: Lease, now_ms: i64, ttl_ms: i64, progress: SyncProgress) -> Result<(), LedgerError> {
        self.inner.renew(lease, now_ms, ttl_ms, progress).await
    }

    async fn begin(&self, lease: Lease, run: NewRun) -> Result<RunId, LedgerError> {
        self.inner.begin(lease, run).await
    }

    async fn end_part(
        &self,
        run: RunId,
        part: PartId,
        end: PartEnd,
        report: String,
        now_ms: i64,
    ) -> Result<Vec<PartId>, LedgerError> {
        if self.fault == Fault::LosesEnds {
            return Ok(Vec::new());
        }
        let started = self.inner.end_part(run, part, end, report, now_ms).await?;
        match self.fault {
            Fault::ReportsReadyEachTime => self.inner.ready(run).await,
            Fault::ReportsNothing => Ok(Vec::new()),
            _ => Ok(started),
        }
    }

    async fn ready(&self, run: RunId) -> Result<Vec<PartId>, LedgerError> {
        self.inner.ready(run).await
    }

    async fn abort(&self, run: RunId, state: RunState, message: &str, now_ms: i64) -> Result<(), LedgerError> {
        if self.fault == Fault::LosesAborts { Ok(()) } else { self.inner.abort(run, state, message, now_ms).await }
    }
}

#[async_trait]
impl LedgerRead for Faulty<dyn RunStore, Fault> {
    async fn run(&self, run: RunId) -> Result<RunRecord, LedgerError> {
        self.inner.run(run).await
    }

    async fn part_status(&self, run: RunId, part: PartId) -> Result<PartStatus, LedgerError> {
        let mut status = self.inner.part_status(run, part).await?;
        match self.fault {
            Fault::WorksOnEndedParts => status.is_ended = false,
            Fault::ForgetsWhatWasAborted => status.aborted.clear(),
            _ => {}
        }
        Ok(status)
    }

    async fn runs(&self, repository: Option<RepositoryId>, limit: usize) -> Result<Vec<RunRecord>, LedgerError> {
        let mut runs = self.inner.runs(repository, limit).await?;
        if self.fault == Fault::RunsOldestFirst {
            runs.reverse();
        }
        Ok(runs)
    }

    async fn runs_of(
        &self,
        repositories: &[RepositoryId],
        of_each: usize,
        in_all: usize,
    ) -> Result<Vec<RunRecord>, LedgerError> {
        match self.fault {
            Fault::LimitsAllTogether => self.inner.runs_of(repositories, of_each, of_each).await,
            Fault::LimitsEachAlone => self.inner.runs_of(repositories, of_each, usize::MAX).await,
            _ => self.inner.runs_of(repositories, of_each, in_all).await,
        }
    }

    async fn unfinished(&self) -> Result<Vec<RunRecord>, LedgerError> {
        self.inner.unfinished().await
    }

    async fn parts(&self, run: RunId) -> Result<Vec<PartRecord>, LedgerError> {
        self.inner.parts(run).await
    }
}

#[async_trait]
impl Outbox for Faulty<dyn RunStore, Fault> {
    async fn unsent(&self, quiet_since_ms: i64, limit: usize) -> Result<Vec<(RunRecord, Vec<PartId>)>, LedgerError> {
        if self.fault == Fault::ForgetsTheOutbox {
            Ok(Vec::new())
        } else {
            self.inner.unsent(quiet_since_ms, limit).await
        }
    }

    async fn sent(&self, run: RunId, parts: &[PartId]) -> Result<(), LedgerError> {
        if self.fault == Fault::SendsForEver { Ok(()) } else { self.inner.sent(run, parts).await }
    }

    async fn postponed(&self, run: RunId, postponed: PostponedPart) -> Result<(), LedgerError> {
        self.inner.postponed(run, postponed).await
    }

    async fn in_flight(&self) -> Result<BTreeMap<StageName, u64>, LedgerError> {
        self.inner.in_flight().await
    }

    async fn send_again(&self, held: &BTreeSet<StageName>, now_ms: i64, after_ms: i64) -> Result<u64, LedgerError> {
        self.inner.send_again(held, now_ms, after_ms).await
    }
}

#[async_trait]
impl Requests for Faulty<dyn RunStore, Fault> {
    async fn ask(&self, repository: RepositoryId, lane: Lane, rebuild: bool, now_ms: i64) -> Result<u64, LedgerError> {
        self.inner.ask(repository, lane, rebuild, now_ms).await
    }

    async fn schedule(&self, repository: RepositoryId, now_ms: i64) -> Result<u64, LedgerError> {
        match self.fault {
            Fault::TakesTheScheduleForAPerson => self.inner.ask(repository, Lane::Bulk, false, now_ms).await,
            _ => self.inner.schedule(repository, now_ms).await,
        }
    }

    async fn dispatch(
        &self,
        in_flight: usize,
        now_ms: i64,
        again_after_ms: i64,
    ) -> Result<Vec<SyncRequest>, LedgerError> {
        let again_after_ms = if self.fault == Fault::DispatchesTwice { 0 } else { again_after_ms };
        let mut requests = self.inner.dispatch(in_flight, now_ms, again_after_ms).await?;
        if self.fault == Fault::DispatchesBackwards {
            requests.reverse();
        }
        Ok(requests)
    }

    async fn dispatched(&self, repository: RepositoryId, request: u64) -> Result<(), LedgerError> {
        if self.fault == Fault::ForgetsWhatWasDispatched {
            Ok(())
        } else {
            self.inner.dispatched(repository, request).await
        }
    }

    async fn postpone(
        &self,
        repository: RepositoryId,
        request: u64,
        failure: (FailureCode, String),
        now_ms: i64,
        until_ms: i64,
    ) -> Result<(), LedgerError> {
        match self.fault {
            Fault::LosesPostponements => Ok(()),
            _ => self.inner.postpone(repository, request, failure, now_ms, until_ms).await,
        }
    }

    async fn asked(&self, repository: RepositoryId, request: u64) -> Result<Option<SyncRequest>, LedgerError> {
        self.inner.asked(repository, request).await
    }

    async fn answer(
        &self,
        repository: RepositoryId,
        request: u64,
        failure: Option<(FailureCode, String)>,
        now_ms: i64,
    ) -> Result<(), LedgerError> {
        match self.fault {
            Fault::LosesAnswers => Ok(()),
            _ => self.inner.answer(repository, request, failure, now_ms).await,
        }
    }

    async fn cancel(
        &self,
        repositories: &[RepositoryId],
        message: &str,
        now_ms: i64,
    ) -> Result<Vec<RepositoryId>, LedgerError> {
        if self.fault == Fault::CancelsTheAsking {
            // The fault: syncs that are already in progress continue.
            for repository in repositories {
                self.inner.answer(*repository, u64::MAX, None, now_ms).await?;
            }
            return Ok(repositories.to_vec());
        }
        self.inner.cancel(repositories, message, now_ms).await
    }
}
