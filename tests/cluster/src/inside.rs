//! Access to the stores of a cluster through the same ports as its services, without running a service.

use std::collections::{BTreeSet, VecDeque};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use cairn_domain::{Lane, RepositoryId, RepositoryName, RunState, Source, Tenant};
use cairn_gateway::answers::FingerprintReport;
use cairn_gateway::auth::{KeyRequest, issue};
use cairn_neo4j::{Neo4jKeys, Neo4jRuns};
use cairn_ports::{
    Catalogue, ErrorKind, KeyStore, LedgerError, LedgerRead, RepositoryQuery, RepositoryRecord, Requests, RunDocuments,
    RunRecord,
};
use cairn_search::{Caller, Fingerprint, RepositorySelection, Searcher};
use cairn_wiring::{Cluster, ClusterConfig, Stores, embedder, searcher};
use serde_json::Value;
use tokio::time::{Instant, sleep};

const POLL: Duration = Duration::from_millis(50);

/// The stores of a cluster, opened by the test process.
pub struct Inside {
    pub cluster: Cluster,
    pub stores: Stores,
    pub searcher: Searcher,
}

/// The last request of each repository, in the order of the requests. The last request includes the earlier
/// requests of the same repository.
fn newest_of_each(asked: &[(RepositoryId, u64)]) -> Vec<(RepositoryId, u64)> {
    let mut seen = BTreeSet::new();
    let mut newest: Vec<_> = asked.iter().rev().filter(|(repository, _)| seen.insert(*repository)).copied().collect();
    newest.reverse();
    newest
}

/// Whether the error means that a store did not answer, but may answer later.
fn is_away(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Timeout | ErrorKind::Unavailable | ErrorKind::ConnectionLost)
}

impl Inside {
    pub async fn open(settings: &Path) -> Result<Self> {
        let config = ClusterConfig::load(Some(settings))?;
        let key = config.query.as_ref().context("the settings have no section [query]")?.cursor_key()?;
        let cluster = Cluster::connect(config).await?;
        let embedder = embedder(&cluster.config.embedding, cairn_embedding_http::Share::Whole)?;
        let stores = Stores::connect(&cluster, embedder.model()).await?;
        let searcher = searcher(&cluster, &cluster.runs, &stores, embedder, key, Caller::local())?;
        Ok(Self { cluster, stores, searcher })
    }

    /// Registers a repository of the tenant of local mode and requests its sync. Returns the repository's id
    /// and the number of the request.
    pub async fn enqueue(&self, name: &str, source: Source, lane: Lane) -> Result<(RepositoryId, u64)> {
        self.enqueue_for(&Tenant::local(), name, source, lane).await
    }

    pub async fn enqueue_for(
        &self,
        tenant: &Tenant,
        name: &str,
        source: Source,
        lane: Lane,
    ) -> Result<(RepositoryId, u64)> {
        let record = RepositoryRecord::new(tenant.clone(), RepositoryName::new(name), source);
        let id = record.id;
        self.cluster.runs.register(record).await?;
        let request = self.cluster.runs.ask(id, lane, false, self.cluster.clock.now_ms()).await?;
        Ok((id, request))
    }

    /// Waits until all requests are answered and no run is unfinished.
    pub async fn settled(&self, asked: &[(RepositoryId, u64)], patience: Duration) -> Result<()> {
        let deadline = Instant::now() + patience;
        // Requests are answered roughly in the order in which they were made, and an answered request stays
        // answered. So only the first unanswered request is read again.
        let mut waiting = VecDeque::from(newest_of_each(asked));
        loop {
            match self.has_ended(&mut waiting).await {
                Ok(true) => return Ok(()),
                // The store may have just been killed; the test waits for it, as the services do.
                Err(error) if is_away(error.kind) && Instant::now() < deadline => sleep(POLL).await,
                looked => {
                    looked?;
                    self.check(deadline).await?;
                }
            }
        }
    }

    /// Removes the answered requests from `waiting`. Returns whether all requests are answered and no run is
    /// unfinished.
    async fn has_ended(&self, waiting: &mut VecDeque<(RepositoryId, u64)>) -> Result<bool, LedgerError> {
        while let Some((repository, request)) = waiting.front() {
            if self.cluster.runs.asked(*repository, *request).await?.is_some() {
                return Ok(false);
            }
            waiting.pop_front();
        }
        Ok(self.cluster.runs.unfinished().await?.is_empty())
    }

    pub async fn is_settled(&self, asked: &[(RepositoryId, u64)]) -> Result<bool> {
        Ok(self.has_ended(&mut newest_of_each(asked).into()).await?)
    }

    async fn check(&self, deadline: Instant) -> Result<()> {
        if Instant::now() > deadline {
            let runs = self.cluster.runs.unfinished().await?;
            let mut open = Vec::new();
            for run in &runs {
                for part in self.cluster.runs.parts(run.id).await?.iter().filter(|part| part.end.is_none()) {
                    open.push(format!("{:?}", part.id));
                }
            }
            bail!(
                "the requests were not answered in time: there are {} runs, and these parts are open: {open:?}",
                runs.len()
            );
        }
        sleep(POLL).await;
        Ok(())
    }

    /// The state of the newest run of a repository.
    pub async fn last_state(&self, repository: RepositoryId) -> Result<Option<RunState>> {
        Ok(self.cluster.runs.runs(Some(repository), 1).await?.first().map(|run| run.state))
    }

    /// Checks that each published run was published once: the number of publications equals the number of
    /// published runs. Returns this number.
    pub async fn each_was_published_once(&self) -> Result<u64> {
        let mut num_published = 0;
        for repository in self.cluster.runs.all_repositories().await? {
            let runs = self.cluster.runs.runs(Some(repository), usize::MAX).await?;
            let is_published = |run: &&RunRecord| matches!(run.state, RunState::Published | RunState::Partial);
            num_published += runs.iter().filter(is_published).count() as u64;
        }
        let num_publications = self.cluster.runs.view().await?.seq.0;
        ensure!(num_publications == num_published, "{num_published} runs were published {num_publications} times");
        Ok(num_published)
    }

    /// The epoch of a repository's sync lease. If the lease has ended, this is the epoch of its last holder.
    pub async fn epoch(&self, repository: RepositoryId) -> Result<u64> {
        let documents = Neo4jRuns::new(self.cluster.neo4j.clone());
        let found = documents.repositories(RepositoryQuery::One(repository)).await?;
        Ok(found.first().context("the repository does not exist")?.state.lease.epoch)
    }

    pub async fn fingerprints(&self) -> Result<Vec<Fingerprint>> {
        Ok(self.searcher.fingerprint(&RepositorySelection::default()).await?)
    }

    /// The fingerprints of all repositories, in the form of `cairn fingerprint --json`.
    pub async fn fingerprint_reports(&self) -> Result<Vec<Value>> {
        Ok(self.fingerprints().await?.iter().map(|of| serde_json::json!(FingerprintReport::of(of))).collect())
    }

    /// The maximum number of jobs that a worker takes from RabbitMQ at the same time.
    pub fn prefetch(&self) -> Result<u16> {
        let rabbitmq = self.cluster.config.rabbitmq.as_ref();
        Ok(rabbitmq.context("the settings have no section [rabbitmq]")?.prefetch)
    }

    /// Creates an API key.
    pub async fn issue_key(&self, request: KeyRequest) -> Result<String> {
        let key = issue(request, self.cluster.clock.now_ms());
        let text = key.text.clone();
        let keys: Arc<dyn KeyStore> = Arc::new(Neo4jKeys::new(self.cluster.neo4j.clone()));
        keys.create(key.record).await?;
        Ok(text)
    }
}
