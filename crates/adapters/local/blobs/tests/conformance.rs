//! Checks that the file store fulfils the contract of blob stores.

use anyhow::Result;
use cairn_conformance::{blob_store, suite};
use cairn_local_blobs::LocalBlobs;
use cairn_ports::BlobStore;

/// The planted faults run before the suite. If a planted fault leaves data that makes a check fail, the suite
/// fails.
#[tokio::test(flavor = "multi_thread")]
async fn blob_files_pass_the_suite() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let store = LocalBlobs::open(directory.path())?;
    let open = async || Ok(Box::new(store.clone()) as Box<dyn BlobStore>);
    suite::catches(&blob_store::checks(), &blob_store::faults(), open).await?;
    suite::passes(&blob_store::checks(), open).await
}
