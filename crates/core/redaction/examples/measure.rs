//! What redaction does to real trees: `cargo run --release --example measure -- [--show] DIR…` prints the share of
//! lines and of 40-line windows that change, each finding with its line if asked, and the speed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use cairn_redaction::{Redactor, SecretsIgnore};

/// About a chunk.
const WINDOW: usize = 40;
const REPETITIONS: usize = 7;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let show = arguments.iter().any(|argument| argument == "--show");
    let mut files = Vec::new();
    for root in arguments.iter().filter(|argument| !argument.starts_with("--")) {
        collect(Path::new(root), &mut files);
    }
    files.sort();
    let texts: Vec<(PathBuf, String)> =
        files.into_iter().filter_map(|path| Some((path.clone(), read(&path)?))).collect();
    let redactor = Redactor::new(&SecretsIgnore::default()).expect("no patterns");
    report(&redactor, &texts, show);
    time(&redactor, &texts);
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    let Ok(kind) = path.symlink_metadata() else { return };
    if kind.is_file() && kind.len() <= 1 << 20 {
        files.push(path.to_owned());
    }
    if kind.is_dir() && path.file_name().is_none_or(|name| name != ".git") {
        for entry in path.read_dir().into_iter().flatten().flatten() {
            collect(&entry.path(), files);
        }
    }
}

fn read(path: &Path) -> Option<String> {
    let bytes = std::fs::read(path).ok()?;
    if bytes.contains(&0) { None } else { String::from_utf8(bytes).ok() }
}

fn report(redactor: &Redactor, texts: &[(PathBuf, String)], show: bool) {
    let (mut num_lines, mut num_windows, mut num_changed, mut num_findings) = (0, 0, 0, 0);
    let mut by_rule: BTreeMap<String, usize> = BTreeMap::new();
    for (path, text) in texts {
        let redacted = redactor.redact(text);
        let before: Vec<&str> = text.lines().collect();
        let after: Vec<&str> = redacted.text.lines().collect();
        num_lines += before.len();
        num_windows += before.len().div_ceil(WINDOW);
        num_changed +=
            before.chunks(WINDOW).zip(after.chunks(WINDOW)).filter(|(before, after)| before != after).count();
        num_findings += redacted.findings.len();
        for finding in &redacted.findings {
            *by_rule.entry(finding.rule.clone()).or_default() += 1;
            if show {
                let line = before[finding.line as usize - 1].trim();
                let line: String = line.chars().take(180).collect();
                println!("{}:{} {} | {line}", path.display(), finding.line, finding.rule);
            }
        }
    }
    println!(
        "{} files, {num_lines} lines, {num_findings} findings, {:.3} per 1,000 lines",
        texts.len(),
        num_findings as f64 * 1000.0 / num_lines as f64
    );
    println!(
        "{num_changed} of {num_windows} windows of {WINDOW} lines changed: {:.3} %",
        num_changed as f64 * 100.0 / num_windows as f64
    );
    println!("{by_rule:?}");
}

/// The best of several passes: other work on the machine only ever adds to the time.
fn time(redactor: &Redactor, texts: &[(PathBuf, String)]) {
    let num_bytes: usize = texts.iter().map(|(_, text)| text.len()).sum();
    let pass = || {
        let start = Instant::now();
        let num_findings: usize = texts.iter().map(|(_, text)| redactor.redact(text).findings.len()).sum();
        (start.elapsed().as_secs_f64(), num_findings)
    };
    let passes: Vec<(f64, usize)> = (0..REPETITIONS).map(|_| pass()).collect();
    let seconds = passes.iter().map(|(seconds, _)| *seconds).fold(f64::INFINITY, f64::min);
    println!("{:.1} MB in {seconds:.3} s: {:.0} MB/s", num_bytes as f64 / 1e6, num_bytes as f64 / 1e6 / seconds);
}
