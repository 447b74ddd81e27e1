//! The query service for one caller.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cairn_domain::{RepositoryId, RunId};
use cairn_ports::KeyStore;
use cairn_search::{Caller, QueryError, QueryErrorCode, Searcher};

use super::config::GatewayConfig;
use super::request_ids::RequestIds;
use crate::agent::{Agent, Caps};
use crate::auth::{Authenticator, Limits};
use crate::index_call::{IndexCall, IndexStatus, IndexTicket};
use crate::indexing::Indexing;

/// The components of the service that the routes use.
pub struct GatewayState {
    /// Each request uses a copy with the permissions of its caller.
    pub searcher: Searcher,
    pub keys: Arc<dyn KeyStore>,
    pub indexing: Arc<dyn Indexing>,
}

pub(super) struct Service {
    pub config: GatewayConfig,
    pub authenticator: Authenticator,
    pub limits: Limits,
    pub request_ids: RequestIds,
    searcher: Searcher,
    indexing: Arc<dyn Indexing>,
}

impl Service {
    pub(super) fn new(state: GatewayState, config: GatewayConfig) -> Self {
        let GatewayState { searcher, keys, indexing } = state;
        let clock = Arc::clone(&searcher.clock);
        let remember_for = Duration::from_millis(config.key_cache_ms);
        Self {
            authenticator: Authenticator::new(keys, Arc::clone(&clock), remember_for),
            limits: Limits::new(config.limits.clone(), clock),
            request_ids: RequestIds::new(),
            config,
            searcher,
            indexing,
        }
    }
}

/// Answers the questions of one caller.
#[derive(Clone)]
pub(super) struct CallerAgent {
    searcher: Searcher,
    indexing: Arc<dyn Indexing>,
    may_index: bool,
    suggestion_time: Duration,
}

impl CallerAgent {
    pub(super) fn new(service: &Service, caller: Caller, may_index: bool) -> Self {
        Self {
            searcher: service.searcher.asked_by(caller),
            indexing: Arc::clone(&service.indexing),
            may_index,
            suggestion_time: service.config.time_for(false) / 2,
        }
    }

    fn check_may_index(&self) -> Result<(), QueryError> {
        let message = "this API key may ask questions, but it may not index or cancel";
        self.may_index.then_some(()).ok_or_else(|| QueryError::new(QueryErrorCode::Forbidden, message))
    }
}

#[async_trait]
impl Agent for CallerAgent {
    fn searcher(&self) -> &Searcher {
        &self.searcher
    }

    async fn default_repository(&self) -> Option<String> {
        None
    }

    async fn index(&self, call: IndexCall) -> Result<IndexStatus, QueryError> {
        self.check_may_index()?;
        self.indexing.index(&self.searcher, call).await
    }

    async fn progress(&self, ticket: IndexTicket) -> Result<IndexStatus, QueryError> {
        self.indexing.progress(&self.searcher, ticket).await
    }

    async fn cancel(&self, run: RunId) -> Result<bool, QueryError> {
        self.check_may_index()?;
        self.indexing.cancel(run).await
    }

    async fn cancel_requests(&self, repositories: &[RepositoryId]) -> Result<Vec<RepositoryId>, QueryError> {
        self.check_may_index()?;
        self.indexing.cancel_requests(repositories).await
    }

    fn may_index(&self) -> bool {
        self.may_index
    }

    fn how_to_index(&self) -> &'static str {
        if self.may_index {
            "`cairn index URL`, or `index_repository` with the URL of a git repository as `target`, indexes a repository"
        } else {
            "this API key may not index: ask the operator of the service to index a repository, or to issue a key with this permission"
        }
    }

    fn caps(&self) -> Caps {
        Caps::OF_A_SERVICE
    }

    fn suggestion_time(&self) -> Duration {
        self.suggestion_time
    }

    fn shows_causes(&self) -> bool {
        false
    }
}
