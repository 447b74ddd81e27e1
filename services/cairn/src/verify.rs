//! Verifies the stored data of a repository. The same checks run in local mode and in a cluster.

use std::sync::Arc;

use cairn_domain::{RepositoryId, Scope};
use cairn_ports::{ChunkFilter, Generations};
use cairn_search::Searcher;
use cairn_stages::Artifacts;

/// First, each store verifies its data. Then the published state is checked for completeness. The returned
/// error describes the damage.
pub(crate) async fn verify(
    searcher: &Searcher,
    stores: &[Arc<dyn Generations>],
    artifacts: &Artifacts,
    repository: RepositoryId,
) -> anyhow::Result<()> {
    for store in stores {
        store.verify(repository).await?;
    }
    let view = searcher.catalogue.view().await?;
    let Some(published) = searcher.catalogue.published(&view, repository).await? else { return Ok(()) };
    artifacts.verify(&published.manifest).await?;
    let scope = Scope::only(searcher.caller.tenant.clone(), [repository]);
    let expected = &published.result;
    let num_chunks = searcher.vectors.count(&view, &scope, &ChunkFilter::default()).await?;
    anyhow::ensure!(num_chunks >= expected.chunks, "only {num_chunks} of {} chunks exist", expected.chunks);
    let (mut num_symbols, mut from) = (0, Some(0));
    while let Some(start) = from {
        let page = searcher.names.scroll(&view, &scope, repository, start).await?;
        num_symbols += page.items.len() as u64;
        from = page.next;
    }
    anyhow::ensure!(num_symbols >= expected.symbols, "only {num_symbols} of {} names exist", expected.symbols);
    Ok(())
}
