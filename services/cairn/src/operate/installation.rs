//! Connects operator commands to the servers of a cluster. Each command connects only to the servers that it
//! needs, so a server that is down does not affect other commands.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use cairn_config::Operator;
use cairn_domain::Tenant;
use cairn_embedding_http::Share;
use cairn_gateway::LedgerIndexing;
use cairn_git::RemotePolicy;
use cairn_metastore::Metastore;
use cairn_names::NameIndex;
use cairn_neo4j::{Neo4j, Neo4jClock, Neo4jGraph, Neo4jRuns};
use cairn_pipeline::StageError;
use cairn_ports::{Clock, Embedder, FailureCode, plain};
use cairn_qdrant::{QdrantStore, QdrantVectorCache};
use cairn_rabbitmq::{RabbitMqBroker, RabbitMqConfig};
use cairn_s3::S3BlobStore;
use cairn_search::{Allowed, Caller, CursorKey, SearchStores, Searcher};
use cairn_texts::TextIndex;
use cairn_wiring::{ClusterConfig, DEFAULT_PROCESSES};
use tokio::time::{Instant, sleep};

/// If the key of the query service cannot be read, this key encrypts cursors, and run ids are derived from
/// it. This key need not be secret, because the operator may see the data that cursors and run ids hide.
const NO_SECRET: CursorKey = CursorKey([0; 32]);
const UNREACHABLE: &str = "cannot query Neo4j, which stores catalogue and ledger: start it, or correct [neo4j]";
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(20);

pub(super) struct Installation {
    pub config: ClusterConfig,
    pub operator: Operator,
    /// The tenant whose repositories a command uses.
    pub tenant: Tenant,
}

impl Installation {
    /// Reads and checks the settings without connecting to a server.
    pub fn load(file: &Path, tenant: Option<&str>) -> anyhow::Result<Self> {
        let invalid = |error: anyhow::Error| StageError::permanent(FailureCode::InvalidSettings, plain(error.as_ref()));
        let config = ClusterConfig::load(Some(file)).map_err(invalid)?;
        config.validate().map_err(|error| invalid(error.into()))?;
        let operator = Operator::load(config.operator.as_deref(), Path::new("config.toml"));
        let operator = operator.map_err(|error| invalid(error.into()))?;
        Ok(Self { config, operator, tenant: tenant.map_or_else(Tenant::local, Tenant::new) })
    }

    pub fn neo4j(&self) -> anyhow::Result<Neo4j> {
        Ok(Neo4j::new(section(self.config.neo4j.as_ref(), "neo4j")?)?)
    }

    pub fn rabbitmq(&self) -> anyhow::Result<&RabbitMqConfig> {
        section(self.config.rabbitmq.as_ref(), "rabbitmq")
    }

    pub fn blobs(&self) -> anyhow::Result<S3BlobStore> {
        Ok(S3BlobStore::open(section(self.config.s3.as_ref(), "s3")?)?)
    }

    /// The store of chunks and the cache of vectors, for the embedding model in the settings.
    pub fn vectors(&self) -> anyhow::Result<(QdrantStore, QdrantVectorCache)> {
        let (config, model) = (section(self.config.qdrant.as_ref(), "qdrant")?, self.config.embedding.model_id()?);
        let cache = QdrantVectorCache::new(config.clone(), model.clone())?;
        Ok((QdrantStore::new(config.clone(), model)?, cache))
    }

    /// The catalogue and the ledger, and the clock that all services share.
    pub async fn ledger(&self) -> anyhow::Result<(Arc<Metastore>, Arc<dyn Clock>)> {
        let neo4j = self.neo4j()?;
        let clock = Neo4jClock::start(neo4j.clone()).await.context(UNREACHABLE)?;
        Ok((Arc::new(Metastore::new(Arc::new(Neo4jRuns::new(neo4j)))), Arc::new(clock)))
    }

    /// Connects to the broker.
    pub async fn broker(&self) -> anyhow::Result<RabbitMqBroker> {
        let config = self.rabbitmq()?.clone();
        let deadline = Instant::now() + Duration::from_millis(config.connect_timeout_ms);
        let broker = RabbitMqBroker::new(config)?;
        while broker.health().connected_since.is_none() {
            let faults = broker.health().faults;
            anyhow::ensure!(
                Instant::now() < deadline,
                "RabbitMQ cannot be reached ({}): start it, or correct `urls` in [rabbitmq]",
                faults.join("; ")
            );
            sleep(LOOK_AGAIN_AFTER).await;
        }
        Ok(broker)
    }

    /// The component that registers repositories and requests syncs. This component applies the same rules as
    /// the query service.
    pub fn indexing(&self, runs: &Arc<Metastore>, clock: &Arc<dyn Clock>) -> LedgerIndexing {
        cairn_wiring::indexing(runs, clock, RemotePolicy::from(&self.operator.sources))
    }

    /// The key of the query service. Run ids are derived from this key, so operator commands show the same
    /// run ids as the query service.
    fn cursor_key(&self) -> CursorKey {
        let key = self.config.query.as_ref().and_then(|query| query.cursor_key().ok());
        key.unwrap_or(NO_SECRET)
    }

    /// The embedder of this command. The embedder may use the same share of the provider's quota as one
    /// replica of the query service.
    pub fn embedder(&self) -> anyhow::Result<Arc<dyn Embedder>> {
        let processes = self.config.query.as_ref().map_or(DEFAULT_PROCESSES, |query| query.processes);
        cairn_wiring::embedder(&self.config.embedding, Share::Questions { processes })
    }

    /// Answers questions about the tenant from the cluster's own stores.
    pub async fn searcher(&self, runs: &Arc<Metastore>, clock: &Arc<dyn Clock>) -> anyhow::Result<Searcher> {
        let blobs = Arc::new(self.blobs()?);
        let caller = Caller { tenant: self.tenant.clone(), allowed: Allowed::All, name: "operator".to_owned() };
        let stores = SearchStores {
            catalogue: runs.clone(),
            ledger: runs.clone(),
            vectors: Arc::new(self.vectors()?.0),
            graph: Arc::new(Neo4jGraph::new(self.neo4j()?)),
            names: Arc::new(NameIndex::new(blobs.clone())),
            texts: Arc::new(TextIndex::new(blobs.clone())),
            blobs,
        };
        let words = cairn_wiring::word_table()?;
        Ok(Searcher::new(caller, stores, self.embedder()?, words, Arc::clone(clock), self.cursor_key()))
    }
}

fn section<'a, T>(section: Option<&'a T>, name: &str) -> anyhow::Result<&'a T> {
    let missing =
        || StageError::permanent(FailureCode::InvalidSettings, format!("the settings have no section [{name}]"));
    Ok(section.ok_or_else(missing)?)
}
