//! Executes an index call until its run has ended.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use anyhow::Context;
use cairn_domain::{Lane, RepositoryId, RepositoryName, RunId, RunState, Scope, Source, StageName, Tenant};
use cairn_local_broker::LocalBroker;
use cairn_pipeline::{StageError, reconcile};
use cairn_ports::{
    Broker, Catalogue, ErrorKind, FailureCode, Ledger, LedgerRead, RepositoryRecord, Requests, RunRecord, plain,
};
use cairn_stages::{OpenedSource, SyncRequest, Synced, check_request, declared_name};
use cairn_wire::{RequestSettings, RunResult};

use super::Local;
use super::components::LEASE_MS;
use super::home::{remove_if_exists, source_cache};
use super::naming::{declared_on_disk, is_on_disk, settings_name};
use crate::verify::verify;

/// The repository to index, and the settings of the call.
#[derive(Clone, Debug)]
pub struct IndexRequest {
    pub source: Source,
    pub name: RepositoryName,
    pub branch: Option<String>,
    pub settings: RequestSettings,
    /// If set, every record is written again. Damaged data is removed first, so readers find no data until
    /// the run ends.
    pub rebuild: bool,
    /// The record of the repository, if it is registered. The request must not change the id, the former
    /// names and the hosting data in this record.
    pub known: Option<Box<RepositoryRecord>>,
}

impl IndexRequest {
    pub fn repository(&self) -> RepositoryId {
        self.record().id
    }

    fn record(&self) -> RepositoryRecord {
        let new = || RepositoryRecord::new(Tenant::local(), self.name.clone(), self.source.clone());
        let before = self.known.as_deref().cloned().unwrap_or_else(new);
        let mut aliases = before.aliases.clone();
        // A renamed repository can still be found by its former name.
        if before.name != self.name && !aliases.contains(&before.name) {
            aliases.push(before.name.clone());
        }
        RepositoryRecord {
            name: self.name.clone(),
            aliases,
            branch: self.branch.clone(),
            settings: self.settings.to_json(),
            ..before
        }
    }
}

/// The result of an index call that has ended.
#[derive(Clone, Debug)]
pub struct Indexed {
    /// The name of the repository after the run. The settings in the source may have changed the name.
    pub name: RepositoryName,
    /// `None` if nothing had changed, so that no run was needed.
    pub run: Option<RunId>,
    pub state: RunState,
    pub result: RunResult,
    pub message: Option<String>,
}

/// Receives the progress of a run.
pub trait Progress: Send + Sync {
    fn reading(&self, name: &RepositoryName);
    /// Called repeatedly while a sync reads files, with the number of files that were read so far.
    fn files_read(&self, name: &RepositoryName, num_files: u64);
    fn parts(&self, run: &RunRecord);
}

const POLL: Duration = Duration::from_millis(5);
/// Interval at which a sync reports the number of files that it has read.
const WATCH_POLL: Duration = Duration::from_millis(50);
/// The request number with which local mode records the end of a sync. The numbers of requests begin at 1, so
/// no request has this number.
const NO_REQUEST: u64 = 0;
const LEASE_POLL: Duration = Duration::from_millis(50);

impl Local {
    /// Indexes the current state of a source, publishes this state, and then sweeps. If an earlier process
    /// left an unfinished run, that run is finished first.
    pub async fn index(&self, request: &IndexRequest, progress: &dyn Progress) -> anyhow::Result<Indexed> {
        // This check comes first, so that a refused call changes nothing.
        check_request(&self.operator, &request.settings)?;
        self.embedder.prepare().context("cannot prepare the embedding model")?;
        let mut record = request.record();
        let repository = record.id;
        request.settings.clone_into(&mut self.requested.lock().unwrap_or_else(PoisonError::into_inner));
        let is_new = request.rebuild || !self.is_registered(request, &record).await?;
        // If the record is unchanged, the source is not opened here: the sync opens the source only if it has
        // changed, and then also checks the settings in the source.
        let mut opened = None;
        if is_new {
            progress.reading(&record.name);
            let checked = self.sync.check_source(&self.sync_request(record.clone(), request.rebuild)).await?;
            if let Ok(tree) = &checked.tree {
                record = self.with_declared_name(record, declared_name(tree).await?).await?;
            }
            opened = Some(checked);
        }
        if request.rebuild && self.verify(repository).await.is_err() {
            self.remove(&record).await?;
            // `remove` also removes the clone, so the opened source is no longer usable.
            opened = None;
        }
        // A registered record is not registered again, because another process may have removed the
        // repository in the meantime.
        if is_new {
            self.runs.register(record.clone()).await?;
        }
        self.keep_name_on_disk(&record)?;
        // Each run has its own broker. In a shared broker, the unacknowledged jobs of a stopped runner would
        // remain in progress forever.
        let broker = self.broker();
        let runner = tokio::spawn(self.runner(&broker).run(self.workers.clone()));
        let indexed = self.index_registered(&broker, record, &mut opened, request.rebuild, progress).await;
        runner.abort();
        let indexed = indexed?;
        self.sweep().await?;
        Ok(indexed)
    }

    /// Whether the record is already stored with the same name, source, branch and settings. Fails if the
    /// request is for a registered repository that was removed.
    async fn is_registered(&self, request: &IndexRequest, record: &RepositoryRecord) -> anyhow::Result<bool> {
        let known = self.runs.repositories(&Scope::only(record.tenant.clone(), [record.id])).await?;
        let is_removed = request.known.is_some() && known.is_empty();
        anyhow::ensure!(!is_removed, "the repository was removed; `cairn index PATH` registers it again");
        let is_same = |known: &RepositoryRecord| {
            known.name == record.name
                && known.source == record.source
                && known.branch == record.branch
                && known.settings == record.settings
        };
        Ok(known.iter().any(is_same))
    }

    fn sync_request(&self, repository: RepositoryRecord, rebuild: bool) -> SyncRequest {
        let cache = source_cache(&self.home.directory, repository.id);
        SyncRequest { repository, cache, rebuild, lane: Lane::Interactive, meter: Arc::default() }
    }

    async fn index_registered(
        &self,
        broker: &LocalBroker,
        record: RepositoryRecord,
        opened: &mut Option<OpenedSource>,
        rebuild: bool,
        progress: &dyn Progress,
    ) -> anyhow::Result<Indexed> {
        self.finish_earlier(broker, record.id, progress).await?;
        progress.reading(&record.name);
        let (id, name) = (record.id, record.name.clone());
        let request = self.sync_request(record.clone(), rebuild);
        let known = request.cache.clone();
        let synced = self.watched_sync(request, opened, progress).await;
        match &synced {
            Ok(_) => self.record_sync(id, None).await,
            Err(error) => {
                if let Some(error) = error.downcast_ref::<StageError>().filter(|error| !is_of_another_sync(error)) {
                    self.record_sync(id, Some((error.code, error.chain()))).await;
                }
            }
        }
        match synced? {
            Synced::Unchanged { published, cache } => {
                self.home.keep_source_cache(id, &known, &cache)?;
                Ok(Indexed { name, run: None, state: published.state, result: published.result, message: None })
            }
            Synced::Begun { run, plan, cache } => {
                self.home.keep_source_cache(id, &known, &cache)?;
                let declared = settings_name(&self.artifacts.plan(&plan).await?.settings);
                let name = self.with_declared_name(record, declared).await?.name;
                Ok(Indexed { name, ..self.drive(broker, run, progress).await? })
            }
        }
    }

    /// Records how the sync ended, so that `repos`, `status` and `doctor` report a failure. An error is only
    /// logged, because the outcome of the call does not depend on the record.
    async fn record_sync(&self, repository: RepositoryId, failure: Option<(FailureCode, String)>) {
        let recorded = self.runs.answer(repository, NO_REQUEST, failure, self.clock.now_ms()).await;
        if let Err(error) = recorded {
            tracing::warn!(%repository, "the end of the sync is not recorded: {}", plain(&error));
        }
    }

    /// Syncs the repository and reports the number of files read.
    async fn watched_sync(
        &self,
        request: SyncRequest,
        opened: &mut Option<OpenedSource>,
        progress: &dyn Progress,
    ) -> anyhow::Result<Synced> {
        let (name, meter) = (request.repository.name.clone(), Arc::clone(&request.meter));
        let report = || progress.files_read(&name, meter.progress().num_files_read);
        let mut syncing = std::pin::pin!(self.sync(request, opened));
        loop {
            tokio::select! {
                synced = &mut syncing => {
                    report();
                    return synced;
                }
                () = tokio::time::sleep(WATCH_POLL) => report(),
            }
        }
    }

    /// Syncs the repository. If another process holds the lease, waits for at most twice the duration of a
    /// lease, because the lease of a dead process ends within this time.
    async fn sync(&self, request: SyncRequest, opened: &mut Option<OpenedSource>) -> anyhow::Result<Synced> {
        let give_up = self.clock.monotonic() + Duration::from_millis(2 * LEASE_MS as u64);
        loop {
            match self.sync.run_opened(request.clone(), opened).await {
                Err(error) if error.code == FailureCode::Conflict && self.clock.monotonic() < give_up => {
                    tokio::time::sleep(LEASE_POLL).await;
                }
                Err(error) if error.code == FailureCode::Conflict => {
                    let name = &request.repository.name;
                    return Err(anyhow::Error::new(error).context(format!("another process is indexing {name}")));
                }
                synced => return Ok(synced?),
            }
        }
    }

    /// Continues the unfinished run of an earlier process, with the same generation and snapshot.
    async fn finish_earlier(
        &self,
        broker: &LocalBroker,
        repository: RepositoryId,
        progress: &dyn Progress,
    ) -> anyhow::Result<()> {
        for run in self.runs.unfinished().await? {
            if run.id.repository == repository {
                self.drive(broker, run.id, progress).await?;
            }
        }
        Ok(())
    }

    /// Publishes the ready parts of the run and waits until the run has ended.
    async fn drive(&self, broker: &LocalBroker, run: RunId, progress: &dyn Progress) -> anyhow::Result<Indexed> {
        loop {
            // If the broker is idle, the jobs are sent again. Jobs may be missing, because a reply of the
            // ledger may be lost between the end of one part and the start of the next part.
            if is_idle(broker).await? {
                reconcile(broker, self.runs.as_ref(), Some(run.repository), Lane::Bulk).await?;
            }
            tokio::time::sleep(POLL).await;
            let record = self.runs.run(run).await?;
            progress.parts(&record);
            if record.state.is_finished() {
                return self.ended(record).await;
            }
        }
    }

    async fn ended(&self, record: RunRecord) -> anyhow::Result<Indexed> {
        let mut result = record.result;
        if matches!(record.state, RunState::Published | RunState::Partial) {
            let view = self.runs.view().await?;
            if let Some(published) = self.runs.published(&view, record.id.repository).await? {
                result = published.result;
            }
        }
        let name = RepositoryName::new(result.repository.clone());
        Ok(Indexed { name, run: Some(record.id), state: record.state, result, message: record.message })
    }

    /// Cancels a run. The published generation is kept.
    pub async fn cancel(&self, run: RunId) -> Result<bool, StageError> {
        match self.runs.abort(run, RunState::Cancelled, "cancelled by the user", self.clock.now_ms()).await {
            Ok(()) => Ok(true),
            Err(error) if error.kind == ErrorKind::Conflict => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads and verifies all stored data of a repository.
    pub async fn verify(&self, repository: RepositoryId) -> anyhow::Result<()> {
        verify(&self.searcher, &self.stores, &self.artifacts, repository).await
    }

    pub(crate) fn shared(self) -> Arc<Self> {
        Arc::new(self)
    }
}

/// Whether the sync did not take place, because another process syncs the repository.
fn is_of_another_sync(error: &StageError) -> bool {
    matches!(error.code, FailureCode::Conflict | FailureCode::Cancelled)
}

/// Whether no job is waiting or in progress.
async fn is_idle(broker: &LocalBroker) -> anyhow::Result<bool> {
    for stage in StageName::ALL {
        if broker.depth(*stage).await? > 0 {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Operations for commands other than `cairn index`.
impl Local {
    /// The request that repeats the last index call of a repository. If the settings of a source on disk now
    /// declare a different name, the request changes the name.
    pub fn request_of(&self, record: &RepositoryRecord, known: &[RepositoryRecord]) -> anyhow::Result<IndexRequest> {
        let settings = RequestSettings::from_json(&record.settings).map_err(anyhow::Error::msg)?;
        let name = match is_on_disk(&record.source) {
            true => self.name_after(record, declared_on_disk(&record.source).as_ref(), known),
            false => record.name.clone(),
        };
        Ok(IndexRequest {
            source: record.source.clone(),
            name,
            branch: record.branch.clone(),
            settings,
            rebuild: false,
            known: Some(Box::new(record.clone())),
        })
    }

    /// Makes the next run read all files of the repository again, even if their time stamps are unchanged.
    pub fn forget_stat(&self, repository: RepositoryId) -> anyhow::Result<()> {
        remove_if_exists(&self.home.stats(repository))
    }

    /// Watches each working tree from the first question that reads its changed files.
    pub(super) fn watch_trees(&self) -> anyhow::Result<()> {
        Ok(self.watch.start(&self.home.directory)?)
    }

    /// The rules that determine which remotes may be reached.
    pub fn remotes(&self) -> cairn_git::RemotePolicy {
        cairn_git::RemotePolicy::from(&self.operator.sources)
    }
}

#[cfg(test)]
mod tests {
    use cairn_config::Operator;
    use cairn_wiring::EmbeddingConfig;

    use super::*;

    struct Silent;

    impl Progress for Silent {
        fn reading(&self, _: &RepositoryName) {}
        fn files_read(&self, _: &RepositoryName, _: u64) {}
        fn parts(&self, _: &RunRecord) {}
    }

    /// `cairn watch` reads the record before it indexes the repository, so the record may be outdated.
    #[tokio::test]
    async fn outdated_record_does_not_register_a_removed_repository() {
        let (directory, files) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
        let local = Local::open(directory.path(), Operator::default(), &EmbeddingConfig::Local).expect("an index");
        let source = Source::Directory { path: files.path().display().to_string() };
        let record = RepositoryRecord::new(Tenant::local(), RepositoryName::new("r"), source);
        local.runs.register(record.clone()).await.expect("registered");
        let request = local.request_of(&record, &[]).expect("a request");
        local.remove(&record).await.expect("removed");
        let error = local.index(&request, &Silent).await.expect_err("it was removed");
        assert!(error.to_string().contains("was removed"), "{error:#}");
        assert_eq!(local.runs.repositories(&Scope::all(Tenant::local())).await.expect("a list"), []);
    }
}
