//! Lets questions share reads of the published state.
//!
//! Each question needs the registry, the repositories of its tenant, their published runs and their newest
//! runs. [`SharedReads`] reads the registry and the repositories at most once in `max_age`, for all questions
//! together. So the load on the database does not grow with the number of questions, but a question may see
//! a state that is up to `max_age` old. The runs that are published at one sequence number never change, so
//! they are stored without a maximum age. When the newest run of a repository has ended, it is also stored
//! without a maximum age. It is replaced when the document of the repository shows that a later run began.
//! All other reads, and all changes, go to the store.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cairn_domain::{GenerationId, PublishedSeq, RepositoryId, RunId, Tenant, View};
use cairn_ports::{Clock, RepositoryQuery, RunDocuments, RunDocumentsError, RunQuery};
use cairn_runs::{Command, CommandReply, EndedPart, Registry, RepositoryDocument, RepositoryState, RunDocument};
use tokio::sync::Mutex;

/// A store of run documents that answers repeated reads from memory.
pub struct SharedReads {
    documents: Arc<dyn RunDocuments>,
    clock: Arc<dyn Clock>,
    max_age: Duration,
    registry: Mutex<Option<Read<Registry>>>,
    /// The repositories by tenant. The entry for `None` contains the repositories of all tenants.
    repositories: Mutex<BTreeMap<Option<Tenant>, Read<Vec<RepositoryDocument>>>>,
    unfinished: Mutex<Option<Read<Vec<RunDocument>>>>,
    published: Mutex<PublishedRuns>,
    newest: Mutex<BTreeMap<RepositoryId, NewestRun>>,
}

/// The part of a repository's state that changes if a run begins or ends. `lease_epoch` changes when a run
/// begins, because each run begins under a new lease.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct RunsMark {
    lease_epoch: u64,
    unfinished: Option<GenerationId>,
    published: Option<GenerationId>,
}

impl RunsMark {
    fn of(state: &RepositoryState) -> Self {
        Self { lease_epoch: state.lease.epoch, unfinished: state.unfinished, published: state.published }
    }
}

/// The newest run of a repository, with the state of the repository before the read.
struct NewestRun {
    mark: RunsMark,
    read: Read<Option<RunDocument>>,
}

struct Read<T> {
    /// The monotonic time before the read.
    began_at: Duration,
    value: T,
}

/// The published runs at one sequence number. A repository without a published run has the value `None`.
#[derive(Default)]
struct PublishedRuns {
    seq: PublishedSeq,
    runs: BTreeMap<RepositoryId, Option<RunDocument>>,
}

impl SharedReads {
    pub fn new(documents: Arc<dyn RunDocuments>, clock: Arc<dyn Clock>, max_age: Duration) -> Self {
        Self {
            documents,
            clock,
            max_age,
            registry: Mutex::default(),
            repositories: Mutex::default(),
            unfinished: Mutex::default(),
            published: Mutex::default(),
            newest: Mutex::default(),
        }
    }

    fn is_current<T>(&self, read: &Read<T>) -> bool {
        self.clock.monotonic().saturating_sub(read.began_at) < self.max_age
    }

    /// Returns the stored value, or reads it. Questions that arrive during a read wait for its result.
    async fn current<T: Clone>(
        &self,
        stored: &Mutex<Option<Read<T>>>,
        read: impl Future<Output = Result<T, RunDocumentsError>>,
    ) -> Result<T, RunDocumentsError> {
        let mut stored = stored.lock().await;
        if let Some(read) = stored.as_ref().filter(|read| self.is_current(read)) {
            return Ok(read.value.clone());
        }
        let began_at = self.clock.monotonic();
        let value = read.await?;
        *stored = Some(Read { began_at, value: value.clone() });
        Ok(value)
    }

    async fn of_tenant(&self, tenant: Option<Tenant>) -> Result<Vec<RepositoryDocument>, RunDocumentsError> {
        let mut stored = self.repositories.lock().await;
        stored.retain(|_, read| self.is_current(read));
        if let Some(read) = stored.get(&tenant) {
            return Ok(read.value.clone());
        }
        let began_at = self.clock.monotonic();
        let value = self.documents.repositories(RepositoryQuery::OfTenant(tenant.clone())).await?;
        stored.insert(tenant, Read { began_at, value: value.clone() });
        Ok(value)
    }

    async fn published_at(
        &self,
        repositories: &[RepositoryId],
        seq: PublishedSeq,
    ) -> Result<Vec<RunDocument>, RunDocumentsError> {
        let mut stored = self.published.lock().await;
        // The runs of an older view must not replace the stored runs, which all new questions use.
        if seq < stored.seq {
            drop(stored);
            return self.documents.runs(RunQuery::PublishedAt { repositories: repositories.to_vec(), seq }).await;
        }
        if seq > stored.seq {
            *stored = PublishedRuns { seq, runs: BTreeMap::new() };
        }
        let missing: Vec<_> = repositories.iter().copied().filter(|id| !stored.runs.contains_key(id)).collect();
        if !missing.is_empty() {
            let read = RunQuery::PublishedAt { repositories: missing.clone(), seq };
            let found = self.documents.runs(read).await?;
            stored.runs.extend(missing.into_iter().map(|id| (id, None)));
            stored.runs.extend(found.into_iter().map(|run| (run.ledger.id.repository, Some(run))));
        }
        let found = repositories.iter().filter_map(|id| stored.runs.get(id).cloned().flatten());
        let mut found: Vec<RunDocument> = found.collect();
        found.sort_by_key(|run| Reverse(run.ledger.id.generation));
        Ok(found)
    }

    /// The marks of those repositories whose documents were read at most `max_age` ago.
    async fn marks(&self, repositories: &[RepositoryId]) -> BTreeMap<RepositoryId, RunsMark> {
        let repositories: BTreeSet<RepositoryId> = repositories.iter().copied().collect();
        let stored = self.repositories.lock().await;
        let current = stored.values().filter(|read| self.is_current(read)).flat_map(|read| &read.value);
        let asked = current.filter(|document| repositories.contains(&document.id));
        asked.map(|document| (document.id, RunsMark::of(&document.state))).collect()
    }

    /// The newest run of each repository, newest first. Questions that arrive during a read wait for its
    /// result.
    async fn newest_of(&self, repositories: &[RepositoryId]) -> Result<Vec<RunDocument>, RunDocumentsError> {
        let marks = self.marks(repositories).await;
        let mut stored = self.newest.lock().await;
        let is_known = |id: &RepositoryId| {
            let known = marks.get(id).zip(stored.get(id));
            known.is_some_and(|(mark, known)| {
                *mark == known.mark && (mark.unfinished.is_none() || self.is_current(&known.read))
            })
        };
        let missing: BTreeSet<RepositoryId> = repositories.iter().copied().filter(|id| !is_known(id)).collect();
        let mut found = Vec::new();
        if !missing.is_empty() {
            let repositories = missing.iter().copied().collect();
            let began_at = self.clock.monotonic();
            let read = RunQuery::NewestOfEach { repositories, of_each: 1, in_all: missing.len() };
            found = self.documents.runs(read).await?;
            for id in &missing {
                let value = found.iter().find(|run| run.ledger.id.repository == *id).cloned();
                match marks.get(id) {
                    Some(mark) => stored.insert(*id, NewestRun { mark: *mark, read: Read { began_at, value } }),
                    None => stored.remove(id),
                };
            }
        }
        let known = repositories.iter().filter(|id| !missing.contains(id));
        found.extend(known.filter_map(|id| stored.get(id)?.read.value.clone()));
        found.sort_by_key(|run| Reverse(run.ledger.id.generation));
        Ok(found)
    }

    /// Discards the stored values that a change by this process may have made out of date.
    async fn discard(&self) {
        *self.registry.lock().await = None;
        self.repositories.lock().await.clear();
        *self.unfinished.lock().await = None;
        self.newest.lock().await.clear();
    }
}

#[async_trait]
impl RunDocuments for SharedReads {
    async fn change(&self, command: Command) -> Result<CommandReply, RunDocumentsError> {
        let reply = self.documents.change(command).await;
        self.discard().await;
        reply
    }

    async fn registry(&self) -> Result<Registry, RunDocumentsError> {
        self.current(&self.registry, self.documents.registry()).await
    }

    async fn publication(&self, seq: PublishedSeq) -> Result<Option<View>, RunDocumentsError> {
        self.documents.publication(seq).await
    }

    async fn repositories(&self, query: RepositoryQuery) -> Result<Vec<RepositoryDocument>, RunDocumentsError> {
        match query {
            RepositoryQuery::OfTenant(tenant) => self.of_tenant(tenant).await,
            query => self.documents.repositories(query).await,
        }
    }

    async fn runs(&self, query: RunQuery) -> Result<Vec<RunDocument>, RunDocumentsError> {
        match query {
            RunQuery::Unfinished => self.current(&self.unfinished, self.documents.runs(RunQuery::Unfinished)).await,
            RunQuery::PublishedAt { repositories, seq } => self.published_at(&repositories, seq).await,
            RunQuery::NewestOfEach { repositories, of_each: 1, in_all } if in_all >= repositories.len() => {
                self.newest_of(&repositories).await
            }
            query => self.documents.runs(query).await,
        }
    }

    async fn parts(&self, run: RunId) -> Result<Vec<EndedPart>, RunDocumentsError> {
        self.documents.parts(run).await
    }

    async fn forget_publications(&self, until_ms: i64) -> Result<(), RunDocumentsError> {
        self.documents.forget_publications(until_ms).await
    }
}
