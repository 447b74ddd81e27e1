//! Makes the local index available for questions and MCP calls.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cairn_domain::{RepositoryId, RepositoryName, RunId, RunState, Tenant};
use cairn_gateway::{Agent, IndexCall, IndexStatus};
use cairn_git::{locate, repository_name};
use cairn_pipeline::StageError;
use cairn_ports::{Catalogue, ErrorKind, FailureCode, LedgerRead, RepositoryRecord, RunRecord, SourceError};
use cairn_search::{QueryError, QueryErrorCode, Searcher};
use cairn_stages::check_request;
use cairn_wire::{RequestSettings, RunResult};
use tokio::sync::Mutex;

use super::{IndexRequest, Indexed, Local, MAINTENANCE, Progress};

/// How long an index call waits for its run.
const PATIENCE: Duration = Duration::from_secs(300);

pub struct LocalAgent {
    local: Arc<Local>,
    /// This lock makes the index runs of one process sequential.
    indexing: Arc<Mutex<()>>,
}

impl LocalAgent {
    pub fn new(local: Local) -> Self {
        Self { local: local.shared(), indexing: Arc::default() }
    }

    /// Continues the maintenance of the stores in the background, until the process ends.
    pub fn maintain(&self) {
        let (local, indexing) = (Arc::clone(&self.local), Arc::clone(&self.indexing));
        tokio::spawn(async move {
            local.check_maintenance().await;
            loop {
                tokio::time::sleep(MAINTENANCE).await;
                let _turn = indexing.lock().await;
                local.go_on().await;
            }
        });
    }

    /// Watches the working tree of the working directory. A question about a name in a changed file then
    /// needs no listing of the tree. Without a watch, questions list it.
    pub fn watch(&self) {
        let local = Arc::clone(&self.local);
        tokio::spawn(async move {
            if let Err(error) = local.watch_here().await {
                tracing::warn!("the working tree is not watched: {error:#}");
            }
        });
    }

    async fn request(&self, call: &IndexCall) -> Result<(IndexRequest, Option<RepositoryRecord>), QueryError> {
        let known = self.known(&call.target).await?;
        let mut request = match &known {
            Some(record) => self.local.request_of(record).map_err(|error| internal(&error))?,
            None => {
                let source = locate(&call.target, &self.local.remotes()).map_err(unusable)?;
                let name = repository_name(&source);
                let settings = RequestSettings::default();
                IndexRequest { source, name, branch: None, settings, rebuild: false, known: None }
            }
        };
        request.settings = call.settings().over(request.settings);
        Ok((request, known))
    }

    /// The indexed repository with this name, path or URL.
    async fn known(&self, target: &str) -> Result<Option<RepositoryRecord>, QueryError> {
        let scope = cairn_domain::Scope::all(Tenant::local());
        let records = self.local.runs.repositories(&scope).await?;
        let path = Path::new(target).canonicalize().ok();
        let means = |record: &RepositoryRecord| {
            record.name.as_str() == target
                || record.source.location() == target
                || path.as_ref().is_some_and(|path| path.to_str() == Some(record.source.location()))
        };
        Ok(records.into_iter().find(means))
    }

    async fn run_of(&self, repository: RepositoryId) -> Result<Option<RunRecord>, QueryError> {
        Ok(self.local.runs.unfinished().await?.into_iter().find(|run| run.id.repository == repository))
    }
}

#[async_trait]
impl Agent for LocalAgent {
    fn searcher(&self) -> &Searcher {
        &self.local.searcher
    }

    async fn default_repository(&self) -> Option<String> {
        let here = std::env::current_dir().ok()?;
        self.local.repository_of_directory(&here).await.ok().flatten()
    }

    fn home(&self) -> Option<String> {
        Some(self.local.home.directory.display().to_string())
    }

    fn size_bytes(&self) -> Option<u64> {
        Some(directory_bytes(&self.local.home.directory))
    }

    async fn index(&self, call: IndexCall) -> Result<IndexStatus, QueryError> {
        let (request, known) = self.request(&call).await?;
        check_request(&self.local.operator, &request.settings).map_err(|error| failed(&error.into()))?;
        if let (Some(record), false) = (&known, call.changed_files.is_empty()) {
            self.local.forget_stat(record.id).map_err(|error| internal(&error))?;
        }
        let (name, repository) = (request.name.clone(), request.repository());
        let (local, indexing) = (Arc::clone(&self.local), Arc::clone(&self.indexing));
        // The run is a separate task, so that it continues when the call stops waiting.
        let run = tokio::spawn(async move {
            let _turn = indexing.lock().await;
            local.index(&request, &Quiet).await
        });
        match tokio::time::timeout(PATIENCE, run).await {
            Ok(Ok(Ok(indexed))) => Ok(ended(self.searcher(), &name, indexed)),
            Ok(Ok(Err(error))) => Err(failed(&error)),
            Ok(Err(panic)) => Err(QueryError::new(QueryErrorCode::InternalError, panic.to_string())),
            Err(_) => {
                let run = self.run_of(repository).await?;
                Ok(IndexStatus {
                    repository: name.to_string(),
                    run: run.as_ref().map(|run| self.searcher().run_id(run.id)),
                    request: None,
                    previous_run: None,
                    state: RunState::Running,
                    result: run.map_or_else(RunResult::default, |run| run.result),
                    message: None,
                    num_parts: 0,
                    num_ended: 0,
                    sync: None,
                })
            }
        }
    }

    async fn cancel(&self, run: RunId) -> Result<bool, QueryError> {
        self.local.cancel(run).await.map_err(|error| QueryError::new(QueryErrorCode::InternalError, error.chain()))
    }
}

fn ended(searcher: &Searcher, name: &RepositoryName, indexed: Indexed) -> IndexStatus {
    IndexStatus {
        repository: name.to_string(),
        run: indexed.run.map(|run| searcher.run_id(run)),
        request: None,
        previous_run: None,
        state: indexed.state,
        result: indexed.result,
        message: indexed.message,
        num_parts: 0,
        num_ended: 0,
        sync: None,
    }
}

/// The error for a target that cannot be indexed.
fn unusable(error: SourceError) -> QueryError {
    let code = match error.kind {
        ErrorKind::NotFound => QueryErrorCode::NotFound,
        ErrorKind::Invalid | ErrorKind::Forbidden => QueryErrorCode::ValidationError,
        _ => QueryErrorCode::InternalError,
    };
    QueryError { code, ..QueryError::from(error) }
}

fn internal(error: &anyhow::Error) -> QueryError {
    QueryError::new(QueryErrorCode::InternalError, format!("{error:#}"))
}

fn directory_bytes(directory: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(directory) else { return 0 };
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => directory_bytes(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    };
    entries.flatten().map(size).sum()
}

/// Errors in settings and sources are errors of the caller; all other errors are internal.
fn failed(error: &anyhow::Error) -> QueryError {
    let code = match error.downcast_ref::<StageError>().map(|error| error.code) {
        Some(FailureCode::InvalidSettings | FailureCode::OverBudget | FailureCode::Invalid) => {
            QueryErrorCode::ValidationError
        }
        Some(FailureCode::NotFound) => QueryErrorCode::NotFound,
        _ => QueryErrorCode::InternalError,
    };
    let message = match error.downcast_ref::<StageError>() {
        Some(error) => error.chain(),
        None => format!("{error:#}"),
    };
    QueryError::new(code, message)
}

/// Reports no progress: agents receive only the answer.
struct Quiet;

impl Progress for Quiet {
    fn reading(&self, _name: &RepositoryName) {}

    fn parts(&self, _run: &RunRecord) {}
}
