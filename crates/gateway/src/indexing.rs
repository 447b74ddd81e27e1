//! What a service does about a call to index or to cancel: it asks, and somebody else does the work.

use std::sync::Arc;

use async_trait::async_trait;
use cairn_domain::{Lane, RunId, RunState};
use cairn_ports::{Clock, ErrorKind, Ledger, Requests};
use cairn_search::{SearchError, SearchErrorCode, Searcher};
use cairn_wire::RunResult;

use crate::{IndexCall, IndexStatus};

/// Brings repositories up to date for callers who may ask for that.
#[async_trait]
pub trait Indexing: Send + Sync + 'static {
    /// Asks for a run of a repository that the searcher's caller may see, and returns at once.
    async fn index(&self, searcher: &Searcher, call: IndexCall) -> Result<IndexStatus, SearchError>;

    /// Ends an unfinished run; what was published before stays. False if it had ended.
    async fn cancel(&self, run: RunId) -> Result<bool, SearchError>;
}

/// Asks the ledger. Indexes repositories that the catalogue knows; new ones are registered by whoever runs the service.
pub struct LedgerIndexing {
    pub requests: Arc<dyn Requests>,
    pub ledger: Arc<dyn Ledger>,
    pub clock: Arc<dyn Clock>,
}

#[async_trait]
impl Indexing for LedgerIndexing {
    async fn index(&self, searcher: &Searcher, call: IndexCall) -> Result<IndexStatus, SearchError> {
        if !call.include_patterns.is_empty() || !call.exclude_patterns.is_empty() || call.max_file_size.is_some() {
            let message = "settings of a repository are changed by whoever runs this service, or in its `.cairn.yaml`";
            return Err(SearchError::new(SearchErrorCode::ValidationError, message));
        }
        let view = searcher.catalogue.view().await?;
        let known = searcher.select_one(&view, &call.target).await?;
        let request = self.requests.ask(known.record.id, Lane::Interactive, false, self.clock.now_ms()).await?;
        Ok(IndexStatus {
            repository: known.record.name.to_string(),
            run: None,
            request: Some(request),
            state: RunState::Running,
            result: known.published.map_or_else(RunResult::default, |published| published.result),
            message: None,
        })
    }

    async fn cancel(&self, run: RunId) -> Result<bool, SearchError> {
        match self.ledger.abort(run, RunState::Cancelled, "cancelled by the user", self.clock.now_ms()).await {
            Ok(()) => Ok(true),
            Err(error) if error.kind == ErrorKind::Conflict => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}
