//! The connection to one server, and what is asked of the server as a whole.

use std::time::Duration;

use cairn_ports::MaintenanceError;
use neo4rs::{ConfigBuilder, Graph, Query};
use secrecy::ExposeSecret;

use crate::config::{InvalidNeo4jConfig, Neo4jConfig};
use crate::fault;
use crate::names::Names;
use crate::schema;

/// Rows that the driver asks for at a time. Its default of 200 costs a round trip each.
const FETCH_ROWS: usize = 5000;

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error(transparent)]
    Config(#[from] InvalidNeo4jConfig),
    #[error("cannot make a client of neo4j")]
    Client(#[source] neo4rs::Error),
}

/// A pool of connections to the server. Cheap to clone.
#[derive(Clone)]
pub struct Neo4j {
    pub(crate) graph: Graph,
    pub(crate) names: Names,
    pub(crate) retry_deadline: Duration,
    /// How long it may take to begin a transaction: to wait for a connection, to make one, and for the server's answer.
    pub(crate) begin_deadline: Duration,
}

impl Neo4j {
    /// Makes the pool. The first statement connects.
    pub fn new(config: &Neo4jConfig) -> Result<Self, ConnectError> {
        config.validate()?;
        let timeout = Duration::from_millis(config.timeout_ms);
        let settings = ConfigBuilder::default()
            .uri(config.url.as_str())
            .user(config.user.as_str())
            .password(config.password.expose_secret())
            .fetch_size(FETCH_ROWS)
            .max_connections(config.max_connections)
            .connection_timeout(timeout)
            // The name misleads: it is how long a caller waits for a free connection of the pool.
            .max_lifetime(timeout);
        let graph = settings.build().and_then(Graph::connect).map_err(ConnectError::Client)?;
        let retry_deadline = Duration::from_millis(config.retry_deadline_ms);
        Ok(Self { graph, names: Names::new(&config.namespace), retry_deadline, begin_deadline: 3 * timeout })
    }

    /// Creates what constraints and indexes are missing, and waits until they serve. May be run at any time.
    pub async fn prepare(&self) -> Result<(), MaintenanceError> {
        schema::prepare(self).await.map_err(fault::of("prepare", &"schema"))
    }

    /// Asks the server whether it answers and has every constraint and index; the error names those that are missing.
    pub async fn check(&self) -> Result<(), MaintenanceError> {
        schema::check(self).await.map_err(fault::of("check", &"schema"))
    }

    /// The constraints and indexes that are missing.
    pub async fn missing(&self) -> Result<Vec<String>, MaintenanceError> {
        schema::missing(self).await.map_err(fault::of("check", &"schema"))
    }

    /// Which server answers, e.g. `5.26.30 community`.
    pub async fn version(&self) -> Result<String, MaintenanceError> {
        schema::version(self).await.map_err(fault::of("version", &"server"))
    }

    /// What to set on the server, and why, of the timeouts that it has none of.
    pub async fn unset_timeouts(&self) -> Result<Vec<&'static str>, MaintenanceError> {
        schema::unset_timeouts(self).await.map_err(fault::of("unset_timeouts", &"server"))
    }

    /// A statement in which `~` ends the names of labels.
    pub(crate) fn query(&self, template: &str) -> Query {
        Query::new(self.names.statement(template))
    }
}
