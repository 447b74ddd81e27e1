//! Runs the conformance suites of the graph store, of the catalogue and the ledger, and of API keys.

use std::sync::Arc;

use anyhow::Result;
use cairn_conformance::runs::RunStore;
use cairn_conformance::{graph_store, key_store, run_documents, runs, suite};
use cairn_metastore::Metastore;
use cairn_neo4j::{Neo4jGraph, Neo4jKeys, Neo4jRuns};
use cairn_ports::{GraphStore, KeyStore, RunDocuments};

use crate::server::Namespace;

/// The planted faults run before the suite. If a fault leaves data that makes a check fail, the suite fails.
#[tokio::test(flavor = "multi_thread")]
async fn graph_store_passes_the_suite() -> Result<()> {
    let Some(namespace) = Namespace::open().await? else { return Ok(()) };
    let open = async || Ok(Box::new(Neo4jGraph::new(namespace.neo4j.clone())) as Box<dyn GraphStore>);
    let checks = graph_store::checks();
    suite::catches(&checks, &graph_store::faults(), open).await?;
    suite::passes(&checks, open).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn run_documents_pass_the_suite() -> Result<()> {
    let Some(namespace) = Namespace::open().await? else { return Ok(()) };
    let open = async || Ok(Box::new(Neo4jRuns::new(namespace.neo4j.clone())) as Box<dyn RunDocuments>);
    let checks = run_documents::checks();
    suite::catches(&checks, &run_documents::faults(), open).await?;
    suite::passes(&checks, open).await?;
    Ok(())
}

/// Runs the suites of the catalogue, the ledger, the outbox and the requests, which are all stored as
/// documents.
#[tokio::test(flavor = "multi_thread")]
async fn catalogue_and_ledger_pass_the_suite() -> Result<()> {
    let Some(namespace) = Namespace::open().await? else { return Ok(()) };
    let documents = Arc::new(Neo4jRuns::new(namespace.neo4j.clone()));
    let open = async || Ok(Box::new(Metastore::new(documents.clone())) as Box<dyn RunStore>);
    let checks = runs::checks();
    suite::catches(&checks, &runs::faults(), open).await?;
    suite::passes(&checks, open).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn key_store_passes_the_suite() -> Result<()> {
    let Some(namespace) = Namespace::open().await? else { return Ok(()) };
    let open = async || Ok(Box::new(Neo4jKeys::new(namespace.neo4j.clone())) as Box<dyn KeyStore>);
    let checks = key_store::checks();
    suite::catches(&checks, &key_store::faults(), open).await?;
    suite::passes(&checks, open).await?;
    Ok(())
}
