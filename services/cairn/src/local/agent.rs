//! Implements `Agent`, which answers questions and MCP calls, for the local index.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use cairn_domain::{RepositoryId, RepositoryName, RunId, RunState, Scope, Tenant};
use cairn_gateway::{Agent, IndexCall, IndexStatus, Notice, WatchIndexing, check_settings, settings_after_call};
use cairn_git::{locate, work_tree_root};
use cairn_pipeline::StageError;
use cairn_ports::{Catalogue, ErrorKind, FailureCode, LedgerRead, RepositoryRecord, RunRecord, SourceError, plain};
use cairn_redaction::{Given, Message, Own};
use cairn_search::{FieldFault, NextCall, QueryError, QueryErrorCode, Searcher, named};
use cairn_stages::check_request;
use cairn_wire::{RequestSettings, RunResult};

use super::first_run::{FirstRun, Watchers};
use super::{IndexRequest, Indexed, Local, MAINTENANCE, Named, Progress, TreeAround, UnindexedTree, too_large};

/// The time for which a question waits for the first index run of its working tree. The time is short because
/// MCP clients often wait only one minute for a reply.
const FIRST_PATIENCE: Duration = Duration::from_secs(45);
/// The time for which an index call waits for its run.
const PATIENCE: Duration = Duration::from_secs(300);

pub struct LocalAgent {
    local: Arc<Local>,
    /// This lock ensures that the process executes only one index run at a time.
    indexing: Arc<tokio::sync::Mutex<()>>,
    /// The first index run of the working tree of this process. Set from the time at which a question begins
    /// the run until an answer has reported the end of the run.
    first_run: Mutex<Option<FirstRun>>,
    notice: Mutex<Option<Notice>>,
    /// Whether a question may index the working tree of this process.
    indexes_on_first_use: bool,
}

impl LocalAgent {
    pub fn new(local: Local) -> Self {
        Self {
            local: local.shared(),
            indexing: Arc::default(),
            first_run: Mutex::default(),
            notice: Default::default(),
            indexes_on_first_use: false,
        }
    }

    /// Allows questions to index the working tree of this process if the tree is not indexed.
    #[must_use]
    pub fn indexing_on_first_use(self) -> Self {
        Self { indexes_on_first_use: true, ..self }
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

    /// Watches each working tree from the first question that reads its changed files. Without a watch, the
    /// tree is listed for each such question. With a watch, the tree is listed only if it has changed.
    pub fn watch(&self) {
        if let Err(error) = self.local.watch_trees() {
            tracing::warn!("working trees are not watched: {}", plain(error.as_ref()));
        }
    }

    async fn request(&self, call: &IndexCall) -> Result<(IndexRequest, Option<RepositoryRecord>), QueryError> {
        let records = self.local.runs.repositories(&Scope::all(Tenant::local())).await?;
        let record = match known(&records, &call.target) {
            Some(record) => record.clone(),
            None => {
                let located = locate(&call.target, &self.local.remotes());
                let source = located.map_err(|error| unusable_target(error, &call.target))?;
                match self.local.named(&source, None, &records).map_err(|error| failed(&error))? {
                    Named { known: Some(record), .. } => record,
                    Named { name, known: None } => {
                        let settings = settings_after_call(call.settings(), RequestSettings::default());
                        let request =
                            IndexRequest { source, name, branch: None, settings, rebuild: false, known: None };
                        return Ok((request, None));
                    }
                }
            }
        };
        let mut request = self.local.request_of(&record, &records).map_err(|error| internal(&error))?;
        request.settings = settings_after_call(call.settings(), request.settings);
        Ok((request, Some(record)))
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

    async fn working_repository(&self, watch: Arc<dyn WatchIndexing>) -> Option<String> {
        if self.indexes_on_first_use {
            self.index_first(watch).await;
        }
        self.default_repository().await
    }

    async fn works_outside_repositories(&self) -> bool {
        let Ok(here) = std::env::current_dir() else { return false };
        work_tree_root(&here).is_none() && matches!(self.local.repository_of_directory(&here).await, Ok(None))
    }

    fn take_notice(&self) -> Option<Notice> {
        lock(&self.notice).take()
    }

    fn home(&self) -> Option<String> {
        Some(self.local.home.directory.display().to_string())
    }

    fn size_bytes(&self) -> Option<u64> {
        Some(directory_bytes(&self.local.home.directory))
    }

    async fn index(&self, call: IndexCall) -> Result<IndexStatus, QueryError> {
        self.index_with(call, Quiet).await
    }

    async fn index_watched(&self, call: IndexCall, watch: Arc<dyn WatchIndexing>) -> Result<IndexStatus, QueryError> {
        self.index_with(call, Watchers::of(watch)).await
    }

    async fn cancel(&self, run: RunId) -> Result<bool, QueryError> {
        self.local.cancel(run).await.map_err(|error| QueryError::new(QueryErrorCode::InternalError, Own(error.chain())))
    }
}

impl LocalAgent {
    fn set_notice(&self, text: String, next: Option<NextCall>) {
        *lock(&self.notice) = Some(Notice { text, next });
    }

    /// Indexes the working tree of the working directory if the tree is not indexed and a question may index
    /// it. Waits for the run for a limited time. After this time, the run continues in the background.
    async fn index_first(&self, watch: Arc<dyn WatchIndexing>) {
        let is_begun = lock(&self.first_run).is_some();
        if !is_begun && !self.begin_first_run().await {
            return;
        }
        let limit = FIRST_PATIENCE.min(self.local.first_use_timeout());
        let end = {
            let first_run = lock(&self.first_run);
            // In the meantime, another question may have reported the end of the run and cleared `first_run`.
            let Some(run) = first_run.as_ref() else { return };
            run.add(watch);
            run.end(limit)
        };
        let Some(notice) = end.await else {
            let notice = "this working tree is being indexed for the first time; ask again in a minute";
            return self.set_notice(notice.to_owned(), None);
        };
        self.set_notice(notice, None);
        lock(&self.first_run).take_if(|run| run.has_ended());
    }

    /// Begins the first run if a question may index the tree. Returns whether a run has begun.
    async fn begin_first_run(&self) -> bool {
        let Ok(here) = std::env::current_dir() else { return false };
        let tree = match self.local.tree_around(&here).await {
            Ok(TreeAround::Unindexed(tree)) => *tree,
            Ok(TreeAround::Nowhere | TreeAround::Repository(_)) => return false,
            Err(error) => {
                let reason = plain(error.as_ref());
                self.set_notice(format!("whether this working tree is indexed is not known: {reason}"), None);
                return false;
            }
        };
        if tree.is_too_large() {
            self.set_notice(too_large(&tree), Some(index_call(&tree)));
            return false;
        }
        let begin = || FirstRun::begin(Arc::clone(&self.local), Arc::clone(&self.indexing), tree);
        lock(&self.first_run).get_or_insert_with(begin);
        true
    }

    async fn index_with(&self, call: IndexCall, progress: impl Progress + 'static) -> Result<IndexStatus, QueryError> {
        check_settings(&call.settings())?;
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
            local.index(&request, &progress).await
        });
        match tokio::time::timeout(PATIENCE, run).await {
            Ok(Ok(Ok(indexed))) => Ok(ended(self.searcher(), indexed)),
            Ok(Ok(Err(error))) => Err(failed(&error)),
            Ok(Err(panic)) => Err(QueryError::new(QueryErrorCode::InternalError, Own(panic.to_string()))),
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
}

fn ended(searcher: &Searcher, indexed: Indexed) -> IndexStatus {
    IndexStatus {
        repository: indexed.name.to_string(),
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

/// The call that indexes a working tree without the limits that apply to questions.
fn index_call(tree: &UnindexedTree) -> NextCall {
    NextCall {
        tool: "index_repository",
        reason: "indexes the working tree without these limits".into(),
        arguments: vec![("path", tree.root.display().to_string())],
    }
}

/// The registered repository that a target names. The target may be the name of the repository, its URL, or
/// the last part of its name. `None` for a path that exists: the caller then finds the record by the path,
/// and can apply a changed name in `.cairn.yaml`.
fn known<'r>(records: &'r [RepositoryRecord], target: &str) -> Option<&'r RepositoryRecord> {
    if let Some(record) = records.iter().find(|record| record.name.as_str() == target) {
        return Some(record);
    }
    if Path::new(target).exists() {
        return None;
    }
    if let Some(record) = records.iter().find(|record| record.source.location() == target) {
        return Some(record);
    }
    match named(records, |record| record, target).as_slice() {
        [only] => Some(*only),
        _ => None,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No method leaves the values inconsistent, so the values can be used after another thread has panicked.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The error for a target that cannot be indexed. If a directory with a similar name exists, the error
/// suggests this directory.
pub(crate) fn unusable_target(error: SourceError, target: &str) -> QueryError {
    // A target with `@` may contain a password, so the error does not show it.
    let shown = (!target.contains('@')).then(|| target.to_owned());
    let fault = FieldFault { path: shown.clone(), ..FieldFault::of("path") };
    let (code, message) = match error.kind {
        ErrorKind::NotFound => {
            let message = Message::from("path does not exist");
            let message = match &shown {
                Some(path) => message.and(": ").and(Given(path)),
                None => message,
            };
            (QueryErrorCode::ValidationError, message)
        }
        ErrorKind::Invalid | ErrorKind::Forbidden => (QueryErrorCode::ValidationError, QueryError::from(error).message),
        _ => return QueryError::from(error),
    };
    let error = QueryError::new(code, message).in_field(fault);
    let error =
        error.hint("pass the path of a directory, the URL of a git repository, or the name of an indexed repository");
    match similar_directory(Path::new(target)) {
        Some(similar) => error.next(NextCall {
            tool: "index_repository",
            reason: "indexes the directory with the most similar path".into(),
            arguments: vec![("path", similar)],
        }),
        None => error,
    }
}

/// If the path is a file, the directory that contains it. Otherwise, the directory with the most similar name
/// in the parent directory.
fn similar_directory(path: &Path) -> Option<String> {
    /// Directories whose names are less similar are not suggested.
    const LEAST_PERCENT: u32 = 60;
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if path.is_file() {
        return Some(parent.to_str()?.to_owned());
    }
    let name = path.file_name()?.to_str()?;
    let likeness = |entry: std::fs::DirEntry| {
        let is_directory = entry.path().is_dir();
        let other = entry.file_name().into_string().ok().filter(|_| is_directory)?;
        let percent = cairn_ranking::similarity_percent(name, &other).filter(|percent| *percent >= LEAST_PERCENT)?;
        Some((percent, std::cmp::Reverse(other)))
    };
    let (_, std::cmp::Reverse(best)) = std::fs::read_dir(parent).ok()?.flatten().filter_map(likeness).max()?;
    let similar = if parent == Path::new(".") { PathBuf::from(best) } else { parent.join(best) };
    Some(similar.to_str()?.to_owned())
}

fn internal(error: &anyhow::Error) -> QueryError {
    QueryError::new(QueryErrorCode::InternalError, Own(plain(error.as_ref())))
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
        None => plain(error.as_ref()),
    };
    QueryError::new(code, Own(message))
}

/// Reports no progress, because the caller receives only the answer.
struct Quiet;

impl Progress for Quiet {
    fn reading(&self, _name: &RepositoryName) {}

    fn files_read(&self, _name: &RepositoryName, _num_files: u64) {}

    fn parts(&self, _run: &RunRecord) {}
}
