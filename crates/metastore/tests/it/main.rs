//! Tests that `Metastore` fulfils the contracts of the catalogue and the ledger. The documents are stored in
//! memory.

mod shared_reads;

use std::sync::Arc;

use anyhow::Result;
use cairn_conformance::runs::RunStore;
use cairn_conformance::{runs, suite};
use cairn_domain::{Lane, RepositoryName, Source, Tenant};
use cairn_metastore::Metastore;
use cairn_ports::{Catalogue, RepositoryRecord, Requests};
use cairn_testkit::MemoryRuns;

#[tokio::test]
async fn metastore_passes_suite_and_planted_faults_are_caught() -> Result<()> {
    let open = async || Ok(Box::new(Metastore::new(Arc::new(MemoryRuns::new()))) as Box<dyn RunStore>);
    suite::passes(&runs::checks(), open).await?;
    suite::catches(&runs::checks(), &runs::faults(), open).await
}

fn repository(name: &str) -> RepositoryRecord {
    let source = Source::Url { url: format!("https://example.org/{name}") };
    RepositoryRecord::new(Tenant::local(), RepositoryName::new(name), source)
}

#[tokio::test]
async fn lost_requests_free_their_capacity() -> Result<()> {
    let runs = Metastore::new(Arc::new(MemoryRuns::new()));
    for name in ["a", "b", "c"] {
        runs.register(repository(name)).await?;
        runs.ask(repository(name).id, Lane::Bulk, false, 0).await?;
    }
    assert_eq!(runs.dispatch(2, 0, 100).await?.len(), 2);
    assert_eq!(runs.dispatch(2, 99, 100).await?.len(), 0, "both are in progress");
    assert_eq!(runs.dispatch(2, 100, 100).await?.len(), 2, "no worker has started them");
    Ok(())
}

#[tokio::test]
async fn interactive_requests_start_while_bulk_fills_the_limit() -> Result<()> {
    let runs = Metastore::new(Arc::new(MemoryRuns::new()));
    let ask = async |name: String, lane| {
        runs.register(repository(&name)).await?;
        anyhow::Ok(runs.ask(repository(&name).id, lane, false, 0).await?)
    };
    for number in 0..20 {
        ask(format!("bulk-{number}"), Lane::Bulk).await?;
    }
    let dispatched = async || {
        let requests = runs.dispatch(16, 1, 100).await?;
        anyhow::Ok(requests.iter().map(|request| request.lane).collect::<Vec<_>>())
    };
    assert_eq!(dispatched().await?, [Lane::Bulk; 16]);
    for number in 0..5 {
        ask(format!("interactive-{number}"), Lane::Interactive).await?;
    }
    assert_eq!(dispatched().await?, [Lane::Interactive; 2], "the limit plus an eighth");
    assert_eq!(dispatched().await?, []);
    Ok(())
}
