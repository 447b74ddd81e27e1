//! The contract of the graph store.

use anyhow::Result;
use cairn_conformance::{graph_store, suite};
use cairn_neo4j::Neo4jGraph;
use cairn_ports::GraphStore;

use crate::server::Namespace;

/// The faults come first: if what they leave behind could make a check fail, the suite that follows would show it.
#[tokio::test(flavor = "multi_thread")]
async fn the_graph_store_keeps_its_contract() -> Result<()> {
    let Some(namespace) = Namespace::open("contract").await? else { return Ok(()) };
    let open = async || Ok(Box::new(Neo4jGraph::new(namespace.neo4j.clone())) as Box<dyn GraphStore>);
    let checks = graph_store::checks();
    suite::catches(&checks, &graph_store::faults(), open).await?;
    suite::passes(&checks, open).await?;
    namespace.close().await
}
