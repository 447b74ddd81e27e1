//! Checks that the name index with layers in a local blob store fulfils the contract of name indexes.

use std::sync::Arc;

use anyhow::Result;
use cairn_conformance::{names, suite};
use cairn_local_blobs::LocalBlobs;
use cairn_names::NameIndex;
use cairn_ports::Names;

/// The planted faults run before the suite. If a planted fault leaves data that makes a check fail, the suite
/// fails.
#[tokio::test(flavor = "multi_thread")]
async fn name_index_passes_suite_and_planted_faults_are_caught() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let index = NameIndex::new(Arc::new(LocalBlobs::open(directory.path())?));
    let open = async || Ok(Box::new(index.clone()) as Box<dyn Names>);
    suite::catches(&names::checks(), &names::faults(), open).await?;
    suite::passes(&names::checks(), open).await
}
