//! A cluster of several RabbitMQ nodes on this machine. Each node can be killed, paused and restarted.

use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, ensure};
use futures::future::try_join_all;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::RabbitMq;
use crate::http;
use crate::install::installed;
use crate::process::on_free_ports;
use crate::rabbitmq::{PortMapper, start_node};

const JOINED_DEADLINE: Duration = Duration::from_secs(60);
const POLL_EVERY: Duration = Duration::from_millis(200);

/// The nodes of the cluster.
pub struct RabbitCluster {
    nodes: Vec<RabbitMq>,
}

impl RabbitCluster {
    /// Starts the nodes, and waits until each node is connected to all others.
    pub async fn start(directory: &Path, num_nodes: usize) -> Result<Self> {
        let program = installed("rabbitmq").await?;
        let settings = settings(num_nodes);
        let nodes = on_free_ports(async || {
            let port_mapper = Arc::new(PortMapper::start(directory).await?);
            let names: Vec<String> = (1..=num_nodes).map(node_name).collect();
            let start = |name| start_node(&program, directory, name, &settings, &port_mapper);
            try_join_all(names.iter().map(|name| start(name))).await
        })
        .await?;
        let cluster = Self { nodes };
        cluster.wait_until_joined().await?;
        Ok(cluster)
    }

    /// The addresses for clients, one for each node.
    pub fn urls(&self) -> Vec<String> {
        self.nodes.iter().map(RabbitMq::url).collect()
    }

    /// Waits until each node runs and is connected to all others.
    pub async fn wait_until_joined(&self) -> Result<()> {
        let deadline = Instant::now() + JOINED_DEADLINE;
        for node in &self.nodes {
            while num_running(&node.management_url()).await != self.nodes.len() {
                ensure!(
                    Instant::now() < deadline,
                    "the {} RabbitMQ nodes are not connected to each other",
                    self.nodes.len()
                );
                sleep(POLL_EVERY).await;
            }
        }
        Ok(())
    }
}

fn node_name(number: usize) -> String {
    format!("c{number}")
}

fn settings(num_nodes: usize) -> String {
    let mut settings = String::from(
        "cluster_formation.peer_discovery_backend = classic_config\ncluster_partition_handling = pause_minority\n",
    );
    for number in 1..=num_nodes {
        let name = node_name(number);
        settings.push_str(&format!("cluster_formation.classic_config.nodes.{number} = {name}@localhost\n"));
    }
    settings
}

/// The number of running nodes that one node reports.
async fn num_running(management_url: &str) -> usize {
    let Ok(response) = http::send(management_url, "GET", "/api/nodes", "").await else { return 0 };
    let nodes: Vec<Value> = serde_json::from_str(&response.body).unwrap_or_default();
    nodes.iter().filter(|node| node["running"] == true).count()
}

impl Deref for RabbitCluster {
    type Target = [RabbitMq];

    fn deref(&self) -> &[RabbitMq] {
        &self.nodes
    }
}

impl DerefMut for RabbitCluster {
    fn deref_mut(&mut self) -> &mut [RabbitMq] {
        &mut self.nodes
    }
}
