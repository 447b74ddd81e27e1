//! Tests that late writers do not change existing points and never overwrite a published mark.

use anyhow::Result;
use cairn_domain::{ChunkRecord, GenerationId, Scope, View};
use cairn_ports::{Generations, VectorStore};
use cairn_qdrant::QdrantStore;

use crate::space::{Space, chunk, point, repository, stage, staging, tenant, view};

async fn headers(store: &QdrantStore, view: &View) -> Result<Vec<String>> {
    let page = store.scroll(view, &Scope::all(tenant()), repository("r"), 0).await?;
    let mut headers: Vec<String> = page.chunks.into_iter().map(|(chunk, _)| chunk.header).collect();
    headers.sort();
    Ok(headers)
}

fn version(header: &str) -> ChunkRecord {
    ChunkRecord { header: header.to_owned(), ..chunk(repository("r"), "a.rs", 1) }
}

#[tokio::test(flavor = "multi_thread")]
async fn published_mark_stays_and_aborted_mark_is_replaced() -> Result<()> {
    let Some(space) = Space::new() else { return Ok(()) };
    let (store, r) = (space.prepared().await?, repository("r"));
    let key = version("").key;
    stage(&store, &staging(r, 1, 0, &[]), vec![point(version("one"), 1)], vec![]).await?;
    // Generation 2 ended the version and is published. Later writers must not change its mark, even if
    // their list of aborted runs contains other runs.
    stage(&store, &staging(r, 2, 0, &[]), vec![point(version("two"), 1)], vec![key]).await?;
    for late in [staging(r, 3, 0, &[]), staging(r, 5, 1, &[3, 4])] {
        stage(&store, &late, vec![], vec![key]).await?;
        assert_eq!(headers(&store, &view(2, &[])).await?, ["one"]);
        assert_eq!(headers(&store, &view(3, &[])).await?, ["two"]);
    }
    // Generation 3 was aborted, so generation 5 replaced the mark of generation 3 on the second version.
    assert_eq!(headers(&store, &view(5, &[3])).await?, ["two"]);
    assert_eq!(headers(&store, &view(6, &[3])).await?, Vec::<String>::new());
    space.done().await
}

#[tokio::test(flavor = "multi_thread")]
async fn successive_aborted_runs_leave_nothing() -> Result<()> {
    let Some(space) = Space::new() else { return Ok(()) };
    let (store, r) = (space.prepared().await?, repository("r"));
    let key = version("").key;
    stage(&store, &staging(r, 1, 0, &[]), vec![point(version("one"), 1)], vec![]).await?;
    stage(&store, &staging(r, 2, 0, &[]), vec![point(version("two"), 1)], vec![key]).await?;
    stage(&store, &staging(r, 3, 0, &[2]), vec![point(version("three"), 1)], vec![key]).await?;
    // Neither generation 2 nor generation 3 was published. Both generations are swept. Then a late part of
    // generation 2 arrives.
    for aborted in [2, 3, 2] {
        store.sweep_aborted(r, GenerationId(aborted)).await?;
        assert_eq!(headers(&store, &view(4, &[2, 3])).await?, ["one"]);
    }
    stage(&store, &staging(r, 2, 1, &[]), vec![], vec![key]).await?;
    assert_eq!(headers(&store, &view(4, &[2, 3])).await?, ["one"]);
    assert_eq!(store.sweep_aborted(r, GenerationId(2)).await?, 0);
    assert_eq!(headers(&store, &view(4, &[])).await?, ["one"]);
    space.done().await
}

#[tokio::test(flavor = "multi_thread")]
async fn late_upsert_changes_nothing() -> Result<()> {
    let Some(space) = Space::new() else { return Ok(()) };
    let (store, r) = (space.prepared().await?, repository("r"));
    let key = version("").key;
    stage(&store, &staging(r, 1, 0, &[]), vec![point(version("one"), 1)], vec![]).await?;
    stage(&store, &staging(r, 2, 0, &[]), vec![], vec![key]).await?;
    // A late worker writes the same record again. The mark of the record must not change.
    stage(&store, &staging(r, 1, 0, &[]), vec![point(version("late"), 9)], vec![]).await?;
    assert_eq!(headers(&store, &view(2, &[])).await?, ["one"]);
    assert_eq!(headers(&store, &view(3, &[])).await?, Vec::<String>::new());
    store.verify(r).await?;
    space.done().await
}

#[tokio::test(flavor = "multi_thread")]
async fn sweeping_takes_listed_generations_only() -> Result<()> {
    let Some(space) = Space::new() else { return Ok(()) };
    let (store, r) = (space.prepared().await?, repository("r"));
    for generation in 1..6 {
        let header = format!("version {generation}");
        stage(&store, &staging(r, generation, 0, &[]), vec![point(version(&header), 1)], vec![version("").key]).await?;
    }
    // Generation 3 is not listed, so it may still be staging. Version 2, which generation 3 ended, must not
    // be removed.
    assert_eq!(store.sweep_retired(r, &[GenerationId(2), GenerationId(4)]).await?, 2);
    assert_eq!(headers(&store, &view(4, &[3])).await?, ["version 2"]);
    assert_eq!(headers(&store, &view(5, &[])).await?, ["version 4"]);
    assert_eq!(headers(&store, &view(6, &[])).await?, ["version 5"]);
    space.done().await
}
