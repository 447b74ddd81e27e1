//! What a service does about a call to index or to cancel: it asks, and somebody else does the work.

use std::sync::Arc;

use async_trait::async_trait;
use cairn_domain::{Lane, RepositoryId, RepositoryName, RunId, RunState, Source};
use cairn_ports::{Catalogue, Clock, ErrorKind, Ledger, RepositoryRecord, Requests, RunRecord};
use cairn_search::{KnownRepository, QueryError, Searcher};
use cairn_wire::{RequestSettings, RunResult};

use crate::registration::{Target, same_settings, target};
use crate::{IndexCall, IndexStatus, syncs};

/// Brings repositories up to date for callers who may ask for that.
#[async_trait]
pub trait Indexing: Send + Sync + 'static {
    /// Asks for a run of a repository that the searcher's caller may see, and returns at once.
    async fn index(&self, searcher: &Searcher, call: IndexCall) -> Result<IndexStatus, QueryError>;

    /// How what was asked for stands: `asked` is what `index` said.
    async fn progress(&self, searcher: &Searcher, asked: AskedFor) -> Result<IndexStatus, QueryError>;

    /// Ends an unfinished run; what was published before stays. False if it had ended.
    async fn cancel(&self, run: RunId) -> Result<bool, QueryError>;

    /// Takes back what was asked of these and has not begun; returns those of which something was asked.
    async fn cancel_requests(&self, repositories: &[RepositoryId]) -> Result<Vec<RepositoryId>, QueryError>;
}

const BY_THE_USER: &str = "cancelled by the user";

/// What an index call asked for, so that its outcome can be told from that of others.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AskedFor {
    /// Name in full.
    pub repository: String,
    pub request: u64,
    /// What callers call the repository's newest run at the time of asking.
    pub previous_run: Option<String>,
}

/// Source and name that an address stands for, `None` for a text that is no address, or why it is refused: the rules of
/// whoever runs the service.
pub type Locate = dyn Fn(&str) -> Result<Option<(Source, RepositoryName)>, String> + Send + Sync;

/// Asks the ledger. Registers what the catalogue does not know, if the caller could see it then.
pub struct LedgerIndexing {
    pub catalogue: Arc<dyn Catalogue>,
    pub requests: Arc<dyn Requests>,
    pub ledger: Arc<dyn Ledger>,
    pub clock: Arc<dyn Clock>,
    pub locate: Box<Locate>,
}

impl LedgerIndexing {
    /// Registers a repository, or what is said now of one that is `known` of the tenant, and asks for its sync: for those who may say
    /// anything. One that was renamed is what it is called now, and keeps its identity.
    pub async fn register(
        &self,
        record: RepositoryRecord,
        known: &mut Vec<RepositoryRecord>,
        lane: Lane,
        rebuild: bool,
    ) -> Result<IndexStatus, QueryError> {
        let is_named = |known: &RepositoryRecord| known.name == record.name;
        let at = known.iter().position(is_named).or(known.iter().position(|known| known.id == record.id));
        // An address alone says nothing of branch and patterns: what is known of them stays. Where it is and what it is called is an
        // organisation's list's to say, if one brought it.
        let says_nothing = record.branch.is_none() && same_settings(&record.settings, &RequestSettings::default());
        let record = match at.map(|at| &known[at]) {
            Some(settled) if says_nothing && (settled.source == record.source || settled.hosted.is_some()) => {
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

    /// Asks for a sync of what is registered; `rebuild` makes every record anew.
    pub async fn ask(&self, record: &RepositoryRecord, lane: Lane, rebuild: bool) -> Result<IndexStatus, QueryError> {
        let request = self.requests.ask(record.id, lane, rebuild, self.clock.now_ms()).await?;
        Ok(IndexStatus {
            repository: record.name.to_string(),
            run: None,
            request: Some(request),
            previous_run: None,
            state: RunState::Running,
            result: RunResult::default(),
            message: None,
            num_parts: 0,
            num_ended: 0,
            sync: None,
        })
    }

    async fn again(&self, searcher: &Searcher, known: KnownRepository) -> Result<IndexStatus, QueryError> {
        // Before asking: a run that begins because of it is not the previous one.
        let newest = searcher.ledger.runs(Some(known.record.id), 1).await?;
        let asked = self.ask(&known.record, Lane::Interactive, false).await?;
        Ok(IndexStatus {
            previous_run: newest.first().map(|run| searcher.run_id(run.id)),
            result: known.published.map_or_else(RunResult::default, |published| published.result),
            ..asked
        })
    }
}

/// How things stand with a request: `own` is the newest run, if it began after the asking.
fn standing(searcher: &Searcher, known: KnownRepository, own: Option<RunRecord>, waits: Option<u64>) -> IndexStatus {
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
    // A run that has ended while the request waits was asked for by somebody else, and may have missed what this is about.
    match own.filter(|run| waits.is_none() || !run.state.is_finished()) {
        Some(run) => {
            (status.run, status.request) = (Some(searcher.run_id(run.id)), None);
            (status.state, status.message) = (run.state, run.message);
            (status.num_parts, status.num_ended) = (run.num_parts, run.num_ended);
            if !matches!(run.state, RunState::Published | RunState::Partial) {
                status.result = run.result;
            }
        }
        None if waits.is_some() => status.sync = syncs::news_of(&known.record),
        None => match syncs::failure(&known.record) {
            Some(failure) if failure == ErrorKind::Cancelled.code() => status.state = RunState::Cancelled,
            Some(failure) => (status.state, status.message) = (RunState::Failed, Some(failure)),
            None => status.state = RunState::Published,
        },
    }
    status
}

#[async_trait]
impl Indexing for LedgerIndexing {
    async fn index(&self, searcher: &Searcher, call: IndexCall) -> Result<IndexStatus, QueryError> {
        match target(self, searcher, &call).await? {
            Target::Known(known) => self.again(searcher, *known).await,
            Target::New(record) => {
                self.catalogue.register((*record).clone()).await?;
                self.ask(&record, Lane::Interactive, false).await
            }
        }
    }

    async fn progress(&self, searcher: &Searcher, asked: AskedFor) -> Result<IndexStatus, QueryError> {
        let view = searcher.catalogue.view().await?;
        let id = searcher.select_one(&view, &asked.repository).await?.record.id;
        let waits = self.requests.asked(id, asked.request).await?.is_some();
        // Each is read after what it follows from: the run after the answer to the request, what it published after the run.
        let newest = searcher.ledger.runs(Some(id), 1).await?.into_iter().next();
        let known = searcher.select_one(&searcher.catalogue.view().await?, &asked.repository).await?;
        let own = newest.filter(|run| Some(searcher.run_id(run.id)) != asked.previous_run);
        Ok(standing(searcher, known, own, waits.then_some(asked.request)))
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
