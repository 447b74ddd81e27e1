//! Checks the number and the size of layers, and the report of damaged layers.

use std::sync::Arc;

use anyhow::Result;
use bytes::Bytes;
use cairn_domain::{
    ArtifactRef, GenerationId, PublishedSeq, RepoPath, RepositoryId, RepositoryName, RunId, Scope, Slot, Tenant, View,
};
use cairn_exact::GramQuery;
use cairn_local_blobs::LocalBlobs;
use cairn_ports::{BlobStore, ErrorKind, Generations, StagedText, StagedTexts, TextFile, Texts, TextsError};
use cairn_texts::TextIndex;

fn repository() -> RepositoryId {
    RepositoryId::derive(&Tenant::local(), &RepositoryName::new("texts"))
}

fn text(path: &str, text: String) -> StagedText {
    let artifact = ArtifactRef { key: "packs/x".to_owned(), size_bytes: 1, hash: [0; 32] };
    let path = RepoPath::parse(path).expect("a path");
    StagedText { path, language: "rust".to_owned(), slot: Slot { artifact, index: 0 }, text }
}

fn view(next_gen: u64) -> View {
    View { seq: PublishedSeq(next_gen), next_gen, ..View::default() }
}

async fn visible(index: &TextIndex, next_gen: u64) -> Result<Vec<TextFile>, TextsError> {
    let (view, scope) = (view(next_gen), Scope::all(Tenant::local()));
    index.candidates(&view, &scope, repository(), &GramQuery::All).await
}

async fn stage(index: &TextIndex, generation: u64, staged: StagedTexts) -> Result<()> {
    let run = RunId { repository: repository(), generation: GenerationId(generation) };
    Ok(index.stage(&Tenant::local(), run, staged).await?)
}

/// After many small changes, only a few layers exist, and the large first layer was rewritten only a few
/// times.
#[tokio::test]
async fn small_changes_leave_few_layers_and_rarely_rewrite_the_first() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let blobs = Arc::new(LocalBlobs::open(directory.path())?);
    let index = TextIndex::new(blobs.clone());
    let first = (0..400).map(|number| text(&format!("src/f{number}.rs"), format!("text number {number}")));
    stage(&index, 1, StagedTexts { replaced: Vec::new(), texts: first.collect() }).await?;
    index.sweep_retired(repository(), &[GenerationId(1)]).await?;
    let large = |blobs: &[cairn_ports::BlobMeta]| {
        blobs.iter().filter(|blob| blob.size_bytes > 8_000).map(|blob| blob.key.clone()).collect::<Vec<_>>()
    };
    let (mut num_rewritten, mut known) = (0, large(&blobs.list("texts/").await?));
    for generation in 2..102 {
        let changed = text(&format!("src/f{}.rs", generation * 3), format!("changed in {generation}"));
        let replaced = vec![changed.path.clone()];
        stage(&index, generation, StagedTexts { replaced, texts: vec![changed] }).await?;
        index.sweep_retired(repository(), &[GenerationId(generation)]).await?;
        let now = large(&blobs.list("texts/").await?);
        num_rewritten += now.iter().filter(|key| !known.contains(key)).count();
        known = now;
        assert_eq!(visible(&index, generation + 1).await?.len(), 400);
    }
    assert!(num_rewritten <= 4, "{num_rewritten}");
    Ok(())
}

#[tokio::test]
async fn damaged_layer_is_reported() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let blobs = Arc::new(LocalBlobs::open(directory.path())?);
    let texts = (0..300).map(|number| text(&format!("{number}"), format!("{number} text {}", number * 77)));
    stage(&TextIndex::new(blobs.clone()), 1, StagedTexts { replaced: Vec::new(), texts: texts.collect() }).await?;
    let key = blobs.list("texts/").await?[0].key.clone();
    let sound = blobs.get(&key).await?;
    for position in (0..sound.len()).step_by(37) {
        let mut damaged = sound.to_vec();
        damaged[position] ^= 0x55;
        blobs.delete(&key).await?;
        blobs.put(&key, Bytes::from(damaged)).await?;
        let index = TextIndex::new(blobs.clone());
        let found = visible(&index, 2).await;
        assert_eq!(found.expect_err("damaged").kind, ErrorKind::Corrupt, "byte {position}");
        assert!(index.verify(repository()).await.is_err());
    }
    Ok(())
}
