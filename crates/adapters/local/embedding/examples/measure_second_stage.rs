//! Measures how long the second stage of the ranking takes for the chunks of a directory of source files:
//! reading the facts about the texts, and ordering the hits.
//!
//! Usage: `cargo run --release --example measure_second_stage -- DIRECTORY`.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use cairn_domain::{
    ChunkKey, ChunkKind, ChunkRecord, ContentHash, LineSpan, RepoPath, RepositoryId, RepositoryName, Tenant,
};
use cairn_local_embedding::WordTable;
use cairn_ranking::{
    FactsOfTexts, RankedHit, ScopeFrequencies, Scores, SecondStage, Signals, Subjects, TextFacts, rerank,
};

const NUM_CHUNKS: usize = 150;
/// The mean length of the candidates in the evaluation set.
const LINES_OF_CHUNK: usize = 33;
const NUM_ROUNDS: usize = 40;
const QUESTION: &str = "when a worker crashed in the middle of its work, who picks the orphaned items up again";

fn main() -> Result<()> {
    let directory = std::env::args().nth(1).context("usage: measure_second_stage DIRECTORY")?;
    let mut hits = Vec::new();
    add_chunks(Path::new(&directory), &mut hits)?;
    ensure!(hits.len() >= NUM_CHUNKS, "the directory contains only {} chunks", hits.len());
    let table = WordTable::shipped()?;
    let frequencies = ScopeFrequencies::of(QUESTION);
    let num_sets = hits.len() / NUM_CHUNKS;
    let (mut read, mut ordered): (Vec<Duration>, Vec<Duration>) = (Vec::new(), Vec::new());
    let mut num_bytes = 0;
    for round in 0..NUM_ROUNDS {
        let set = hits[round % num_sets * NUM_CHUNKS..][..NUM_CHUNKS].to_vec();
        let start = Instant::now();
        let facts = set.iter().map(|hit| (hit.chunk.content_hash, Arc::new(TextFacts::read(&hit.chunk.text))));
        let texts: FactsOfTexts = facts.collect();
        read.push(start.elapsed());
        num_bytes += texts.values().map(|text| text.num_bytes()).sum::<usize>();
        let start = Instant::now();
        let stage = SecondStage {
            question: QUESTION,
            texts: &texts,
            similarity: &table,
            frequencies: &frequencies,
            subjects: Subjects::default(),
            further_hits_count_less: true,
            signals: Signals::default(),
        };
        let ranked = rerank(set, stage);
        ordered.push(start.elapsed());
        ensure!(ranked.len() == NUM_CHUNKS, "hits are missing");
    }
    let bytes: usize = hits.iter().map(|hit| hit.chunk.text.len()).sum();
    let (bytes, facts) = (bytes / hits.len(), num_bytes / (NUM_ROUNDS * NUM_CHUNKS));
    println!("{NUM_CHUNKS} chunks of {bytes} bytes, facts of {facts} bytes");
    for (what, took) in [("reading", &mut read), ("ordering", &mut ordered)] {
        took.sort_unstable();
        println!("{what}: median {:?}, longest {:?}", took[took.len() / 2], took[took.len() - 1]);
    }
    Ok(())
}

fn add_chunks(directory: &Path, hits: &mut Vec<RankedHit>) -> Result<()> {
    let mut entries: Vec<_> = fs::read_dir(directory)?.collect::<std::io::Result<_>>()?;
    entries.sort_by_key(fs::DirEntry::path);
    for entry in entries {
        let path = entry.path();
        if path.is_dir() {
            add_chunks(&path, hits)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path)?;
            let lines: Vec<&str> = text.lines().collect();
            for (number, lines) in lines.chunks(LINES_OF_CHUNK).enumerate() {
                hits.push(hit(&path, number, &lines.join("\n"))?);
            }
        }
    }
    Ok(())
}

fn hit(path: &Path, number: usize, text: &str) -> Result<RankedHit> {
    let repository = RepositoryId::derive(&Tenant::local(), &RepositoryName::new("measured"));
    let path = RepoPath::parse(path.to_string_lossy().trim_start_matches(['.', '/']))?;
    let (content_hash, line) = (ContentHash::of(text), (number * LINES_OF_CHUNK) as u32 + 1);
    let dense = i64::from(line) % 97;
    let chunk = ChunkRecord {
        key: ChunkKey::derive(repository, &path, content_hash, line),
        repository,
        path,
        language: "rust".into(),
        kind: ChunkKind::Function,
        span: LineSpan::new(line, line + LINES_OF_CHUNK as u32 - 1),
        symbol: Some("Store.read_rows".into()),
        symbol_kind: None,
        heading: None,
        header: String::new(),
        text: text.into(),
        content_hash,
        module_path: String::new(),
        is_test: false,
        exported: false,
        documented: false,
        has_secrets: false,
        weight_percent: 100,
        tags: Arc::default(),
        changed_at: None,
    };
    let scores = Scores { dense, best_of_file: dense, terms: dense };
    Ok(RankedHit { score: 1_000_000, scores, ..RankedHit::new(chunk) })
}
