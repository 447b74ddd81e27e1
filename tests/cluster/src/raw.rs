//! Counts the content of the stores without the adapters and their filters.

use anyhow::{Context, Result, ensure};
use cairn_domain::StageName;
use cairn_servers::{Collections, Vhost};
use neo4rs::{ConfigBuilder, Graph, Query};
use qdrant_client::Qdrant;
use qdrant_client::qdrant::CountPointsBuilder;
use serde::Deserialize;
use url::Url;

use crate::resources::established_ports;
use crate::{Servers, Space};

/// All names of ownership queues contain this text.
const OWNERS: &str = ".owner.";

/// Clients of a cluster's servers.
pub struct Raw {
    neo4j: Graph,
    qdrant: Qdrant,
    space: Space,
}

impl Raw {
    pub fn open(servers: &Servers, space: &Space) -> Result<Self> {
        let address = Url::parse(&servers.neo4j)?;
        let (user, password) = (address.username().to_owned(), address.password().unwrap_or_default().to_owned());
        let host = format!("bolt://{}:{}", address.host_str().context("no host")?, address.port().context("no port")?);
        let user = if user.is_empty() { "neo4j".to_owned() } else { user };
        let settings = ConfigBuilder::default().uri(host).user(user).password(password).build()?;
        Ok(Self {
            neo4j: Graph::connect(settings)?,
            qdrant: Collections::client(&servers.qdrant)?,
            space: space.clone(),
        })
    }

    /// The number of node records, and the number of distinct keys of these records.
    pub async fn nodes(&self) -> Result<(u64, u64)> {
        self.counts("MATCH (n:NodeVersion~) RETURN count(n) AS count, count(DISTINCT [n.key, n.gen_from]) AS keys")
            .await
    }

    pub async fn edges(&self) -> Result<(u64, u64)> {
        self.counts("MATCH ()-[e:EDGE~]->() RETURN count(e) AS count, count(DISTINCT [e.key, e.gen_from]) AS keys")
            .await
    }

    /// The keys of the nodes that have edges from the most repositories. Returns at most `most` keys.
    pub async fn nodes_of_most_repositories(&self, most: usize) -> Result<Vec<String>> {
        let statement = "MATCH (n:Node~)<-[e:EDGE~]-() WITH n.key AS key, count(DISTINCT e.owner) AS owners
            RETURN key ORDER BY owners DESC, key LIMIT $most";
        let mut txn = self.neo4j.start_txn().await?;
        let mut rows = txn.execute(self.query(statement).param("most", most as i64)).await?;
        let mut keys = Vec::new();
        while let Some(row) = rows.next(txn.handle()).await? {
            keys.push(row.get("key")?);
        }
        txn.rollback().await?;
        Ok(keys)
    }

    /// Locks nodes one after the other without changing them. Returns false after a deadlock.
    pub async fn locks(&self, keys: &[String]) -> Result<bool> {
        let mut txn = self.neo4j.start_txn().await?;
        for key in keys {
            let lock =
                self.query("MATCH (n:Node~ {key: $key}) SET n.lock = true REMOVE n.lock").param("key", key.as_str());
            match txn.run(lock).await {
                Err(neo4rs::Error::Neo4j(error)) if error.code().contains("Deadlock") => return Ok(false),
                locked => locked?,
            }
        }
        txn.commit().await?;
        Ok(true)
    }

    fn query(&self, statement: &str) -> Query {
        let suffix = if self.space.namespace.is_empty() { String::new() } else { format!("_{}", self.space.namespace) };
        Query::new(statement.replace('~', &suffix))
    }

    async fn counts(&self, statement: &str) -> Result<(u64, u64)> {
        let mut txn = self.neo4j.start_txn().await?;
        let mut rows = txn.execute(self.query(statement)).await?;
        let row = rows.next(txn.handle()).await?.context("no row")?;
        let counts = (row.get("count")?, row.get("keys")?);
        txn.rollback().await?;
        Ok(counts)
    }

    /// The number of points in a collection.
    pub async fn points(&self, collection: &str) -> Result<u64> {
        let counted = self.qdrant.count(CountPointsBuilder::new(collection).exact(true)).await?;
        Ok(counted.result.map_or(0, |result| result.count))
    }

    /// The number of jobs in all work queues, and the number of dead letters. The messages in the queues that
    /// decide the owners of keys are not jobs.
    pub async fn messages(&self) -> Result<(u64, u64)> {
        let queues = self.queues().await?;
        let count = |is_wanted: fn(&&Queue) -> bool| queues.iter().filter(is_wanted).map(|queue| queue.messages).sum();
        Ok((count(|queue| !queue.is_owners() && !queue.is_dead()), count(|queue| queue.is_dead())))
    }

    /// The queues of the cluster. Their message counts are up to five seconds old.
    pub async fn queues(&self) -> Result<Vec<Queue>> {
        Ok(serde_json::from_str(&self.of_vhost("queues").await?)?)
    }

    /// The queues of a stage, of all kinds.
    pub async fn queues_of(&self, stage: StageName) -> Result<Vec<Queue>> {
        let start = format!("cairn.{}.", stage.as_str());
        let queues = self.queues().await?.into_iter().filter(|queue| queue.name.starts_with(&start));
        let queues: Vec<Queue> = queues.collect();
        ensure!(!queues.is_empty(), "the stage {stage:?} has no queue");
        Ok(queues)
    }

    /// The consumers of the cluster, with their prefetch limits.
    pub async fn consumers(&self) -> Result<Vec<Consumer>> {
        Ok(serde_json::from_str(&self.of_vhost("consumers").await?)?)
    }

    async fn of_vhost(&self, what: &str) -> Result<String> {
        let vhost = self.vhost()?;
        vhost.request("GET", &format!("/api/{what}/{}", vhost.name()), "").await
    }

    fn vhost(&self) -> Result<&Vhost> {
        self.space.vhost.as_ref().context("the cluster has no separate vhost")
    }

    /// The open connections to the cluster's vhost. The management plugin of RabbitMQ also lists the
    /// connections of killed processes, for up to four minutes: two cleanups that run every 120 s remove them
    /// one after the other. So a connection counts only if the socket of its client is open. A later
    /// connection may have the same ports as the connection of a killed process, so connections with the same
    /// ports count once.
    pub async fn connections(&self) -> Result<Vec<Connection>> {
        let vhost = self.vhost()?;
        let reported = vhost.request("GET", &format!("/api/vhosts/{}/connections", vhost.name()), "").await?;
        let mut connections: Vec<Connection> = serde_json::from_str(&reported)?;
        let open = established_ports()?;
        connections.retain(|connection| connection.ports().is_some_and(|ports| open.contains(&ports)));
        connections.sort_unstable_by_key(Connection::ports);
        connections.dedup_by_key(|connection| connection.ports());
        Ok(connections)
    }
}

/// A connection, as the broker's management API describes it. The ports are absent if only the statistics of
/// a closed connection are left.
#[derive(Debug, Deserialize)]
pub struct Connection {
    #[serde(rename = "user_provided_name")]
    pub name: Option<String>,
    #[serde(rename = "peer_port")]
    pub client_port: Option<u16>,
    #[serde(rename = "port")]
    pub broker_port: Option<u16>,
}

impl Connection {
    fn ports(&self) -> Option<(u16, u16)> {
        self.client_port.zip(self.broker_port)
    }
}

/// A queue, as the broker's management API describes it.
#[derive(Clone, Debug, Deserialize)]
pub struct Queue {
    pub name: String,
    /// The number of waiting and unacknowledged messages. 0 for a new queue, because the broker has not
    /// counted its messages yet.
    #[serde(default)]
    pub messages: u64,
    #[serde(default, rename = "messages_unacknowledged")]
    pub unanswered: u64,
    #[serde(default, rename = "consumers")]
    pub num_consumers: usize,
    /// The broker node that leads this queue.
    pub leader: Option<String>,
}

impl Queue {
    pub fn is_dead(&self) -> bool {
        self.name.contains("dead")
    }

    /// Whether the queue decides the owner of a key. Such a queue contains no jobs.
    pub fn is_owners(&self) -> bool {
        self.name.contains(OWNERS)
    }

    /// Whether workers receive jobs from this queue.
    pub fn is_of_work(&self) -> bool {
        [".interactive.", ".bulk.", ".suspect."].iter().any(|kind| self.name.contains(kind))
    }

    /// Whether the queue is for suspect jobs.
    pub fn is_of_suspects(&self) -> bool {
        self.name.contains(".suspect.")
    }
}

/// A consumer, as the broker's management API describes it.
#[derive(Clone, Debug, Deserialize)]
pub struct Consumer {
    pub queue: QueueName,
    #[serde(rename = "prefetch_count")]
    pub prefetch: u64,
}

#[derive(Clone, Debug, Deserialize)]
pub struct QueueName {
    pub name: String,
}

impl QueueName {
    pub fn is_owners(&self) -> bool {
        self.name.contains(OWNERS)
    }
}
