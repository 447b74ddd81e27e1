//! The configured test server, with a separate namespace for each test.

use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;
use cairn_neo4j::{Neo4j, Neo4jConfig};
use cairn_servers::given;
use neo4rs::{ConfigBuilder, Graph, Query, Row, Txn};
use secrecy::ExposeSecret;

/// A namespace for one test.
pub struct Namespace {
    pub neo4j: Neo4j,
    pub config: Neo4jConfig,
    /// The driver, for statements that bypass the adapter.
    driver: Graph,
    /// `Some` for a namespace that later tests use again. `None` for a namespace that only this test uses and
    /// removes at its end.
    _shared: Option<cairn_servers::Namespace>,
}

impl Namespace {
    /// A prepared namespace without data. Returns `None` if no server is configured; the test is then
    /// skipped.
    pub async fn open() -> Result<Option<Self>> {
        let Some(url) = given::neo4j_url() else { return Ok(None) };
        let shared = cairn_servers::Namespace::take(&url).await?;
        let name = shared.name().to_owned();
        Ok(Some(Self::prepare(&url, name, Some(shared)).await?))
    }

    /// A namespace for a test that changes constraints.
    pub async fn create(name: &str) -> Result<Option<Self>> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let Some(url) = given::neo4j_url() else { return Ok(None) };
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        Ok(Some(Self::prepare(&url, format!("{name}_{}_{number}", std::process::id()), None).await?))
    }

    async fn prepare(url: &str, name: String, shared: Option<cairn_servers::Namespace>) -> Result<Self> {
        let config = Neo4jConfig { namespace: name, ..Neo4jConfig::new(url) };
        let neo4j = Neo4j::new(&config)?;
        neo4j.prepare().await?;
        let driver = driver(&config)?;
        Ok(Self { neo4j, config, driver, _shared: shared })
    }

    /// Runs a statement in a transaction of the driver. The suffix of the namespace replaces each `~`, as in
    /// the adapter.
    pub async fn run(&self, statement: &str) -> Result<Vec<Row>> {
        let text = statement.replace('~', &format!("_{}", self.config.namespace));
        let mut txn = self.driver.start_txn().await?;
        let mut stream = txn.execute(Query::new(text)).await?;
        let mut rows = Vec::new();
        while let Some(row) = stream.next(txn.handle()).await? {
            rows.push(row);
        }
        txn.commit().await?;
        Ok(rows)
    }

    /// Runs a statement in a transaction that remains open.
    pub async fn begin(&self, statement: &str) -> Result<Txn> {
        let mut txn = self.driver.start_txn().await?;
        txn.run(statement.replace('~', &format!("_{}", self.config.namespace))).await?;
        Ok(txn)
    }

    /// True if a transaction of this namespace is waiting for a lock.
    pub async fn has_waiting_writer(&self) -> Result<bool> {
        let name = &self.config.namespace;
        let waiting = format!(
            "SHOW TRANSACTIONS YIELD status, currentQuery WHERE status STARTS WITH 'Blocked' AND currentQuery CONTAINS '{name}'
             AND NOT currentQuery STARTS WITH 'SHOW' RETURN count(*) AS count"
        );
        Ok(self.count(&waiting).await? > 0)
    }

    pub async fn count(&self, statement: &str) -> Result<u64> {
        Ok(self.run(statement).await?[0].get("count")?)
    }

    /// Removes the data, constraints and indexes of a namespace that was created for one test.
    pub async fn remove(self) -> Result<()> {
        let suffix = &self.config.namespace;
        self.run("MATCH (n:Node~) DETACH DELETE n").await?;
        // An index that belongs to a constraint is removed together with the constraint.
        for (kind, show) in [("CONSTRAINT", "CONSTRAINTS YIELD name"), ("INDEX", "INDEXES YIELD name")] {
            let show = format!("SHOW {show} WHERE name ENDS WITH '_{suffix}' RETURN name");
            for row in self.run(&show).await? {
                self.run(&format!("DROP {kind} {}", row.get::<String>("name")?)).await?;
            }
        }
        Ok(())
    }
}

fn driver(config: &Neo4jConfig) -> Result<Graph> {
    let settings = ConfigBuilder::default().uri(config.url.as_str()).user(config.user.as_str());
    Ok(Graph::connect(settings.password(config.password.expose_secret()).build()?)?)
}
