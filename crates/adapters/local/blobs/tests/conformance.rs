//! The blob store's contract, on files.

use anyhow::Result;
use cairn_conformance::{blob_store, suite};
use cairn_local_blobs::LocalBlobs;
use cairn_ports::BlobStore;

/// The faults come first: if what they leave behind could make a check fail, the suite that follows would show it.
#[tokio::test(flavor = "multi_thread")]
async fn files_keep_the_contract_and_the_suite_catches_planted_faults() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let store = LocalBlobs::open(directory.path())?;
    let open = async || Ok(Box::new(store.clone()) as Box<dyn BlobStore>);
    suite::catches(&blob_store::checks(), &blob_store::faults(), open).await?;
    suite::passes(&blob_store::checks(), open).await
}
