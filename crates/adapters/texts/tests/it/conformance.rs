//! Checks the contract of text indexes with layers in a local blob store.

use std::sync::Arc;

use anyhow::Result;
use cairn_conformance::{suite, texts};
use cairn_local_blobs::LocalBlobs;
use cairn_ports::Texts;
use cairn_texts::TextIndex;

/// The planted faults run before the suite. If the faults leave data that makes a check fail, the suite
/// fails.
#[tokio::test(flavor = "multi_thread")]
async fn text_index_passes_suite_and_planted_faults_are_caught() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let index = TextIndex::new(Arc::new(LocalBlobs::open(directory.path())?));
    let open = async || Ok(Box::new(index.clone()) as Box<dyn Texts>);
    suite::catches(&texts::checks(), &texts::faults(), open).await?;
    suite::passes(&texts::checks(), open).await
}
