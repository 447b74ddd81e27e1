//! Parses files with tree-sitter alone, on all cores. Standard input contains the paths of the files. The
//! measured speed is the reference for the speed of indexing. `cargo run --release -p cairn-syntax --example
//! bare_parse -- ROOT < PATHS`
//!
//! Reads all files first and measures only the time for parsing. Prints one line of JSON: the numbers of
//! files, lines and bytes, the seconds, and the number of lines for each language.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use cairn_domain::RepoPath;
use cairn_syntax::{LanguageRow, language_of};
use tree_sitter::Parser;

fn main() {
    let root = PathBuf::from(std::env::args().nth(1).expect("the folder of the files"));
    let mut files: Vec<(&'static LanguageRow, Vec<u8>)> = Vec::new();
    for path in std::io::stdin().lock().lines().map_while(Result::ok) {
        let Ok(name) = RepoPath::parse(&path) else { continue };
        let bytes = std::fs::read(root.join(&path)).expect("a listed file can be read");
        let row = language_of(&name, &bytes[..bytes.len().min(4096)]).filter(|row| row.grammar.is_some());
        files.extend(row.map(|row| (row, bytes)));
    }
    let num_threads = std::thread::available_parallelism().map_or(1, usize::from);
    let (next, start) = (AtomicUsize::new(0), Instant::now());
    std::thread::scope(|scope| {
        for _ in 0..num_threads {
            scope.spawn(|| parse_all(&files, &next));
        }
    });
    let seconds = start.elapsed().as_secs_f64();
    let mut languages: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut num_lines, mut num_bytes) = (0, 0);
    for (row, bytes) in &files {
        let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
        *languages.entry(row.name).or_default() += lines;
        num_lines += lines;
        num_bytes += bytes.len();
    }
    let languages: Vec<String> = languages.iter().map(|(name, lines)| format!("\"{name}\":{lines}")).collect();
    println!(
        "{{\"files\":{},\"lines\":{num_lines},\"bytes\":{num_bytes},\"threads\":{num_threads},\"seconds\":{seconds:.3},\"languages\":{{{}}}}}",
        files.len(),
        languages.join(",")
    );
}

fn parse_all(files: &[(&'static LanguageRow, Vec<u8>)], next: &AtomicUsize) {
    let mut parser = Parser::new();
    while let Some((row, bytes)) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
        let Some(grammar) = row.grammar else { continue };
        parser.set_language(&(grammar.load)()).expect("a grammar of this core");
        std::hint::black_box(parser.parse(bytes, None));
    }
}
