//! Handles the calls to index and to cancel in a service. The service records requests, and the workers of
//! the cluster index the repositories.

use std::sync::Arc;

use async_trait::async_trait;
use cairn_domain::{FailureCode, Lane, RepositoryId, RunId, RunState};
use cairn_ports::{Catalogue, Clock, ErrorKind, Ledger, RepositoryRecord, Requests, RunRecord};
use cairn_search::{KnownRepository, QueryError, Searcher};
use cairn_wire::{GivenSettings, RunResult};

use crate::answers::{sync_failure, sync_note_of};
use crate::index_call::{IndexCall, IndexStatus, IndexTicket};
pub use crate::registration::Locate;
use crate::registration::{IndexTarget, Registry, check_settings, requested_result, stored_settings};

/// Indexes repositories for callers with the `index` permission.
#[async_trait]
pub trait Indexing: Send + Sync + 'static {
    /// Requests a run of a repository that the caller of the searcher may see, and returns at once.
    async fn index(&self, searcher: &Searcher, call: IndexCall) -> Result<IndexStatus, QueryError>;

    /// The state of a request that `index` returned.
    async fn progress(&self, searcher: &Searcher, request: IndexTicket) -> Result<IndexStatus, QueryError>;

    /// Cancels an unfinished run; the published state does not change. Returns false if the run had already
    /// ended.
    async fn cancel(&self, run: RunId) -> Result<bool, QueryError>;

    /// Cancels the pending sync requests of these repositories, and returns the repositories that had a
    /// pending request.
    async fn cancel_requests(&self, repositories: &[RepositoryId]) -> Result<Vec<RepositoryId>, QueryError>;
}

const BY_THE_USER: &str = "cancelled by the user";
/// Maximum number of attempts of a call to change the stored settings. An attempt fails if another call
/// changes the settings at the same time.
const ATTEMPTS: usize = 5;

/// Records requests in the ledger. Registers an unknown repository if the caller is allowed to see
/// repositories with its name.
pub struct LedgerIndexing {
    pub catalogue: Arc<dyn Catalogue>,
    pub requests: Arc<dyn Requests>,
    pub ledger: Arc<dyn Ledger>,
    pub clock: Arc<dyn Clock>,
    pub locate: Box<Locate>,
}

impl LedgerIndexing {
    /// Registers a repository, or changes one of the `known` repositories of the tenant, and requests its
    /// sync. Permissions are not checked. A renamed repository gets its new name and keeps its id. The
    /// settings in `record` are ignored: `given` is applied to the stored settings of the repository.
    pub async fn register(
        &self,
        record: RepositoryRecord,
        given: GivenSettings,
        known: &mut Vec<RepositoryRecord>,
        lane: Lane,
        rebuild: bool,
    ) -> Result<IndexStatus, QueryError> {
        check_settings(&given)?;
        let is_named = |known: &RepositoryRecord| known.name == record.name;
        let at = known.iter().position(is_named).or(known.iter().position(|known| known.id == record.id));
        let before = at.map(|at| &known[at]);
        let stored = before.map(stored_settings).transpose()?.unwrap_or_default();
        // A call that contains only an address does not change the registered branch and patterns. If a
        // repository comes from the list of an organisation, the list determines its address and name.
        let is_address_only = record.branch.is_none() && given == GivenSettings::default();
        let settings = match before {
            Some(before) if given == GivenSettings::default() => before.settings.clone(),
            _ => given.over(stored).to_json(),
        };
        let record = RepositoryRecord { settings, ..record };
        let record = match before {
            Some(settled) if is_address_only && (settled.source == record.source || settled.hosted.is_some()) => {
                return self.ask(settled, lane, rebuild).await;
            }
            Some(listed) if listed.hosted.is_some() => {
                RepositoryRecord { branch: record.branch, settings: record.settings, ..listed.clone() }
            }
            Some(other) => RepositoryRecord { id: other.id, ..record },
            None => record,
        };
        self.catalogue.register(record.clone()).await?;
        match at {
            Some(at) => known[at] = record.clone(),
            None => known.push(record.clone()),
        }
        self.ask(&record, lane, rebuild).await
    }

    /// Requests a sync of a registered repository. If `rebuild` is set, every record is written again.
    pub async fn ask(&self, record: &RepositoryRecord, lane: Lane, rebuild: bool) -> Result<IndexStatus, QueryError> {
        let request = self.requests.ask(record.id, lane, rebuild, self.clock.now_ms()).await?;
        Ok(IndexStatus {
            repository: record.name.to_string(),
            run: None,
            request: Some(request),
            previous_run: None,
            state: RunState::Running,
            result: requested_result(record),
            message: None,
            num_parts: 0,
            num_ended: 0,
            sync: None,
        })
    }

    async fn again(&self, searcher: &Searcher, known: KnownRepository) -> Result<IndexStatus, QueryError> {
        // The newest run is read before the request is made, so that it is never the run of this request.
        let newest = searcher.ledger.runs(Some(known.record.id), 1).await?;
        let asked = self.ask(&known.record, Lane::Interactive, false).await?;
        Ok(IndexStatus { previous_run: newest.first().map(|run| searcher.run_id(run.id)), ..asked })
    }
}

/// Logs which key changed the settings of a repository, and the new settings.
fn log_change(searcher: &Searcher, record: &RepositoryRecord, settings: &str) {
    let (caller, tenant, repository) = (&searcher.caller.name, &record.tenant, &record.name);
    tracing::info!(key = caller, %tenant, %repository, settings, "a call to index changed the settings");
}

/// The state of a request. `own` is the newest run, if it began after the request. `waits` contains the
/// number of the request while the request is waiting for its run.
fn progress_of(searcher: &Searcher, known: KnownRepository, own: Option<RunRecord>, waits: Option<u64>) -> IndexStatus {
    let published = known.published.map_or_else(RunResult::default, |published| published.result);
    let mut status = IndexStatus {
        repository: known.record.name.to_string(),
        run: None,
        request: waits,
        previous_run: None,
        state: RunState::Running,
        result: published,
        message: None,
        num_parts: 0,
        num_ended: 0,
        sync: None,
    };
    // While the request waits, a run that has ended belongs to another request and may not contain the newest
    // changes.
    match own.filter(|run| waits.is_none() || !run.state.is_finished()) {
        Some(run) => {
            (status.run, status.request) = (Some(searcher.run_id(run.id)), None);
            (status.state, status.message) = (run.state, run.message);
            (status.num_parts, status.num_ended) = (run.num_parts, run.num_ended);
            if !matches!(run.state, RunState::Published | RunState::Partial) {
                status.result = run.result;
            }
        }
        None if waits.is_some() => {
            status.sync = sync_note_of(&known.record);
            status.result = requested_result(&known.record);
        }
        None => match sync_failure(&known.record) {
            Some(_) if was_cancelled(&known.record) => status.state = RunState::Cancelled,
            Some(failure) => (status.state, status.message) = (RunState::Failed, Some(failure)),
            None => status.state = RunState::Published,
        },
    }
    status
}

fn was_cancelled(record: &RepositoryRecord) -> bool {
    let failure = record.last_sync.as_ref().and_then(|last| last.failure.as_ref());
    failure.is_some_and(|(code, _)| *code == FailureCode::Cancelled)
}

#[async_trait]
impl Indexing for LedgerIndexing {
    async fn index(&self, searcher: &Searcher, call: IndexCall) -> Result<IndexStatus, QueryError> {
        let registry = Registry { catalogue: self.catalogue.as_ref(), locate: self.locate.as_ref() };
        let mut attempt = 1;
        loop {
            match registry.target(searcher, &call).await? {
                IndexTarget::Known(known) => return self.again(searcher, *known).await,
                IndexTarget::Changed(mut known, settings) => {
                    match self.catalogue.change_settings(known.record.id, &known.record.settings, &settings).await {
                        Ok(()) => {
                            log_change(searcher, &known.record, &settings);
                            known.record.settings = settings;
                            return self.again(searcher, *known).await;
                        }
                        Err(error) if error.kind == ErrorKind::Conflict && attempt < ATTEMPTS => attempt += 1,
                        Err(error) => return Err(error.into()),
                    }
                }
                IndexTarget::New(record) => {
                    self.catalogue.register((*record).clone()).await?;
                    return self.ask(&record, Lane::Interactive, false).await;
                }
            }
        }
    }

    async fn progress(&self, searcher: &Searcher, request: IndexTicket) -> Result<IndexStatus, QueryError> {
        let view = searcher.catalogue.view().await?;
        let id = searcher.select_one(&view, &request.repository).await?.record.id;
        let waits = self.requests.asked(id, request.request).await?.is_some();
        // The order matters: the request is read before the run, and the run before the published state.
        let newest = searcher.ledger.runs(Some(id), 1).await?.into_iter().next();
        let known = searcher.select_one(&searcher.catalogue.view().await?, &request.repository).await?;
        let own = newest.filter(|run| Some(searcher.run_id(run.id)) != request.previous_run);
        Ok(progress_of(searcher, known, own, waits.then_some(request.request)))
    }

    async fn cancel(&self, run: RunId) -> Result<bool, QueryError> {
        match self.ledger.abort(run, RunState::Cancelled, BY_THE_USER, self.clock.now_ms()).await {
            Ok(()) => Ok(true),
            Err(error) if error.kind == ErrorKind::Conflict => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    async fn cancel_requests(&self, repositories: &[RepositoryId]) -> Result<Vec<RepositoryId>, QueryError> {
        Ok(self.requests.cancel(repositories, BY_THE_USER, self.clock.now_ms()).await?)
    }
}
