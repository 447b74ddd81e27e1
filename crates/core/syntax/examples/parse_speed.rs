//! Compares the time for extracting facts with the time for parsing alone: `cargo run --release -p
//! cairn-syntax --example parse_speed -- PATH…`.
//!
//! Reads the files below the given paths. On one core, first parses each file with tree-sitter alone and then
//! calls `parse_file`. Measures both times and prints one line per language. The query of a language
//! is compiled once per process, and the time for compiling is measured separately.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cairn_domain::{FactsKey, Key128, ParseStatus, RepoPath};
use cairn_syntax::{LanguageRow, ParseLimits, language_of, parse_file};
use tree_sitter::Parser;

#[derive(Default)]
struct Totals {
    num_files: usize,
    num_lines: usize,
    num_bytes: usize,
    num_symbols: usize,
    num_references: usize,
    num_unsound: usize,
    compile: Duration,
    bare: Duration,
    facts: Duration,
    most_steps_per_kb: usize,
    slowest: (Duration, PathBuf),
}

fn main() {
    let mut files = Vec::new();
    std::env::args().skip(1).for_each(|root| add_files(Path::new(&root), &mut files));
    files.sort_by(|a, b| a.0.cmp(&b.0));
    let mut totals: BTreeMap<&'static str, Totals> = BTreeMap::new();
    let mut parser = Parser::new();
    for (path, row) in &files {
        if let Ok(text) = std::fs::read_to_string(path) {
            let totals =
                totals.entry(row.name).or_insert_with(|| Totals { compile: compile(row), ..Totals::default() });
            measure(&mut parser, row, path, &text, totals);
        }
    }
    println!(
        "{:<12} {:>6} {:>9} {:>10} {:>8} {:>8} {:>6} {:>10} {:>8} {:>8} {:>8} {:>8} slowest",
        "language",
        "files",
        "lines",
        "compile ms",
        "bare ms",
        "all ms",
        "ratio",
        "lines/s",
        "symbols",
        "refs",
        "unsound",
        "steps/kB"
    );
    for (name, t) in &totals {
        let (bare, all) = (t.bare.as_secs_f64(), t.facts.as_secs_f64());
        println!(
            "{name:<12} {:>6} {:>9} {:>10.0} {:>8.0} {:>8.0} {:>6.2} {:>10.0} {:>8} {:>8} {:>8} {:>8} {:.0} ms {}",
            t.num_files,
            t.num_lines,
            t.compile.as_secs_f64() * 1e3,
            bare * 1e3,
            all * 1e3,
            all / bare,
            t.num_lines as f64 / all,
            t.num_symbols,
            t.num_references,
            t.num_unsound,
            t.most_steps_per_kb,
            t.slowest.0.as_secs_f64() * 1e3,
            t.slowest.1.display()
        );
    }
}

fn add_files(path: &Path, files: &mut Vec<(PathBuf, &'static LanguageRow)>) {
    if path.is_dir() && !path.is_symlink() {
        let Ok(entries) = std::fs::read_dir(path) else { return };
        entries.flatten().for_each(|entry| add_files(&entry.path(), files));
        return;
    }
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_small = std::fs::metadata(path).is_ok_and(|metadata| metadata.len() <= 1 << 20);
    let Some(repo_path) = RepoPath::parse(name).ok().filter(|_| is_small) else { return };
    let head = std::fs::read(path).unwrap_or_default();
    if let Some(row) = language_of(&repo_path, &head[..head.len().min(4096)]).filter(|row| row.grammar.is_some()) {
        files.push((path.to_owned(), row));
    }
}

/// The query is compiled when the first file of its language is parsed.
fn compile(row: &LanguageRow) -> Duration {
    let start = Instant::now();
    std::hint::black_box(parse_file(row.name, FactsKey(Key128([0; 16])), "", &ParseLimits::default()));
    start.elapsed()
}

fn measure(parser: &mut Parser, row: &LanguageRow, path: &Path, text: &str, totals: &mut Totals) {
    let Some(grammar) = row.grammar else { return };
    parser.set_language(&(grammar.load)()).expect("a grammar of this core");
    let start = Instant::now();
    std::hint::black_box(parser.parse(text, None));
    totals.bare += start.elapsed();
    let start = Instant::now();
    let num_steps = Cell::new(0);
    let count = || {
        num_steps.set(num_steps.get() + 1);
        true
    };
    let limits = ParseLimits { keep_going: &count, ..ParseLimits::default() };
    let facts = parse_file(row.name, FactsKey(Key128([0; 16])), text, &limits);
    let elapsed = start.elapsed();
    totals.most_steps_per_kb = totals.most_steps_per_kb.max(num_steps.get() * 1024 / text.len().max(4096));
    totals.facts += elapsed;
    if elapsed > totals.slowest.0 {
        totals.slowest = (elapsed, path.to_owned());
    }
    totals.num_files += 1;
    totals.num_lines += facts.num_lines as usize;
    totals.num_bytes += text.len();
    totals.num_symbols += facts.symbols.len();
    totals.num_references += facts.references.len();
    if facts.status != ParseStatus::Parsed {
        totals.num_unsound += 1;
        if std::env::var_os("VERBOSE").is_some() {
            eprintln!("{} {}", facts.status.as_str(), path.display());
        }
    }
}
