//! Compares the facts of `test_data/<language>/NAME.ext` with the golden file `NAME.ext.snap`.
//!
//! `INSTA_UPDATE=always cargo test -p cairn-syntax --test golden` writes the golden files again. Check each
//! change: everything in a golden file must be correct.

mod render;

use std::fs;
use std::path::{Path, PathBuf};

use cairn_domain::{FactsKey, FileFacts, Key128, ParseStatus, RepoPath};
use cairn_syntax::{LanguageClass, ParseLimits, language_of, languages, parse_file};

fn test_data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("test_data")
}

/// The input files of one language, sorted. Snapshots are left out.
fn inputs(language: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(test_data().join(language)) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension != "snap" && extension != "new"));
    paths.sort();
    paths
}

fn facts_of(language: &str, text: &str) -> FileFacts {
    parse_file(language, FactsKey(Key128([0; 16])), text, &ParseLimits::default())
}

/// Checks the invariants that facts have in every language.
fn check_invariants(name: &str, text: &str, facts: &FileFacts) {
    let num_lines = text.lines().count() as u32;
    assert_eq!(facts.num_lines, num_lines, "{name}");
    for (index, symbol) in facts.symbols.iter().enumerate() {
        assert!(symbol.parent.is_none_or(|parent| (parent as usize) < index), "{name}: parent of {}", symbol.name);
        assert!(
            1 <= symbol.span.start && symbol.span.start <= symbol.span.end && symbol.span.end <= num_lines,
            "{name}: {symbol:?}"
        );
        assert!(symbol.span.contains(symbol.name_line), "{name}: {symbol:?}");
        assert!(symbol.signature.chars().count() <= 300 && !symbol.signature.contains('\n'), "{name}: {symbol:?}");
        assert!(symbol.qualified_name.ends_with(&symbol.name), "{name}: {symbol:?}");
    }
    assert!(facts.symbols.is_sorted_by_key(|symbol| symbol.span.start), "{name}: symbols in order of position");
    assert!(facts.references.is_sorted_by_key(|reference| reference.line), "{name}: references in order of position");
    for reference in &facts.references {
        assert!(reference.enclosing.is_none_or(|symbol| (symbol as usize) < facts.symbols.len()), "{name}");
        let line = text.lines().nth(reference.line as usize - 1).unwrap_or_default();
        // `Self` is recorded as the name of its type, and `super(…)` as the name of the constructor.
        let is_other_word = reference.name.starts_with(char::is_uppercase) || reference.name == "constructor";
        assert!(line.contains(&reference.name) || is_other_word, "{name}: {reference:?} is not on its line: {line}");
    }
}

#[test]
fn golden_files_equal_the_facts() {
    for row in languages() {
        for path in inputs(row.name) {
            let text = fs::read_to_string(&path).expect("readable");
            let name = path.file_name().and_then(|name| name.to_str()).expect("plain name").to_owned();
            let detected = language_of(&RepoPath::parse(&name).expect("valid"), text.as_bytes());
            assert_eq!(detected.map(|row| row.name), Some(row.name), "{name}");
            let facts = facts_of(row.name, &text);
            assert_eq!(facts.status, ParseStatus::Parsed, "{}", path.display());
            check_invariants(&name, &text, &facts);
            let mut settings = insta::Settings::clone_current();
            settings.set_snapshot_path(path.parent().expect("in a folder"));
            settings.set_prepend_module_to_snapshot(false);
            settings.set_omit_expression(true);
            settings.bind(|| insta::assert_snapshot!(name, render::facts(&facts)));
        }
    }
}

#[test]
fn every_language_has_golden_files() {
    for row in languages().iter().filter(|row| row.grammar.is_some() && row.class == LanguageClass::Code) {
        let paths = inputs(row.name);
        assert!(paths.len() >= 3, "{}: {} golden files", row.name, paths.len());
        let lines = |path: &PathBuf| fs::read_to_string(path).expect("readable").lines().count();
        let num_lines: usize = paths.iter().map(lines).sum();
        assert!(num_lines >= 200, "{}: {num_lines} lines of golden files", row.name);
    }
}
