//! Measures the effect of redaction on real source trees: `cargo run --release --example measure --
//! [--show|--table] [--fast] DIR…`.
//!
//! The example redacts the files that would be indexed and cuts the redacted texts into chunks in the same
//! way as the index. The example lists every chunk that redaction changed, with its path, lines and rules.
//! `--show` adds the redacted lines. `--table` writes rows of Markdown. At the end, the example prints the
//! share of changed chunks and, without `--fast`, the speed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use cairn_domain::{EntryKind, FactsKey, Key128, LineSpan, RepoPath};
use cairn_inventory::{ContentDecision, RuleSettings, Rules};
use cairn_redaction::{Redacted, Redactor, SecretsIgnore, SensitiveNames, is_sensitive};
use cairn_syntax::{ParseLimits, language_of, parse_file};

const REPETITIONS: usize = 7;
/// Number of bytes at the start of a text that are used to detect the language.
const HEAD_BYTES: usize = 4096;
/// Maximum number of characters of a line that are shown.
const SHOWN: usize = 160;

/// The path and the text of a file that would be indexed.
struct File {
    path: RepoPath,
    text: String,
}

/// A chunk in which redaction changed at least one line.
struct Changed {
    span: LineSpan,
    rules: BTreeSet<String>,
    lines: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Listing {
    Plain,
    Redacted,
    Table,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let listing = match (has("--show"), has("--table")) {
        (true, _) => Listing::Redacted,
        (_, true) => Listing::Table,
        _ => Listing::Plain,
    };
    let redactor = Redactor::new(&SecretsIgnore::default()).expect("no patterns");
    for root in arguments.iter().filter(|argument| !argument.starts_with("--")) {
        let files = files(Path::new(root));
        report(&redactor, Path::new(root), &files, listing);
        if !has("--fast") {
            time(&redactor, &files);
        }
    }
}

fn files(root: &Path) -> Vec<File> {
    let names = SensitiveNames::new::<&str>(&[], &[]).expect("no patterns");
    let rules = Rules::compile(&RuleSettings::default(), move |path| is_sensitive(path, &names).is_some());
    let rules = rules.expect("the defaults are valid");
    let mut paths = Vec::new();
    collect(root, &mut paths);
    paths.sort();
    paths.iter().filter_map(|path| indexed(root, path, &rules)).collect()
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    let Ok(kind) = path.symlink_metadata() else { return };
    if kind.is_file() {
        files.push(path.to_owned());
    }
    if kind.is_dir() && path.file_name().is_none_or(|name| name != ".git") {
        for entry in path.read_dir().into_iter().flatten().flatten() {
            collect(&entry.path(), files);
        }
    }
}

fn indexed(root: &Path, file: &Path, rules: &Rules) -> Option<File> {
    let path = RepoPath::from_bytes(file.strip_prefix(root).ok()?.as_os_str().as_encoded_bytes()).ok()?;
    let size_bytes = file.metadata().ok()?.len();
    if rules.decide_path(&path, EntryKind::File, size_bytes).is_some() {
        return None;
    }
    match rules.decide_content(&path, std::fs::read(file).ok()?) {
        ContentDecision::Text { text, .. } => Some(File { path, text }),
        ContentDecision::Skip(_) => None,
    }
}

fn report(redactor: &Redactor, root: &Path, files: &[File], listing: Listing) {
    let (mut num_lines, mut num_chunks, mut num_changed, mut num_findings) = (0, 0, 0, 0);
    let mut by_rule: BTreeMap<String, usize> = BTreeMap::new();
    for file in files {
        let redacted = redactor.redact(&file.text);
        num_lines += file.text.lines().count();
        num_findings += redacted.findings.len();
        for finding in &redacted.findings {
            *by_rule.entry(finding.rule.clone()).or_default() += 1;
        }
        let (chunks, changed) = changed_chunks(file, &redacted);
        num_chunks += chunks;
        num_changed += changed.len();
        for chunk in &changed {
            print!("{}", row(file, chunk, listing));
        }
    }
    let name = root.file_name().unwrap_or_default().to_string_lossy();
    println!("{name}: {} files, {num_lines} lines, {num_findings} findings {by_rule:?}", files.len());
    println!(
        "{name}: {num_changed} of {num_chunks} chunks changed: {:.3} %",
        num_changed as f64 * 100.0 / num_chunks as f64
    );
}

/// Returns the number of chunks of the redacted text, and the chunks with a line that redaction changed.
fn changed_chunks(file: &File, redacted: &Redacted<'_>) -> (usize, Vec<Changed>) {
    let head = &redacted.text.as_bytes()[..redacted.text.len().min(HEAD_BYTES)];
    let language = language_of(&file.path, head).map_or("text", |row| row.name);
    let facts = parse_file(language, FactsKey(Key128([0; 16])), &redacted.text, &ParseLimits::default());
    let before: Vec<&str> = file.text.lines().collect();
    let after: Vec<&str> = redacted.text.lines().collect();
    let mut changed = Vec::new();
    for chunk in &facts.chunks {
        let lines = chunk.span.start as usize - 1..(chunk.span.end as usize).min(after.len());
        let differing: Vec<usize> = lines.filter(|line| before[*line] != after[*line]).collect();
        if differing.is_empty() {
            continue;
        }
        let is_inside = |line: u32| line >= chunk.span.start && line <= chunk.span.end;
        let inside = redacted.findings.iter().filter(|finding| is_inside(finding.line));
        changed.push(Changed {
            span: chunk.span,
            rules: inside.map(|finding| finding.rule.clone()).collect(),
            lines: differing.iter().map(|line| after[*line].trim().chars().take(SHOWN).collect()).collect(),
        });
    }
    (facts.chunks.len(), changed)
}

fn row(file: &File, chunk: &Changed, listing: Listing) -> String {
    let (first, last) = (chunk.span.start, chunk.span.end);
    let rules = chunk.rules.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    match listing {
        Listing::Table => format!("| `{}` | {first}-{last} | {rules} |\n", file.path),
        _ => {
            let mut text = format!("{}:{first}-{last} {rules}\n", file.path);
            for line in chunk.lines.iter().filter(|_| listing == Listing::Redacted) {
                let _ = writeln!(text, "    {line}");
            }
            text
        }
    }
}

/// Prints the best time of several passes, because other work on the machine can only increase the time.
fn time(redactor: &Redactor, files: &[File]) {
    let num_bytes: usize = files.iter().map(|file| file.text.len()).sum();
    let pass = || {
        let start = Instant::now();
        let num_findings: usize = files.iter().map(|file| redactor.redact(&file.text).findings.len()).sum();
        (start.elapsed().as_secs_f64(), num_findings)
    };
    let passes: Vec<(f64, usize)> = (0..REPETITIONS).map(|_| pass()).collect();
    let seconds = passes.iter().map(|(seconds, _)| *seconds).fold(f64::INFINITY, f64::min);
    println!("{:.1} MB in {seconds:.3} s: {:.0} MB/s", num_bytes as f64 / 1e6, num_bytes as f64 / 1e6 / seconds);
}
