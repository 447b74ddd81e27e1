//! Stores the catalogue and the ledger in memory.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use cairn_domain::{GenerationId, Lane, PartId, PublishedSeq, RepositoryId, RunId, RunState, View};
use cairn_ports::{ErrorKind, RepositoryQuery, RunDocuments, RunDocumentsError, RunQuery};
use cairn_runs::{
    Command, CommandReply, Documents, EndedPart, Publication, Reach, Refusal, Registry, RepositoryDocument, RunDocument,
};

/// A store of run documents for tests. The store satisfies the port's contract except for durability. No
/// operation ever waits.
#[derive(Debug, Default)]
pub struct MemoryRuns {
    tables: Mutex<Tables>,
}

#[derive(Debug, Default)]
struct Tables {
    registry: Registry,
    repositories: BTreeMap<RepositoryId, RepositoryDocument>,
    runs: BTreeMap<GenerationId, RunDocument>,
    ended: BTreeMap<(GenerationId, PartId), EndedPart>,
    publications: BTreeMap<PublishedSeq, Publication>,
}

impl MemoryRuns {
    pub fn new() -> Self {
        Self::default()
    }

    /// Does the same as `RunDocuments::change`, without `async`.
    pub fn apply(&self, command: &Command) -> Result<CommandReply, Refusal> {
        let mut tables = self.lock();
        let mut documents = tables.load(command.reach());
        let answer = command.apply(&mut documents)?;
        tables.keep(documents, command.reach());
        Ok(answer)
    }

    pub fn head(&self) -> Registry {
        self.lock().registry.clone()
    }

    pub fn repository(&self, id: RepositoryId) -> Option<RepositoryDocument> {
        self.lock().repositories.get(&id).cloned()
    }

    pub fn run(&self, run: RunId) -> Option<RunDocument> {
        self.lock().runs.get(&run.generation).filter(|document| document.ledger.id == run).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tables {
    fn load(&self, reach: Reach) -> Documents {
        let repository = reach.repository.and_then(|id| self.repositories.get(&id)).cloned();
        let mut documents = Documents::default();
        let run = match (reach.run, &repository) {
            (Some(run), _) => self.runs.get(&run.generation).filter(|document| document.ledger.id == run),
            (None, Some(of)) if reach.registry => of.state.unfinished.and_then(|run| self.runs.get(&run)),
            _ => None,
        };
        documents.run = run.cloned();
        if reach.registry {
            documents.registry = self.registry.clone();
            let state = repository.as_ref().map(|document| &document.state);
            documents.previous = state.and_then(|state| self.runs.get(&state.published?)).cloned();
            let deleted = repository.as_ref().filter(|document| document.state.deletion.is_some());
            documents.earlier = deleted.map(|document| self.generations(document.id)).unwrap_or_default();
        }
        documents.repository = repository;
        documents
    }

    fn generations(&self, repository: RepositoryId) -> Vec<GenerationId> {
        let own = self.runs.values().filter(|run| run.ledger.id.repository == repository);
        own.map(|run| run.ledger.id.generation).collect()
    }

    fn keep(&mut self, documents: Documents, reach: Reach) {
        if reach.registry {
            self.registry = documents.registry;
        }
        for run in documents.previous.into_iter().chain(documents.run) {
            self.runs.insert(run.ledger.id.generation, run);
        }
        if let Some(ended) = documents.ended {
            self.ended.entry((ended.run.generation, ended.part)).or_insert(ended);
        }
        if let Some(publication) = documents.publication {
            self.publications.insert(publication.view.seq, publication);
        }
        let Some(repository) = documents.repository else { return };
        if let Some(until) = documents.forgotten_until {
            self.forget_runs(repository.id, until);
        }
        if documents.is_removed {
            self.repositories.remove(&repository.id);
        } else {
            self.repositories.insert(repository.id, repository);
        }
    }

    fn forget_runs(&mut self, repository: RepositoryId, until: GenerationId) {
        let runs = self.generations(repository);
        for generation in runs.into_iter().filter(|generation| *generation <= until) {
            self.runs.remove(&generation);
            self.ended.retain(|(of, _), _| *of != generation);
        }
    }

    fn asked(&self, limit: usize) -> Vec<RepositoryDocument> {
        let is_asked = |document: &&RepositoryDocument| document.state.requests.wanted.is_some();
        let mut asked: Vec<_> = self.repositories.values().filter(is_asked).cloned().collect();
        asked.sort_by_key(|document| {
            let place = document.state.requests.place();
            (place.map(|(lane, at_ms)| (lane != Lane::Interactive, at_ms)), document.id)
        });
        asked.truncate(limit);
        asked
    }

    fn runs(&self, limit: usize, is_wanted: impl Fn(&RunDocument) -> bool) -> Vec<RunDocument> {
        self.runs.values().filter(|run| is_wanted(run)).take(limit).cloned().collect()
    }

    fn newest_of_each(
        &self,
        repositories: &[RepositoryId],
        limit: usize,
        is_wanted: impl Fn(&RunDocument) -> bool,
    ) -> Vec<RunDocument> {
        let mut found = Vec::new();
        for repository in repositories {
            found.extend(self.newest(limit, |run| run.ledger.id.repository == *repository && is_wanted(run)));
        }
        found.sort_by_key(|run| std::cmp::Reverse(run.ledger.id.generation));
        found
    }

    fn newest(&self, limit: usize, is_wanted: impl Fn(&RunDocument) -> bool) -> Vec<RunDocument> {
        self.runs.values().rev().filter(|run| is_wanted(run)).take(limit).cloned().collect()
    }
}

#[async_trait]
impl RunDocuments for MemoryRuns {
    async fn change(&self, command: Command) -> Result<CommandReply, RunDocumentsError> {
        self.apply(&command).map_err(|refusal| {
            let kind = match refusal {
                Refusal::NotFound => ErrorKind::NotFound,
                Refusal::Conflict(_) => ErrorKind::Conflict,
                Refusal::Invalid(_) => ErrorKind::Invalid,
            };
            RunDocumentsError::new(kind, command.name(), format!("{:?}", command.reach())).because(refusal)
        })
    }

    async fn registry(&self) -> Result<Registry, RunDocumentsError> {
        Ok(self.head())
    }

    async fn publication(&self, seq: PublishedSeq) -> Result<Option<View>, RunDocumentsError> {
        Ok(self.lock().publications.get(&seq).map(|publication| publication.view.clone()))
    }

    async fn repositories(&self, query: RepositoryQuery) -> Result<Vec<RepositoryDocument>, RunDocumentsError> {
        let tables = self.lock();
        let tenant = match query {
            RepositoryQuery::One(id) => return Ok(tables.repositories.get(&id).cloned().into_iter().collect()),
            RepositoryQuery::Asked { limit } => return Ok(tables.asked(limit)),
            RepositoryQuery::OfTenant(tenant) => tenant,
        };
        let all = tables.repositories.values();
        let of_tenant = all.filter(|document| tenant.as_ref().is_none_or(|tenant| document.details.tenant == *tenant));
        let mut found: Vec<_> = of_tenant.cloned().collect();
        found.sort_by(|one, other| {
            let key = |document: &RepositoryDocument| (document.details.tenant.clone(), document.details.name.clone());
            key(one).cmp(&key(other))
        });
        Ok(found)
    }

    async fn runs(&self, query: RunQuery) -> Result<Vec<RunDocument>, RunDocumentsError> {
        let tables = self.lock();
        Ok(match query {
            RunQuery::One(run) => tables.runs(1, |document| document.ledger.id == run),
            RunQuery::Newest { repository, limit } => {
                tables.newest(limit, |run| repository.is_none_or(|only| run.ledger.id.repository == only))
            }
            RunQuery::NewestOfEach { repositories, of_each, in_all } => {
                let mut found = tables.newest_of_each(&repositories, of_each, |_| true);
                found.truncate(in_all);
                found
            }
            RunQuery::Unfinished => tables.runs(usize::MAX, |run| !run.ledger.state.is_finished()),
            RunQuery::Unsent { limit } => tables.runs(limit, |run| !run.ledger.unsent().is_empty()),
            RunQuery::PublishedAt { repositories, seq } => {
                tables.newest_of_each(&repositories, 1, |run| run.ledger.published.is_some_and(|at| at <= seq))
            }
            RunQuery::Retired { until_ms } => {
                let is_old = |run: &RunDocument| run.ledger.ended_at_ms.is_some_and(|ended| ended <= until_ms);
                tables.runs(usize::MAX, |run| run.ledger.published.is_some() && !run.ledger.is_swept && is_old(run))
            }
            RunQuery::Live { until_ms } => {
                let is_live = |run: &RunDocument| !matches!(run.ledger.state, RunState::Failed | RunState::Cancelled);
                let is_young = |run: &RunDocument| run.ledger.superseded_at_ms.is_none_or(|at| at > until_ms);
                tables.runs(usize::MAX, |run| is_live(run) && is_young(run))
            }
        })
    }

    async fn parts(&self, run: RunId) -> Result<Vec<EndedPart>, RunDocumentsError> {
        let tables = self.lock();
        let of_run =
            tables.ended.iter().filter(|((generation, _), ended)| *generation == run.generation && ended.run == run);
        Ok(of_run.map(|(_, ended)| ended.clone()).collect())
    }

    async fn forget_publications(&self, until_ms: i64) -> Result<(), RunDocumentsError> {
        let mut tables = self.lock();
        // A view stays current until the next publication.
        let succeeded = tables.publications.iter().rev().find(|(_, publication)| publication.at_ms < until_ms);
        if let Some(newest) = succeeded.map(|(seq, _)| *seq) {
            tables.publications.retain(|seq, _| *seq >= newest);
        }
        Ok(())
    }
}
