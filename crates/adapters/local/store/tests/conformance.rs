//! Checks that the store in SQLite fulfils the contracts of the metastore, the ledger, the graph store and
//! the vector cache.

use std::sync::Arc;

use anyhow::Result;
use cairn_conformance::runs::RunStore;
use cairn_conformance::suite;
use cairn_local_store::LocalStore;
use cairn_metastore::Metastore;

/// In each test, the planted faults and the suite share one store, as tests of other adapters share one
/// server. The faults run first. If the faults leave damaged data, the suite on the same store fails.
macro_rules! suites {
    ($($suite:ident: $port:path),+ $(,)?) => {$(
        #[tokio::test(flavor = "multi_thread")]
        async fn $suite() -> Result<()> {
            let directory = tempfile::tempdir()?;
            let store = LocalStore::open(directory.path())?;
            let open = async || Ok(Box::new(store.clone()) as Box<dyn $port>);
            let checks = cairn_conformance::$suite::checks();
            suite::catches(&checks, &cairn_conformance::$suite::faults(), open).await?;
            suite::passes(&checks, open).await
        }
    )+};
}
suites!(
    graph_store: cairn_ports::GraphStore,
    run_documents: cairn_ports::RunDocuments,
    vector_cache: cairn_ports::VectorCache,
);

/// Checks the metastore, the ledger, the outbox and the requests, which are built on the store's documents.
#[tokio::test(flavor = "multi_thread")]
async fn runs_pass_suite_and_planted_faults_are_caught() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let store = Arc::new(LocalStore::open(directory.path())?);
    let open = async || Ok(Box::new(Metastore::new(store.clone())) as Box<dyn RunStore>);
    let checks = cairn_conformance::runs::checks();
    suite::catches(&checks, &cairn_conformance::runs::faults(), open).await?;
    suite::passes(&checks, open).await
}
