//! The pool of connections to one server.

use std::time::Duration;

use neo4rs::{ConfigBuilder, Graph, Query};
use secrecy::ExposeSecret;

use crate::config::{InvalidNeo4jConfig, Neo4jConfig};
use crate::names::Names;

/// Number of rows that the driver fetches in one request. With the driver's default, it would need one round
/// trip for every 200 rows.
const FETCH_ROWS: usize = 5000;

/// The reason why the pool cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error(transparent)]
    Config(#[from] InvalidNeo4jConfig),
    #[error("cannot create a Neo4j client")]
    Client(#[source] neo4rs::Error),
}

/// A pool of connections to the server. Cloning the pool is cheap.
#[derive(Clone)]
pub struct Neo4j {
    pub(crate) graph: Graph,
    pub(crate) names: Names,
    pub(crate) retry_deadline: Duration,
    /// Maximum time to begin a transaction. This includes waiting for a free connection, opening a
    /// connection, and the server's reply.
    pub(crate) begin_deadline: Duration,
}

impl Neo4j {
    /// Creates the pool. The first statement opens the first connection.
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
            // The name of this setting is misleading: it limits the wait for a free connection.
            .max_lifetime(timeout);
        let graph = settings.build().and_then(Graph::connect).map_err(ConnectError::Client)?;
        let retry_deadline = Duration::from_millis(config.retry_deadline_ms);
        Ok(Self { graph, names: Names::new(&config.namespace), retry_deadline, begin_deadline: 3 * timeout })
    }

    /// Returns a query in which each `~` is replaced with the suffix of the labels.
    pub(crate) fn query(&self, template: &str) -> Query {
        Query::new(self.names.statement(template))
    }
}
