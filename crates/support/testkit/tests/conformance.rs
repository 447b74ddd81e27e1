//! The blob store's contract, in memory.

use anyhow::Result;
use cairn_conformance::{blob_store, suite};
use cairn_ports::BlobStore;
use cairn_testkit::MemoryBlobs;

#[tokio::test]
async fn memory_keeps_the_contract() -> Result<()> {
    suite::passes(&blob_store::checks(), async || Ok(Box::new(MemoryBlobs::new()) as Box<dyn BlobStore>)).await
}
