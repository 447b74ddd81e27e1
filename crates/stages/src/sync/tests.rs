//! Tests of sync, with a source that counts how often its head is read and how often it is opened.

use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use cairn_config::{Ceilings, Operator};
use cairn_domain::{
    BlobId, EntryKind, Lane, ModelId, Outcome, PartEnd, PartId, PublishedSeq, Reason, RepoPath, RepositoryId,
    RepositoryName, Revision, RunId, RunState, Scope, Source, SyncProgress, Tenant,
};
use cairn_metastore::Metastore;
use cairn_pipeline::{Stage, Syncer, Task};
use cairn_ports::{
    Catalogue, ContentReader, ErrorClass, ErrorKind, FailureCode, Lease, Ledger, LedgerError, LedgerRead, NewRun,
    PublishedGeneration, ReadOptions, RepositoryRecord, Requests, SnapshotTree, SourceCache, SourceError, SourceReader,
    SyncMeter, TreeEntry,
};
use cairn_testkit::{ManualClock, MemoryBlobs, MemoryRuns};
use cairn_wire::SyncJob;

use super::{Sync, SyncRequest, SyncWorker, Synced};
use crate::publish::PublishStage;
use crate::{Artifacts, Toolchain};

/// A remote with one file. The content of the file is the number of the current commit.
#[derive(Default)]
struct Remote {
    commit: AtomicU64,
    num_heads: AtomicU64,
    num_opens: AtomicU64,
    is_unreadable: Mutex<bool>,
    is_away: AtomicBool,
    /// Whether the file changes between each listing and the read of its content.
    always_changes: AtomicBool,
    /// A function that runs while the remote is being opened.
    meanwhile: Mutex<Option<Meanwhile>>,
}

type Meanwhile = Box<dyn FnOnce() + Send>;

impl Remote {
    fn head(&self) -> BlobId {
        BlobId([self.commit.load(Ordering::SeqCst) as u8; 20])
    }

    /// Returns how often the head was read and the source was opened since the last call.
    fn counts(&self) -> (u64, u64) {
        (self.num_heads.swap(0, Ordering::SeqCst), self.num_opens.swap(0, Ordering::SeqCst))
    }

    fn is_unreadable(&self) -> std::sync::MutexGuard<'_, bool> {
        self.is_unreadable.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Tree {
    revision: Revision,
    entries: Vec<TreeEntry>,
    cache: SourceCache,
    always_changes: bool,
}

struct Content {
    always_changes: bool,
}

impl SourceReader for Remote {
    fn head(&self, _: &Source, _: &ReadOptions) -> Result<Option<BlobId>, SourceError> {
        self.num_heads.fetch_add(1, Ordering::SeqCst);
        Ok(Some(self.head()))
    }

    fn open(&self, _: &Source, _: &ReadOptions) -> Result<Box<dyn SnapshotTree>, SourceError> {
        if self.is_away.load(Ordering::SeqCst) {
            return Err(SourceError::new(ErrorKind::Unavailable, "fetch", "git.example"));
        }
        self.num_opens.fetch_add(1, Ordering::SeqCst);
        let meanwhile = self.meanwhile.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(meanwhile) = meanwhile {
            meanwhile();
        }
        let entry = TreeEntry {
            path: RepoPath::parse("a.py").expect("a path"),
            kind: EntryKind::File,
            blob: self.head(),
            size_bytes: 6,
            unreadable: self.is_unreadable().then(|| "permission denied".to_owned()),
            changed_at: None,
        };
        let (revision, cache) = (Revision::Commit(self.head()), SourceCache::default());
        let always_changes = self.always_changes.load(Ordering::SeqCst);
        Ok(Box::new(Tree { revision, entries: vec![entry], cache, always_changes }))
    }
}

impl SnapshotTree for Tree {
    fn revision(&self) -> &Revision {
        &self.revision
    }

    fn branch(&self) -> Option<&str> {
        Some("main")
    }

    fn entries(&self) -> &[TreeEntry] {
        &self.entries
    }

    fn reader(&self) -> Result<Box<dyn ContentReader>, SourceError> {
        Ok(Box::new(Content { always_changes: self.always_changes }))
    }

    fn cache(&self) -> &SourceCache {
        &self.cache
    }
}

impl ContentReader for Content {
    fn read(&mut self, entry: &TreeEntry) -> Result<Vec<u8>, SourceError> {
        if self.always_changes {
            return Err(SourceError::new(ErrorKind::Conflict, "read", entry.path.as_str()));
        }
        Ok(format!("x = {}\n", entry.blob.0[0]).into_bytes())
    }
}

pub(super) struct World {
    remote: Arc<Remote>,
    pub(super) runs: Arc<Metastore>,
    pub(super) sync: Sync,
    pub(super) record: RepositoryRecord,
}

impl World {
    pub(super) async fn new() -> Self {
        let remote = Arc::new(Remote::default());
        let runs = Arc::new(Metastore::new(Arc::new(MemoryRuns::new())));
        let (tenant, name) = (Tenant::new("acme"), RepositoryName::new("git.example/acme/shop"));
        let source = Source::Url { url: "https://git.example/acme/shop".to_owned() };
        let record = RepositoryRecord::new(tenant, name, source);
        runs.register(record.clone()).await.expect("registered");
        let sync = Sync {
            artifacts: Artifacts::new(Arc::new(MemoryBlobs::default())),
            catalogue: runs.clone(),
            ledger: runs.clone(),
            source: remote.clone(),
            clock: Arc::new(ManualClock::default()),
            operator: Arc::new(Operator::default()),
            tools: Toolchain { model: ModelId { name: "m".to_owned(), dimensions: 4 } },
            num_threads: 1,
            lease_ms: 60_000,
            window: 8,
        };
        Self { remote, runs, sync, record }
    }

    pub(super) fn request(&self, rebuild: bool) -> SyncRequest {
        let (repository, cache, meter) = (self.record.clone(), SourceCache::default(), Arc::default());
        SyncRequest { repository, cache, rebuild, lane: Lane::Bulk, meter }
    }

    async fn synced(&self, rebuild: bool) -> Option<RunId> {
        match self.sync.run(self.request(rebuild)).await.expect("synced") {
            Synced::Unchanged { .. } => None,
            Synced::Begun { run, .. } => Some(run),
        }
    }

    /// Syncs the repository, and publishes the run.
    pub(super) async fn publish(&self, rebuild: bool, state: RunState) {
        let run = self.synced(rebuild).await.expect("a run");
        loop {
            let ready = self.runs.ready(run).await.expect("parts");
            if ready.is_empty() {
                break;
            }
            for part in ready {
                self.runs.end_part(run, part, PartEnd::Done, String::new(), 1).await.expect("ended");
            }
        }
        let record = self.runs.run(run).await.expect("the run");
        let publication = PublishedGeneration {
            run,
            seq: PublishedSeq(0),
            manifest: record.manifest,
            revision: record.revision,
            branch: record.branch,
            indexed_at_ms: 1,
            state,
            result: record.result,
            model: "m".to_owned(),
        };
        self.runs.publish(publication).await.expect("published");
        self.remote.counts();
    }
}

#[tokio::test]
async fn unchanged_head_is_not_opened() {
    let world = World::new().await;
    world.publish(false, RunState::Published).await;
    for _ in 0..3 {
        assert_eq!(world.synced(false).await, None);
        assert_eq!(world.remote.counts(), (1, 0));
    }
    world.remote.commit.store(7, Ordering::SeqCst);
    world.publish(false, RunState::Published).await;
    assert_eq!(world.synced(false).await, None);
    assert_eq!(world.remote.counts(), (1, 0));
}

#[tokio::test]
async fn first_sync_does_not_read_the_head() {
    let world = World::new().await;
    world.synced(false).await.expect("a run");
    assert_eq!(world.remote.counts(), (0, 1));
}

/// After each of these changes, a sync opens the source again even if the commit is the same.
#[tokio::test]
async fn changed_inputs_open_an_unchanged_head() {
    type Change = fn(&mut World);
    let check = async |change: Change, what: &str| {
        let mut world = World::new().await;
        world.publish(false, RunState::Published).await;
        change(&mut world);
        world.synced(false).await;
        assert_eq!(world.remote.counts().1, 1, "{what}");
    };
    let operator: Change = |world| {
        world.sync.operator = Arc::new(Operator { max_file_size: Some(1), ..Operator::default() });
    };
    check(operator, "the operator changes a limit").await;
    let sensitive: Change = |world| {
        world.sync.operator = Arc::new(Operator { sensitive_add: vec!["*.py".to_owned()], ..Operator::default() });
    };
    check(sensitive, "the operator adds a sensitive name").await;
    check(|world| world.record.settings = "{\"exclude\":[\"*.py\"]}".to_owned(), "the caller changes the settings")
        .await;
    check(|world| world.sync.tools.model.dimensions = 8, "the embedding model changes").await;
    let mut world = World::new().await;
    world.publish(false, RunState::Partial).await;
    world.synced(false).await;
    assert_eq!(world.remote.counts(), (0, 1), "a part failed");
    world = World::new().await;
    *world.remote.is_unreadable() = true;
    world.publish(false, RunState::Published).await;
    world.synced(false).await;
    assert_eq!(world.remote.counts(), (0, 1), "a file could not be read");
    world = World::new().await;
    world.publish(false, RunState::Published).await;
    world.synced(true).await.expect("a rebuild");
    assert_eq!(world.remote.counts(), (0, 1), "a rebuild");
}

/// A sync begins a run if a call has changed the patterns, even if the commit is the same.
#[tokio::test]
async fn changed_patterns_begin_a_run() {
    let mut world = World::new().await;
    world.publish(false, RunState::Published).await;
    world.record.settings = "{\"exclude\":[\"*.py\"]}".to_owned();
    let run = world.synced(false).await.expect("a run");
    let manifest = world.runs.run(run).await.expect("the run").manifest;
    let manifest = world.sync.artifacts.manifest(&manifest).await.expect("a manifest");
    assert_eq!(manifest.entries[0].outcome, Outcome::Skipped(Reason::Excluded));
}

#[tokio::test]
async fn unreachable_host_affects_only_its_repository() {
    let world = World::new().await;
    world.remote.is_away.store(true, Ordering::SeqCst);
    let record = world.record.clone();
    let request = SyncRequest { repository: record, ..world.request(false) };
    let error = world.sync.run(request).await.err().expect("the host is away");
    assert_eq!((error.code, error.class), (FailureCode::Unavailable, ErrorClass::Transient));
}

/// If facts exist although their part failed, it is unknown which records were staged. Therefore the next
/// sync begins a rebuild.
#[tokio::test]
async fn facts_of_a_failed_part_cause_a_rebuild() {
    let world = World::new().await;
    let run = world.synced(false).await.expect("a run");
    let manifest = world.runs.run(run).await.expect("the run").manifest;
    let artifacts = &world.sync.artifacts;
    let mut manifest = (*artifacts.manifest(&manifest).await.expect("a manifest")).clone();
    for entry in &mut manifest.entries {
        entry.outcome = Outcome::Failed { reason: Reason::ParseCrash, message: String::new() };
    }
    assert!(!world.sync.holds_doubtful(&manifest).await.expect("read"));
    let pack = manifest.entries[0].source.as_ref().expect("a slot").artifact.clone();
    let key = crate::artifacts::facts_key_of(&pack);
    artifacts.blobs.put(&key, Bytes::from_static(b"facts")).await.expect("written");
    assert!(world.sync.holds_doubtful(&manifest).await.expect("read"));
}

/// A ledger whose successive lease renewals have these outcomes. All later renewals fail.
struct Renewals(Mutex<VecDeque<Option<ErrorKind>>>);

#[async_trait]
impl Ledger for Renewals {
    async fn lease(&self, repository: RepositoryId, _: i64, _: i64) -> Result<Lease, LedgerError> {
        Ok(Lease { repository, epoch: 1 })
    }

    async fn renew(&self, _: Lease, _: i64, _: i64, _: SyncProgress) -> Result<(), LedgerError> {
        tokio::task::yield_now().await;
        let next = self.0.lock().expect("no panic").pop_front();
        let kind = next.unwrap_or(Some(ErrorKind::Unavailable));
        kind.map_or(Ok(()), |kind| Err(LedgerError::new(kind, "renew", "r")))
    }

    async fn begin(&self, _: Lease, _: NewRun) -> Result<RunId, LedgerError> {
        Err(LedgerError::new(ErrorKind::Invalid, "begin", "r"))
    }

    async fn end_part(&self, _: RunId, _: PartId, _: PartEnd, _: String, _: i64) -> Result<Vec<PartId>, LedgerError> {
        Err(LedgerError::new(ErrorKind::Invalid, "end_part", "r"))
    }

    async fn ready(&self, _: RunId) -> Result<Vec<PartId>, LedgerError> {
        Ok(Vec::new())
    }

    async fn abort(&self, _: RunId, _: RunState, _: &str, _: i64) -> Result<(), LedgerError> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn heartbeat_ends_when_the_lease_does() {
    let away = Some(ErrorKind::Unavailable);
    let check = async |renewals: &[Option<ErrorKind>], code: FailureCode, seconds: u64| {
        let mut world = World::new().await;
        world.sync.ledger = Arc::new(Renewals(Mutex::new(renewals.iter().copied().collect())));
        let lease = Lease { repository: world.record.id, epoch: 1 };
        let began = tokio::time::Instant::now();
        let error = world.sync.heartbeat(lease, began, &SyncMeter::default()).await;
        assert_eq!((error.code, began.elapsed()), (code, Duration::from_secs(seconds)), "{renewals:?}");
    };
    // The lease is renewed every 15 s. A failed renewal is tried again every second, until 60 s after the
    // last successful renewal.
    check(&[Some(ErrorKind::Conflict)], FailureCode::Conflict, 15).await;
    check(&[], FailureCode::Unavailable, 60).await;
    check(&[away, away, None, Some(ErrorKind::NotFound)], FailureCode::NotFound, 15 + 2 + 15).await;
    check(&[None, away], FailureCode::Unavailable, 15 + 60).await;
}

#[tokio::test(start_paused = true)]
async fn expired_lease_is_renewed_if_no_other_holder_has_it() {
    let mut world = World::new().await;
    world.sync.ledger = Arc::new(Renewals(Mutex::new([None, Some(ErrorKind::Conflict)].into())));
    let lease = Lease { repository: world.record.id, epoch: 1 };
    let meter = SyncMeter::default();
    let mut beating = std::pin::pin!(world.sync.heartbeat(lease, tokio::time::Instant::now(), &meter));
    tokio::select! {
        biased;
        error = &mut beating => panic!("the lease is lost: {error:?}"),
        () = tokio::time::sleep(Duration::from_secs(1)) => {}
    }
    // The process is held up for three times the duration of the lease.
    tokio::time::advance(Duration::from_secs(180)).await;
    assert_eq!(beating.await.code, FailureCode::Conflict);
}

#[tokio::test]
async fn heartbeat_records_the_progress() {
    let mut world = World::new().await;
    world.sync.lease_ms = 200;
    world.runs.ask(world.record.id, Lane::Bulk, false, 1).await.expect("asked");
    let (runs, id) = (world.runs.clone(), world.record.id);
    let recorded = async move || {
        let scope = Scope::only(Tenant::new("acme"), [id]);
        runs.repositories(&scope).await.expect("repositories").remove(0).pending_sync
    };
    assert_eq!(recorded().await, Some(SyncProgress::default()));
    let meter = SyncMeter::default();
    meter.fetched_so_far(700);
    meter.file_read();
    let lease = world.runs.lease(id, world.sync.clock.now_ms(), 200).await.expect("free");
    let beating = world.sync.heartbeat(lease, tokio::time::Instant::now(), &meter);
    let seen = async {
        while recorded().await != Some(SyncProgress { fetched_bytes: 700, num_files_read: 1 }) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        error = beating => panic!("the lease is lost: {error:?}"),
        seen = tokio::time::timeout(Duration::from_secs(30), seen) => seen.expect("the heartbeat records it"),
    }
}

#[tokio::test]
async fn files_read_are_counted() {
    let world = World::new().await;
    let meter = Arc::new(SyncMeter::default());
    let lease = world.runs.lease(world.record.id, world.sync.clock.now_ms(), 60_000).await.expect("free");
    world.sync.under_lease(lease, world.request(false), &mut None, &meter).await.expect("synced");
    assert_eq!(meter.progress().num_files_read, 1);
}

#[tokio::test]
async fn failed_file_is_retried_at_the_same_commit() {
    let world = World::new().await;
    *world.remote.is_unreadable() = true;
    world.publish(false, RunState::Published).await;
    assert_eq!(world.synced(false).await, None, "the file is still unreadable");
    *world.remote.is_unreadable() = false;
    assert!(world.synced(false).await.is_some(), "the failed file is not tried again");
}

/// The tree is listed again a few times. The last attempt records the file as unreadable.
#[tokio::test]
async fn file_that_always_changes_does_not_stop_a_sync() {
    let world = World::new().await;
    world.remote.always_changes.store(true, Ordering::SeqCst);
    let run = world.synced(false).await.expect("a run");
    assert_eq!(world.remote.counts().1, super::ATTEMPTS as u64);
    let manifest = world.runs.run(run).await.expect("the run").manifest;
    let manifest = world.sync.artifacts.manifest(&manifest).await.expect("a manifest");
    let message = "the file changes while it is read".to_owned();
    assert_eq!(manifest.entries[0].outcome, Outcome::Failed { reason: Reason::Unreadable, message });
}

/// If the lease expires while the source is read, and another sync begins and ends, the first sync must not
/// begin a run.
#[tokio::test]
async fn sync_without_its_lease_begins_no_run() {
    let world = World::new().await;
    let (runs, id, runtime) = (world.runs.clone(), world.record.id, tokio::runtime::Handle::current());
    let ran_out_at_ms = world.sync.clock.now_ms() + world.sync.lease_ms;
    let meanwhile: Meanwhile = Box::new(move || {
        runtime.block_on(async {
            let lease = runs.lease(id, ran_out_at_ms, 60_000).await.expect("it ran out");
            runs.renew(lease, ran_out_at_ms, 0, SyncProgress::default()).await.expect("given back");
        });
    });
    *world.remote.meanwhile.lock().expect("no panic") = Some(meanwhile);
    let synced = world.sync.run(world.request(false)).await;
    let code = synced.err().map(|error| error.code);
    assert_eq!(code, Some(FailureCode::Conflict), "the sync began a run although it had lost its lease");
    assert!(world.runs.unfinished().await.expect("runs").is_empty());
}

/// If a user cancels the request while the source is read, the sync begins no run.
#[tokio::test]
async fn cancelled_sync_begins_no_run() {
    let world = World::new().await;
    let World { remote, runs, sync, record } = world;
    let request = runs.ask(record.id, Lane::Bulk, false, 1).await.expect("asked");
    let (clock, runtime) = (Arc::clone(&sync.clock), tokio::runtime::Handle::current());
    let meanwhile: Meanwhile = Box::new({
        let (runs, id) = (Arc::clone(&runs), record.id);
        move || {
            let cancelled = runtime.block_on(runs.cancel(&[id], "by a person", 2)).expect("cancelled");
            assert_eq!(cancelled, [id]);
        }
    });
    *remote.meanwhile.lock().expect("no panic") = Some(meanwhile);
    let (catalogue, requests, ledger) = (runs.clone(), runs.clone(), runs.clone());
    let worker = SyncWorker { sync, catalogue, requests, runs: ledger, clock };
    let job = SyncJob { tenant: record.tenant.clone(), repository: record.id, request };
    assert_eq!(worker.sync(&job).await.expect("no failure"), None);
    assert!(runs.unfinished().await.expect("runs").is_empty(), "a cancelled sync began a run");
    // The request is cancelled after it was read and before the lease is taken.
    let (cache, lane, meter) = (SourceCache::default(), Lane::Bulk, Arc::default());
    let asked = SyncRequest { repository: record, cache, rebuild: false, lane, meter };
    let error = worker.sync.run_if(asked, async { Ok(false) }).await.err().expect("it is not wanted");
    assert_eq!(error.class, ErrorClass::Cancelled);
    assert!(runs.unfinished().await.expect("runs").is_empty());
    assert!(runs.lease(job.repository, 3, 1).await.is_ok(), "the cancelled sync has not ended its lease");
}

/// Each failure of a user's request is a new failure. A repeated failure of scheduled requests is not a new
/// failure.
#[tokio::test]
async fn repeated_scheduled_failure_is_not_new() {
    let World { runs, sync, record, .. } = World::new().await;
    let clock = Arc::clone(&sync.clock);
    let (catalogue, requests, ledger) = (runs.clone(), runs.clone(), runs.clone());
    let worker = SyncWorker { sync, catalogue, requests, runs: ledger, clock };
    let fails = async |request: u64, code: FailureCode| {
        let job = SyncJob { tenant: record.tenant.clone(), repository: record.id, request };
        let is_new_failure = worker.is_new_failure(&job, code).await.expect("asked");
        worker.failed(&job, code, "there is none".to_owned()).await.expect("answered");
        is_new_failure
    };
    let due = async || runs.schedule(record.id, 1).await.expect("asked");
    let asked = async || runs.ask(record.id, Lane::Bulk, false, 1).await.expect("asked");
    assert!(fails(due().await, FailureCode::NotFound).await);
    assert!(!fails(due().await, FailureCode::NotFound).await);
    assert!(fails(asked().await, FailureCode::NotFound).await, "a person made the request");
    assert!(fails(due().await, FailureCode::Forbidden).await, "the code is different");
    runs.answer(record.id, due().await, None, 2).await.expect("answered");
    assert!(fails(due().await, FailureCode::Forbidden).await, "a sync succeeded in between");
}

/// Every failed attempt is recorded with its code and the time of the next attempt.
#[tokio::test]
async fn lost_transaction_is_recorded_as_postponed() {
    let World { runs, sync, record, .. } = World::new().await;
    let clock = Arc::clone(&sync.clock);
    let (catalogue, requests, ledger) = (runs.clone(), runs.clone(), runs.clone());
    let worker = SyncWorker { sync, catalogue, requests, runs: ledger, clock };
    let request = runs.ask(record.id, Lane::Bulk, false, 1).await.expect("asked");
    runs.dispatch(1, 1, 1000).await.expect("dispatched");
    let job = SyncJob { tenant: record.tenant.clone(), repository: record.id, request };
    let after = Duration::from_secs(600);
    worker.postponed(&job, FailureCode::TransactionConflict, "lost".to_owned(), after).await.expect("recorded");
    let scope = Scope::only(record.tenant.clone(), [record.id]);
    let stored = runs.repositories(&scope).await.expect("the catalogue").pop().expect("the repository");
    let failure = stored.last_sync.and_then(|last| last.failure).map(|(code, _)| code);
    assert_eq!(failure, Some(FailureCode::TransactionConflict));
}

/// A ledger that records no failure of a run, as if the process died before this step.
struct DiesBeforeAbort(Arc<Metastore>);

#[async_trait]
impl Ledger for DiesBeforeAbort {
    async fn lease(&self, repository: RepositoryId, now_ms: i64, ttl_ms: i64) -> Result<Lease, LedgerError> {
        self.0.lease(repository, now_ms, ttl_ms).await
    }

    async fn renew(&self, lease: Lease, now_ms: i64, ttl_ms: i64, progress: SyncProgress) -> Result<(), LedgerError> {
        self.0.renew(lease, now_ms, ttl_ms, progress).await
    }

    async fn begin(&self, lease: Lease, run: NewRun) -> Result<RunId, LedgerError> {
        self.0.begin(lease, run).await
    }

    async fn end_part(
        &self,
        run: RunId,
        part: PartId,
        end: PartEnd,
        report: String,
        now_ms: i64,
    ) -> Result<Vec<PartId>, LedgerError> {
        self.0.end_part(run, part, end, report, now_ms).await
    }

    async fn ready(&self, run: RunId) -> Result<Vec<PartId>, LedgerError> {
        self.0.ready(run).await
    }

    async fn abort(&self, run: RunId, _: RunState, _: &str, _: i64) -> Result<(), LedgerError> {
        Err(LedgerError::new(ErrorKind::Unavailable, "abort", run.to_string()))
    }
}

/// If a snapshot is refused, its run fails with the cause of the refusal, even if the process of the sync
/// dies before it records the cause.
#[tokio::test]
async fn refusal_survives_the_death_of_its_process() {
    type Change = fn(&mut World);
    let check = async |change: Change, code: FailureCode, expect: &[&str]| {
        let mut world = World::new().await;
        change(&mut world);
        world.sync.ledger = Arc::new(DiesBeforeAbort(world.runs.clone()));
        let error = world.sync.run(world.request(false)).await.err().expect("it is refused");
        assert_eq!(error.code, FailureCode::Unavailable);
        let run = world.runs.unfinished().await.expect("runs").pop().expect("it was begun");
        let [part] = world.runs.ready(run.id).await.expect("parts")[..] else { panic!("one part ends the run") };
        let stage = PublishStage {
            artifacts: Arc::clone(&world.sync.artifacts),
            catalogue: world.runs.clone(),
            ledger: world.runs.clone(),
            clock: Arc::clone(&world.sync.clock),
            model: "m".to_owned(),
            max_chunks: 10,
        };
        let tenant = world.record.tenant.clone();
        let task = Task { tenant, run: run.id, part, plan: run.plan, aborted: BTreeSet::new() };
        let error = stage.run(&task).await.expect_err("nothing can be published");
        assert_eq!((error.code, error.class), (code, ErrorClass::Permanent));
        assert!(expect.iter().all(|part| error.chain().contains(part)), "{}", error.chain());
        let view = world.runs.view().await.expect("a view");
        assert_eq!(world.runs.published(&view, world.record.id).await.expect("the catalogue"), None);
    };
    let unusable: Change = |world| world.record.settings = "no settings".to_owned();
    check(unusable, FailureCode::InvalidSettings, &["stored settings"]).await;
    let too_small: Change = |world| {
        let ceilings = Ceilings { max_expanded_bytes: 5, ..Ceilings::default() };
        world.sync.operator = Arc::new(Operator { ceilings, ..Operator::default() });
    };
    let expect = ["6 bytes of files", "the limit is 5", "ceilings.max_expanded_bytes", "exclude files"];
    check(too_small, FailureCode::OverBudget, &expect).await;
}
