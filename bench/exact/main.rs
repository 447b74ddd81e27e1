//! Answers exact searches over an index directory in one process, for `bench/exact/compare`.
//!
//! `make WORK FOLDER…` writes only source packs and the text index, without the other stages, so that large
//! corpora are possible. The subfolders of each FOLDER are distributed over twenty repositories. `ask WORK`
//! answers questions about these repositories. Secrets are not redacted.
//!
//! `export HOME FOLDER` writes the redacted text of every indexed file to `FOLDER/REPOSITORY/PATH` and prints
//! the sizes. `ask HOME` reads questions as JSON from standard input, one on each line, and prints the
//! answers.

mod made;

use std::fs;
use std::io::{BufRead, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use cairn_domain::SourceText;
use cairn_exact::PatternRequest;
use cairn_local_blobs::LocalBlobs;
use cairn_local_embedding::{LocalEmbedder, WordTable};
use cairn_local_segments::SegmentStore;
use cairn_local_store::LocalStore;
use cairn_metastore::Metastore;
use cairn_names::NameIndex;
use cairn_ports::{BlobStoreExt, IncludeTests};
use cairn_search::{Caller, CursorKey, ExactAnswer, ExactRequest, RepositorySelection, SearchStores, Searcher};
use cairn_testkit::ManualClock;
use cairn_texts::TextIndex;
use cairn_wire::{ArtifactKind, Manifest, PackReader, decode};
use serde::Deserialize;
use serde_json::{Value, json};

const FIRST_PAGE: usize = 50;
const LARGE_PAGE: usize = 1_000;

#[derive(Deserialize)]
struct ExactQuestion {
    pattern: String,
    #[serde(default)]
    regex: bool,
    #[serde(default)]
    ignore_case: bool,
    #[serde(default)]
    whole_word: bool,
    #[serde(default)]
    multiline: bool,
    /// Number of additional large pages of hits that are returned after the first page. Only the time of the
    /// first page is measured.
    #[serde(default)]
    pages: usize,
}

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["export", home, folder] => export(Path::new(home), Path::new(folder)).await,
        ["ask", home] => {
            let home = Path::new(home);
            let searcher = if home.join("cairn.db").exists() { searcher(home)? } else { made::searcher(home).await? };
            ask(&searcher).await
        }
        ["make", work, ref folders @ ..] => made::make(Path::new(work), folders).await,
        _ => bail!("usage: exact export HOME FOLDER | exact make WORK FOLDER… | exact ask HOME"),
    }
}

fn searcher(home: &Path) -> Result<Searcher> {
    let store = Arc::new(LocalStore::open(home)?);
    let runs = Arc::new(Metastore::new(store.clone()));
    let blobs = Arc::new(LocalBlobs::open(&home.join("artifacts"))?);
    let stores = SearchStores {
        catalogue: runs.clone(),
        ledger: runs,
        vectors: Arc::new(SegmentStore::new(home.join("segments"))),
        graph: store,
        names: Arc::new(NameIndex::new(blobs.clone())),
        texts: Arc::new(TextIndex::new(blobs.clone())),
        blobs,
    };
    let (embedder, words) = (Arc::new(LocalEmbedder::shipped()?), Arc::new(WordTable::shipped()?));
    Ok(Searcher::new(Caller::local(), stores, embedder, words, Arc::new(ManualClock::default()), CursorKey([1; 32])))
}

async fn export(home: &Path, folder: &Path) -> Result<()> {
    let searcher = searcher(home)?;
    let view = searcher.catalogue.view().await?;
    let (mut num_files, mut num_bytes, mut num_lines) = (0_u64, 0_u64, 0_u64);
    for known in searcher.repositories(&view).await? {
        let Some(published) = &known.published else { continue };
        let bytes = searcher.blobs.get_artifact(&published.manifest).await?;
        let manifest: Manifest = decode(ArtifactKind::Manifest, &bytes)?;
        let mut open: Option<(String, PackReader)> = None;
        for entry in manifest.entries.iter().filter(|entry| entry.outcome.is_indexed()) {
            let slot = entry.source.as_ref().context("an indexed file has no text")?;
            if open.as_ref().is_none_or(|(key, _)| *key != slot.artifact.key) {
                let bytes = searcher.blobs.get(&slot.artifact.key).await?;
                open = Some((slot.artifact.key.clone(), PackReader::open(ArtifactKind::SourcePack, bytes)?));
            }
            let (_, reader) = open.as_mut().context("a pack")?;
            let source: SourceText = reader.read(slot.index)?;
            let path = folder.join(known.record.name.as_str()).join(entry.path.as_str());
            fs::create_dir_all(path.parent().context("a folder")?)?;
            fs::write(path, &source.text)?;
            num_files += 1;
            num_bytes += source.text.len() as u64;
            num_lines += source.text.lines().count() as u64;
        }
    }
    let mut sizes = json!({ "files": num_files, "bytes": num_bytes, "lines": num_lines });
    for folder in ["texts", "packs", "names", "facts"] {
        let blobs = searcher.blobs.list(&format!("{folder}/")).await?;
        sizes[folder] = json!(blobs.iter().map(|blob| blob.size_bytes).sum::<u64>());
    }
    println!("{sizes}");
    Ok(())
}

async fn ask(searcher: &Searcher) -> Result<()> {
    let mut out = std::io::stdout();
    for line in std::io::stdin().lock().lines() {
        let asked: ExactQuestion = serde_json::from_str(&line?)?;
        let answer = match answered(searcher, &asked).await {
            Ok(answer) => answer,
            Err(error) => json!({ "error": error.to_string() }),
        };
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

async fn answered(searcher: &Searcher, asked: &ExactQuestion) -> Result<Value> {
    let started = Instant::now();
    let first = searcher.exact(&request(asked, FIRST_PAGE, None)).await?;
    let ms = started.elapsed().as_secs_f64() * 1_000.0;
    let (mut hits, mut cursor, mut is_whole, mut has_cut_hits) = (Vec::new(), None, false, false);
    for _ in 0..asked.pages {
        let page = searcher.exact(&request(asked, LARGE_PAGE, cursor.take())).await?;
        hits.extend(hits_of(&page));
        has_cut_hits |= page.files.iter().flat_map(|file| &file.lines).any(|line| line.num_lines_cut > 0);
        cursor = page.next_cursor;
        if cursor.is_none() {
            is_whole = true;
            break;
        }
    }
    let (num_hits, is_exact) = (first.num_hits, first.is_exact);
    Ok(json!({
        "ms": ms,
        "num_hits": num_hits,
        "is_exact": is_exact,
        "is_whole": is_whole,
        "has_cut_hits": has_cut_hits,
        "hits": hits,
    }))
}

fn request(asked: &ExactQuestion, limit: usize, cursor: Option<String>) -> ExactRequest {
    ExactRequest {
        pattern: PatternRequest {
            text: asked.pattern.clone(),
            is_regex: asked.regex,
            ignores_case: asked.ignore_case,
            whole_words: asked.whole_word,
            across_lines: asked.multiline,
        },
        repositories: RepositorySelection(Vec::new()),
        languages: Vec::new(),
        paths: Vec::new(),
        include_tests: IncludeTests::Include,
        before: 0,
        after: 0,
        limit,
        max_tokens: usize::MAX,
        cursor,
    }
}

/// The lines of the hits with their matches: repository, path, line, matches.
fn hits_of(answer: &ExactAnswer) -> Vec<Value> {
    let mut hits = Vec::new();
    for file in &answer.files {
        for line in file.lines.iter().filter(|line| line.is_hit) {
            hits.push(json!([file.repository, file.path.as_str(), line.number, line.matches]));
        }
    }
    hits
}
