//! Runs the conformance suites of the blob store, the store of runs and the clock on the in-memory
//! implementations.

use std::time::Duration;

use anyhow::Result;
use cairn_conformance::clock::ClockUnderTest;
use cairn_conformance::{blob_store, clock, run_documents, suite};
use cairn_ports::{BlobStore, Clock, RunDocuments};
use cairn_testkit::{ManualClock, MemoryBlobs, MemoryRuns};

#[tokio::test]
async fn memory_stores_pass_the_suite() -> Result<()> {
    suite::passes(&blob_store::checks(), async || Ok(Box::new(MemoryBlobs::new()) as Box<dyn BlobStore>)).await
}

#[tokio::test]
async fn memory_runs_pass_the_suite() -> Result<()> {
    let open = async || Ok(Box::new(MemoryRuns::new()) as Box<dyn RunDocuments>);
    suite::passes(&run_documents::checks(), open).await?;
    suite::catches(&run_documents::checks(), &run_documents::faults(), open).await
}

struct Manual(ManualClock);

impl ClockUnderTest for Manual {
    fn clock(&self) -> &dyn Clock {
        &self.0
    }

    fn pass(&self, time: Duration) {
        self.0.advance(time);
    }
}

#[tokio::test]
async fn manual_clock_passes_the_suite() -> Result<()> {
    let open = async || Ok(Box::new(Manual(ManualClock::default())) as Box<dyn ClockUnderTest>);
    suite::passes(&clock::checks(), open).await?;
    suite::catches(&clock::checks(), &clock::faults(), open).await
}
