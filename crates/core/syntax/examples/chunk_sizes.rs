//! Prints the sizes of chunks and the speed at which they are created: `cargo run --release -p cairn-syntax
//! --example chunk_sizes -- PATH…`.
//!
//! Reads the files below the given paths and divides each file into chunks. For each language, prints the
//! deciles of the number of tokens per chunk, the kinds of chunks, and the speed without parsing. With
//! `SHOW=1`, prints for every chunk the kind, span, number of tokens, symbol or heading, and header instead.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cairn_domain::{ChunkFacts, FactsKey, Key128, RepoPath, Symbol};
use cairn_syntax::chunker::{chunk_file, embedded_text, estimate_tokens, line_starts};
use cairn_syntax::documents::parse_document;
use cairn_syntax::{LanguageRow, ParseLimits, language_of, parse_file};

#[derive(Default)]
struct Totals {
    num_files: usize,
    num_bytes: usize,
    num_lines: usize,
    tokens: Vec<u32>,
    kinds: BTreeMap<&'static str, usize>,
    elapsed: Duration,
}

fn main() {
    let mut files = Vec::new();
    std::env::args().skip(1).for_each(|root| add_files(Path::new(&root), &mut files));
    files.sort();
    let shows = std::env::var_os("SHOW").is_some();
    let mut totals: BTreeMap<&'static str, Totals> = BTreeMap::new();
    for path in &files {
        let Ok(text) = std::fs::read_to_string(path) else { continue };
        let Some(row) = row_of(path, &text) else { continue };
        let (symbols, chunks, elapsed) = chunks_of(row, &text);
        if shows {
            show(path, &text, &symbols, &chunks);
        }
        totals.entry(row.name).or_default().add(&text, &chunks, elapsed);
    }
    if !shows {
        totals.iter_mut().for_each(|(name, totals)| totals.print(name));
    }
}

fn add_files(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_dir() && !path.is_symlink() {
        let Ok(entries) = std::fs::read_dir(path) else { return };
        entries.flatten().for_each(|entry| add_files(&entry.path(), files));
    } else if std::fs::metadata(path).is_ok_and(|metadata| metadata.len() <= 1 << 20) {
        files.push(path.to_owned());
    }
}

fn row_of(path: &Path, text: &str) -> Option<&'static LanguageRow> {
    let name = path.file_name().and_then(|name| name.to_str())?;
    language_of(&RepoPath::parse(name).ok()?, &text.as_bytes()[..text.len().min(4096)])
}

/// Symbols, chunks, and the time to create the chunks. Documents are parsed and chunked in one step.
fn chunks_of(row: &LanguageRow, text: &str) -> (Vec<Symbol>, Vec<ChunkFacts>, Duration) {
    if row.grammar.is_none() {
        let start = Instant::now();
        let (_, symbols, chunks) = parse_document(row.name, text);
        return (symbols, chunks, start.elapsed());
    }
    let facts = parse_file(row.name, FactsKey(Key128([0; 16])), text, &ParseLimits::default());
    let start = Instant::now();
    let chunks = chunk_file(text, &facts.symbols, &facts.imports);
    (facts.symbols, chunks, start.elapsed())
}

fn show(path: &Path, text: &str, symbols: &[Symbol], chunks: &[ChunkFacts]) {
    println!("{}", path.display());
    let starts = line_starts(text);
    for chunk in chunks {
        let symbol = chunk.symbol.map(|symbol| symbols[symbol as usize].qualified_name.as_str());
        let name = symbol.or(chunk.heading.as_deref()).unwrap_or("-");
        let tokens = estimate_tokens(&embedded_text(text, &starts, chunk));
        println!(
            "  {:>5}-{:<5} {tokens:>5} {:<9} {name} {:?}",
            chunk.span.start,
            chunk.span.end,
            chunk.kind.as_str(),
            chunk.header
        );
    }
}

impl Totals {
    fn add(&mut self, text: &str, chunks: &[ChunkFacts], elapsed: Duration) {
        let starts = line_starts(text);
        self.num_files += 1;
        self.num_bytes += text.len();
        self.num_lines += starts.len();
        self.elapsed += elapsed;
        for chunk in chunks {
            self.tokens.push(estimate_tokens(&embedded_text(text, &starts, chunk)));
            *self.kinds.entry(chunk.kind.as_str()).or_default() += 1;
        }
    }

    fn print(&mut self, name: &str) {
        self.tokens.sort_unstable();
        let last = self.tokens.len().saturating_sub(1);
        let tenths: Vec<_> = (0..=10).filter_map(|tenth| self.tokens.get(last * tenth / 10)).collect();
        let over = self.tokens.iter().filter(|&&tokens| tokens > 650).count();
        let speed = self.num_bytes as f64 / 1e6 / self.elapsed.as_secs_f64();
        println!(
            "{name}: {} files, {} lines, {} chunks ({:.1} lines each), {speed:.0} MB/s, tokens {tenths:?}, {over} above 650, {:?}",
            self.num_files,
            self.num_lines,
            self.tokens.len(),
            self.num_lines as f64 / self.tokens.len().max(1) as f64,
            self.kinds
        );
    }
}
