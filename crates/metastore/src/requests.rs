//! Requests to sync.

use std::collections::BTreeSet;

use async_trait::async_trait;
use cairn_domain::{FailureCode, Lane, RepositoryId, RunId, Source, Tenant};
use cairn_ports::{ErrorKind, LedgerError, RepositoryQuery, Requests, RunQuery, SyncRequest};
use cairn_runs::{Command, CommandReply, RepositoryDocument, SyncOutcome, Wanted};
use cairn_wire::SyncJob;

use crate::Metastore;
use crate::error::{port_result, unexpected};

/// Maximum number of requests that one call reads. Later requests wait for the next call.
const REQUESTS_AT_ONCE: usize = 4096;
/// The limit for interactive requests is higher than the limit for bulk requests. The difference is the bulk
/// limit divided by this number.
const INTERACTIVE_SHARE: usize = 8;

#[async_trait]
impl Requests for Metastore {
    async fn ask(&self, repository: RepositoryId, lane: Lane, rebuild: bool, now_ms: i64) -> Result<u64, LedgerError> {
        let number = self.request_with(Command::Ask { repository, lane, rebuild, now_ms }, repository).await?;
        // The requested sync starts only after the unfinished run has ended. Therefore the postponed parts of
        // the unfinished run are started at once.
        let found =
            port_result(self.documents.repositories(RepositoryQuery::One(repository)).await, "ask", &repository)?;
        if let Some(generation) = found.first().and_then(|document| document.state.unfinished) {
            let run = RunId { repository, generation };
            self.change_if_there(repository, Command::Resume { run }).await?;
        }
        Ok(number)
    }

    async fn schedule(&self, repository: RepositoryId, now_ms: i64) -> Result<u64, LedgerError> {
        self.request_with(Command::Schedule { repository, now_ms }, repository).await
    }

    async fn dispatch(
        &self,
        in_flight: usize,
        now_ms: i64,
        again_after_ms: i64,
    ) -> Result<Vec<SyncRequest>, LedgerError> {
        let num_runs = port_result(self.documents.runs(RunQuery::Unfinished).await, "dispatch", &"")?.len();
        let query = RepositoryQuery::Asked { limit: REQUESTS_AT_ONCE };
        let asked = port_result(self.documents.repositories(query).await, "dispatch", &"")?;
        let may_start = |document: &&RepositoryDocument| document.state.dispatchable(now_ms, again_after_ms).is_some();
        // A lost request does not count against the limit, because lost requests would otherwise block all
        // syncs forever. A request between two attempts does not count either, because unavailable hosts
        // would otherwise stop all other syncs for hours.
        let is_in_progress = |document: &&RepositoryDocument| {
            let dispatched = document.state.requests.dispatched;
            dispatched.is_some_and(|dispatched| !dispatched.is_postponed(now_ms)) && !may_start(document)
        };
        let num_syncs = asked.iter().filter(is_in_progress).count();
        let mut requests: Vec<SyncRequest> = Vec::new();
        for document in asked.iter().filter(may_start) {
            // Interactive requests come first and have the higher limit. So if this request cannot start, no
            // later request can start.
            if num_runs + num_syncs + requests.len() >= limit(lane(document), in_flight) {
                break;
            }
            let command = Command::Dispatch { repository: document.id, now_ms, again_after_ms };
            match port_result::<_, LedgerError>(self.documents.change(command).await, "dispatch", &document.id) {
                Ok(CommandReply::Dispatched(wanted)) => requests.extend(wanted.map(|wanted| request(document, wanted))),
                Ok(_) => return Err(unexpected("dispatch", &document.id)),
                // The repository was deleted during this call.
                Err(error) if error.kind == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(requests)
    }

    async fn dispatched(&self, repository: RepositoryId, request: u64) -> Result<(), LedgerError> {
        let command = Command::Dispatched { repository, request };
        self.change_if_there(repository, command).await
    }

    async fn postpone(
        &self,
        repository: RepositoryId,
        request: u64,
        failure: (FailureCode, String),
        now_ms: i64,
        until_ms: i64,
    ) -> Result<(), LedgerError> {
        let outcome = SyncOutcome { at_ms: now_ms, failure: Some(failure) };
        let command = Command::Postpone { repository, request, outcome, until_ms };
        self.change_if_there(repository, command).await
    }

    async fn asked(&self, repository: RepositoryId, number: u64) -> Result<Option<SyncRequest>, LedgerError> {
        let query = RepositoryQuery::One(repository);
        let found = port_result(self.documents.repositories(query).await, "asked", &repository)?;
        let Some(document) = found.first().filter(|document| !document.state.is_deleted) else { return Ok(None) };
        Ok(document.state.requests.asked(number).map(|asked| request(document, asked)))
    }

    async fn answer(
        &self,
        repository: RepositoryId,
        request: u64,
        failure: Option<(FailureCode, String)>,
        now_ms: i64,
    ) -> Result<(), LedgerError> {
        let outcome = SyncOutcome { at_ms: now_ms, failure };
        self.change_if_there(repository, Command::Answer { repository, request, outcome }).await
    }

    async fn cancel(
        &self,
        repositories: &[RepositoryId],
        message: &str,
        now_ms: i64,
    ) -> Result<Vec<RepositoryId>, LedgerError> {
        let failure = Some((FailureCode::Cancelled, message.to_owned()));
        let outcome = SyncOutcome { at_ms: now_ms, failure };
        let mut cancelled = Vec::new();
        for repository in self.asked_of(repositories).await? {
            let command = Command::Cancel { repository, outcome: outcome.clone() };
            match port_result::<_, LedgerError>(self.documents.change(command).await, "cancel", &repository) {
                Ok(CommandReply::Cancelled(true)) => cancelled.push(repository),
                Ok(CommandReply::Cancelled(false)) | Err(LedgerError { kind: ErrorKind::NotFound, .. }) => {}
                Ok(_) => return Err(unexpected("cancel", &repository)),
                Err(error) => return Err(error),
            }
        }
        Ok(cancelled)
    }
}

impl Metastore {
    async fn request_with(&self, command: Command, repository: RepositoryId) -> Result<u64, LedgerError> {
        let operation = command.name();
        match port_result(self.documents.change(command).await, operation, &repository)? {
            CommandReply::Asked(number) => Ok(number),
            _ => Err(unexpected(operation, &repository)),
        }
    }

    /// Applies the command. A repository that was deleted during this call is not an error, because no caller
    /// needs the result.
    async fn change_if_there(&self, repository: RepositoryId, command: Command) -> Result<(), LedgerError> {
        let operation = command.name();
        match port_result(self.documents.change(command).await, operation, &repository) {
            Err(LedgerError { kind: ErrorKind::NotFound, .. }) => Ok(()),
            outcome => outcome.map(drop),
        }
    }

    /// Selects the repositories of the list that have a request, so that a long list does not cause a write
    /// for each repository. A list with one repository is returned unchanged.
    async fn asked_of(&self, repositories: &[RepositoryId]) -> Result<Vec<RepositoryId>, LedgerError> {
        if repositories.len() <= 1 {
            return Ok(repositories.to_vec());
        }
        let query = RepositoryQuery::Asked { limit: i64::MAX as usize };
        let asked = port_result(self.documents.repositories(query).await, "cancel", &"")?;
        let selected: BTreeSet<RepositoryId> = repositories.iter().copied().collect();
        Ok(asked.iter().map(|document| document.id).filter(|id| selected.contains(id)).collect())
    }

    /// The repositories of all tenants, without deleted repositories, for the schedule.
    pub async fn all_repositories(&self) -> Result<Vec<RepositoryId>, LedgerError> {
        Ok(self.registered("all_repositories").await?.map(|document| document.id).collect())
    }

    /// The addresses of all repositories.
    pub async fn urls(&self) -> Result<BTreeSet<String>, LedgerError> {
        let urls = self.registered("urls").await?.filter_map(|document| match document.details.source {
            Source::Url { url } => Some(url),
            Source::WorkTree { .. } | Source::Directory { .. } | Source::Bare { .. } => None,
        });
        Ok(urls.collect())
    }

    /// The tenants that have repositories, sorted.
    pub async fn tenants(&self) -> Result<BTreeSet<Tenant>, LedgerError> {
        Ok(self.registered("tenants").await?.map(|document| document.details.tenant).collect())
    }

    async fn registered(
        &self,
        operation: &'static str,
    ) -> Result<impl Iterator<Item = RepositoryDocument> + use<>, LedgerError> {
        let documents =
            port_result(self.documents.repositories(RepositoryQuery::OfTenant(None)).await, operation, &"")?;
        Ok(documents.into_iter().filter(|document| !document.state.is_deleted))
    }
}

fn lane(document: &RepositoryDocument) -> Lane {
    document.state.requests.wanted.map_or(Lane::Bulk, |wanted| wanted.lane)
}

/// A request of this lane is dispatched only if the number of syncs and runs in progress is lower than the
/// returned limit. The limit of the interactive lane is higher, so bulk work cannot use all capacity.
fn limit(lane: Lane, in_flight: usize) -> usize {
    match lane {
        Lane::Bulk => in_flight,
        Lane::Interactive => in_flight.saturating_add(in_flight.div_ceil(INTERACTIVE_SHARE)),
    }
}

fn request(document: &RepositoryDocument, wanted: Wanted) -> SyncRequest {
    let tenant = document.details.tenant.clone();
    let job = SyncJob { tenant, repository: document.id, request: wanted.number };
    SyncRequest { job, lane: wanted.lane, rebuild: wanted.rebuild, is_scheduled: wanted.is_scheduled }
}
