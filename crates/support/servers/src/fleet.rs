//! Starts RabbitMQ, MinIO, Neo4j and the test server with Qdrant's protocol, except the servers whose
//! addresses are in the environment.

use std::env;
use std::path::Path;

use anyhow::{Context, Result};

use crate::process::ServerProcess;
use crate::{MinIo, Neo4j, QdrantServer, RabbitMq, given};

/// The servers that were started here, and the environment variables with their addresses.
pub struct Fleet {
    rabbitmq: Option<RabbitMq>,
    minio: Option<MinIo>,
    neo4j: Option<Neo4j>,
    qdrant: Option<QdrantServer>,
}

impl Fleet {
    /// Installs and starts, in parallel, every server whose environment variable is not set.
    pub async fn start(directory: &Path) -> Result<Self> {
        let at = |name: &str| directory.join(name);
        let (rabbitmq, minio, neo4j, qdrant) = tokio::try_join!(
            unless_given(given::RABBITMQ_URL, async || RabbitMq::start(&at("rabbitmq")).await),
            unless_given(given::S3_URL, async || MinIo::start(&at("minio")).await),
            unless_given(given::NEO4J_URL, async || Neo4j::start(&at("neo4j")).await),
            unless_given(given::QDRANT_URL, async || QdrantServer::start(&at("qdrant")).await),
        )?;
        Ok(Self { rabbitmq, minio, neo4j, qdrant })
    }

    /// The environment variables for processes that use the servers. The variables of external servers are
    /// set already, so they are not included.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        let mut variables = Vec::new();
        if let Some(rabbitmq) = &self.rabbitmq {
            variables.push((given::RABBITMQ_URL, rabbitmq.url()));
            variables.push((given::RABBITMQ_MANAGEMENT_URL, rabbitmq.management_url()));
        } else {
            variables.extend(given::management_url().map(|url| (given::RABBITMQ_MANAGEMENT_URL, url)));
        }
        variables.extend(self.minio.as_ref().map(|minio| (given::S3_URL, minio.url().to_owned())));
        variables.extend(self.qdrant.as_ref().map(|qdrant| (given::QDRANT_URL, qdrant.url().to_owned())));
        variables.extend(self.neo4j.as_ref().map(|neo4j| (given::NEO4J_URL, neo4j.url().to_owned())));
        variables
    }

    /// The processes, in the order in which they may be ended.
    pub(crate) fn into_processes(self) -> Vec<ServerProcess> {
        let rabbitmq = self.rabbitmq.into_iter().flat_map(RabbitMq::into_processes);
        let minio = self.minio.map(MinIo::into_process);
        let neo4j = self.neo4j.map(Neo4j::into_process);
        let qdrant = self.qdrant.map(QdrantServer::into_process);
        rabbitmq.flatten().chain(minio).chain(neo4j).chain(qdrant).collect()
    }
}

async fn unless_given<T>(variable: &str, start: impl AsyncFnOnce() -> Result<T>) -> Result<Option<T>> {
    if env::var_os(variable).is_some_and(|url| !url.is_empty()) {
        return Ok(None);
    }
    let started =
        start().await.with_context(|| format!("{variable} is not set, and the server for it cannot be started"))?;
    Ok(Some(started))
}
