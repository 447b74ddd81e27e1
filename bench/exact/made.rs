//! Creates an index of texts without the pipeline, for measurements with large corpora.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use bytes::Bytes;
use cairn_domain::{
    ArtifactRef, BlobId, ContentHash, FactsKey, GenerationId, Key128, RepoPath, RepositoryId, RepositoryName, RunId,
    Slot, SourceText, Tenant,
};
use cairn_local_blobs::LocalBlobs;
use cairn_local_embedding::WordTable;
use cairn_ports::{BlobStore, StagedText, StagedTexts, Texts};
use cairn_search::{Caller, CursorKey, SearchStores, Searcher};
use cairn_testkit::{FakeContent, FakeIndex, ManualClock};
use cairn_texts::TextIndex;
use cairn_wire::{ArtifactKind, PackWriter};
use serde_json::json;

const NUM_REPOSITORIES: usize = 20;
const MAX_FILE_BYTES: u64 = 1 << 20;
/// The size of the texts in one pack, and in one layer. The sizes are the same as in the pipeline.
const PACK_BYTES: usize = 4 << 20;
const LAYER_BYTES: usize = 32 << 20;

fn name(number: usize) -> String {
    format!("r{number:02}")
}

/// A searcher over an index that `make` created.
pub(crate) async fn searcher(work: &Path) -> Result<Searcher> {
    let contents = (0..NUM_REPOSITORIES).map(|number| FakeContent::new(&name(number), "made")).collect();
    let index = Arc::new(FakeIndex::new(contents).await?);
    let blobs = Arc::new(LocalBlobs::open(&work.join("artifacts"))?);
    let stores = SearchStores {
        catalogue: index.clone(),
        ledger: index.clone(),
        vectors: index.clone(),
        graph: index.clone(),
        names: index.clone(),
        texts: Arc::new(TextIndex::new(blobs.clone())),
        blobs,
    };
    Ok(Searcher::new(
        Caller::local(),
        stores,
        index,
        Arc::new(WordTable::shipped()?),
        Arc::new(ManualClock::default()),
        CursorKey([1; 32]),
    ))
}

/// Creates the index, writes the texts to `WORK/texts`, and prints the sizes.
pub(crate) async fn make(work: &Path, folders: &[&str]) -> Result<()> {
    let blobs: Arc<dyn BlobStore> = Arc::new(LocalBlobs::open(&work.join("artifacts"))?);
    let index = TextIndex::new(Arc::clone(&blobs));
    let mut roots = Vec::new();
    for folder in folders {
        roots.extend(
            fs::read_dir(folder)?.filter_map(Result::ok).map(|entry| entry.path()).filter(|path| path.is_dir()),
        );
    }
    roots.sort();
    let (mut num_files, mut num_bytes, mut num_lines) = (0_u64, 0_u64, 0_u64);
    for number in 0..NUM_REPOSITORIES {
        let mut texts = BTreeMap::new();
        for root in roots.iter().skip(number).step_by(NUM_REPOSITORIES) {
            let parent = root.parent().context("a parent")?;
            read_below(root, parent, &mut texts)?;
        }
        for (path, text) in &texts {
            num_files += 1;
            num_bytes += text.len() as u64;
            num_lines += text.lines().count() as u64;
            let path = work.join("texts").join(name(number)).join(path.as_str());
            fs::create_dir_all(path.parent().context("a folder")?)?;
            fs::write(path, text)?;
        }
        stage(&blobs, &index, number, texts).await?;
    }
    let mut sizes = json!({ "files": num_files, "bytes": num_bytes, "lines": num_lines, "names": 0, "facts": 0 });
    for folder in ["texts", "packs"] {
        let blobs = blobs.list(&format!("{folder}/")).await?;
        sizes[folder] = json!(blobs.iter().map(|blob| blob.size_bytes).sum::<u64>());
    }
    fs::write(work.join("sizes.json"), sizes.to_string())?;
    println!("{sizes}");
    Ok(())
}

fn read_below(folder: &Path, parent: &Path, texts: &mut BTreeMap<RepoPath, String>) -> Result<()> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)?.filter_map(Result::ok).map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        let meta = fs::symlink_metadata(&path)?;
        if meta.is_dir() {
            read_below(&path, parent, texts)?;
        } else if meta.is_file() && meta.len() <= MAX_FILE_BYTES {
            let relative = path.strip_prefix(parent)?.to_str().map(RepoPath::parse);
            let (Some(Ok(relative)), Ok(text)) = (relative, String::from_utf8(fs::read(&path)?)) else { continue };
            if !text.contains('\0') && !text.starts_with('\u{feff}') {
                texts.insert(relative, text);
            }
        }
    }
    Ok(())
}

async fn stage(
    blobs: &Arc<dyn BlobStore>,
    index: &TextIndex,
    number: usize,
    texts: BTreeMap<RepoPath, String>,
) -> Result<()> {
    let repository = RepositoryId::derive(&Tenant::local(), &RepositoryName::new(name(number)));
    let run = RunId { repository, generation: GenerationId(number as u64 + 1) };
    let mut layer = StagedTexts::default();
    let mut size = 0;
    let mut texts = texts.into_iter().peekable();
    while texts.peek().is_some() {
        let (mut pack, mut batch, mut pack_size) = (PackWriter::new(ArtifactKind::SourcePack), Vec::new(), 0);
        while pack_size < PACK_BYTES
            && let Some((path, text)) = texts.next()
        {
            pack_size += text.len();
            pack.push(&SourceText {
                facts_key: FactsKey(Key128([1; 16])),
                blob: BlobId([1; 20]),
                language: Some("text".to_owned()),
                text: text.clone(),
                secrets: Vec::new(),
            });
            batch.push((path, text));
        }
        let bytes = pack.finish();
        let hash = ContentHash::of_bytes(&bytes).0;
        let key = format!("packs/{repository}/{}", &cairn_domain::Digest(hash).to_string()[..32]);
        let artifact = ArtifactRef { key: key.clone(), size_bytes: bytes.len() as u64, hash };
        blobs.put(&key, Bytes::from(bytes)).await?;
        for ((path, text), slot) in batch.into_iter().zip(0..) {
            let slot = Slot { artifact: artifact.clone(), index: slot };
            layer.texts.push(StagedText { path, language: "text".to_owned(), slot, text });
        }
        size += pack_size;
        if size >= LAYER_BYTES || texts.peek().is_none() {
            index.stage(&Tenant::local(), run, std::mem::take(&mut layer)).await?;
            size = 0;
        }
    }
    Ok(())
}
