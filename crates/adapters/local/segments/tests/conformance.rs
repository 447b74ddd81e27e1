//! Checks that the store of search segments fulfils the contract of vector stores.

use anyhow::Result;
use cairn_conformance::{suite, vector_store};
use cairn_local_segments::SegmentStore;
use cairn_ports::VectorStore;

/// The planted faults run before the suite. If a planted fault leaves data that makes a check fail, the suite
/// fails.
#[tokio::test(flavor = "multi_thread")]
async fn segments_pass_suite_and_planted_faults_are_caught() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let store = SegmentStore::new(directory.path());
    let open = async || Ok(Box::new(store.clone()) as Box<dyn VectorStore>);
    suite::catches(&vector_store::checks(), &vector_store::faults(), open).await?;
    suite::passes(&vector_store::checks(), open).await
}
