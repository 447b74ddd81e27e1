//! Tests scrolling during writes: no chunk is returned twice, and no chunk is lost.

use std::collections::BTreeSet;

use anyhow::{Result, ensure};
use cairn_domain::Scope;
use cairn_ports::VectorStore;

use crate::space::{Space, chunk, point, repository, stage, staging, tenant, view};

const NUM_CHUNKS: u32 = 3_500;

#[tokio::test(flavor = "multi_thread")]
async fn pages_stay_complete_during_staging() -> Result<()> {
    let Some(space) = Space::new() else { return Ok(()) };
    let (store, r) = (space.prepared().await?, repository("r"));
    let chunks: Vec<_> = (0..NUM_CHUNKS).map(|number| chunk(r, &format!("a/{number}.rs"), 1)).collect();
    let points = chunks.iter().map(|chunk| point(chunk.clone(), 1)).collect();
    stage(&store, &staging(r, 1, 0, &[]), points, vec![]).await?;
    let (writer, old) = (store.clone(), chunks.clone());
    let writing = tokio::spawn(async move {
        // The next generation retires all chunks and writes them again, in small parts.
        for (number, some) in (0..).zip(old.chunks(50)) {
            let points = some.iter().map(|chunk| point(chunk.clone(), 2)).collect();
            let retired = some.iter().map(|chunk| chunk.key).collect();
            stage(&writer, &staging(repository("r"), 2, number, &[]), points, retired).await?;
        }
        anyhow::Ok(())
    });
    let (view, scope) = (view(2, &[]), Scope::all(tenant()));
    let expected: BTreeSet<_> = chunks.iter().map(|chunk| chunk.key).collect();
    let mut num_rounds = 0;
    loop {
        let is_last = writing.is_finished();
        let (mut found, mut from, mut num_pages) = (Vec::new(), 0, 0);
        loop {
            let page = store.scroll(&view, &scope, r, from).await?;
            found.extend(page.chunks.into_iter().map(|(chunk, _)| chunk.key));
            num_pages += 1;
            let Some(next) = page.next else { break };
            from = next;
        }
        ensure!(num_pages > 3, "only {num_pages} pages were read");
        ensure!(found.is_sorted(), "pages are not in the order of keys");
        ensure!(found.len() == expected.len(), "the pages contain {} chunks, expected {}", found.len(), expected.len());
        ensure!(found.into_iter().collect::<BTreeSet<_>>() == expected, "other chunks");
        num_rounds += 1;
        if is_last {
            break;
        }
    }
    writing.await??;
    ensure!(num_rounds >= 2, "the writer ended before the first read");
    space.done().await
}
