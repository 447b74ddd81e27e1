//! Three RabbitMQ nodes.

use anyhow::Result;
use cairn_servers::{RabbitCluster, given};

use crate::waiting::accepts;

#[tokio::test]
async fn cluster_recovers_a_killed_node() -> Result<()> {
    if given::is_left_out("a test of a RabbitMQ cluster") {
        return Ok(());
    }
    let directory = tempfile::tempdir()?;
    let mut cluster = RabbitCluster::start(directory.path(), 3).await?;
    let urls = cluster.urls();
    assert_eq!(urls.len(), 3);
    cluster[1].kill().await?;
    assert!(!accepts(&urls[1]).await);
    let running = cluster[0].rabbitmqctl(&["cluster_status", "--formatter", "json"]).await?;
    let running: serde_json::Value = serde_json::from_str(&running)?;
    assert_eq!(running["disk_nodes"].as_array().map(Vec::len), Some(3));
    cluster[1].restart().await?;
    assert_eq!(cluster[1].url(), urls[1]);
    cluster.wait_until_joined().await
}
