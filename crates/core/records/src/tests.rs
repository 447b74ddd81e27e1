use std::sync::Arc;

use cairn_domain::{
    BlobId, ChunkKind, ChunkRecord, EntryKind, FactsKey, FileFacts, Key128, LineSpan, ManifestEntry, Outcome, RepoPath,
    RepositoryId, RepositoryName, SymbolEntry, Tenant,
};
use cairn_syntax::{ParseLimits, parse_file};

use crate::{Placement, chunk_records, symbol_names};

fn entry(text: &str) -> ManifestEntry {
    ManifestEntry {
        path: RepoPath::parse("app/store.py").expect("a path"),
        kind: EntryKind::File,
        blob: BlobId([1; 20]),
        size_bytes: text.len() as u64,
        outcome: Outcome::Indexed(None),
        language: Some("python".to_owned()),
        facts_key: None,
        source: None,
        num_secrets: 0,
        num_lines: text.lines().count() as u32,
        low_weight: false,
        navigation: false,
        tags: Arc::default(),
        changed_at: None,
        module: None,
    }
}

fn placement(entry: &ManifestEntry) -> Placement<'_> {
    Placement { repository: RepositoryId::derive(&Tenant::local(), &RepositoryName::new("records")), entry }
}

fn facts_of(text: &str) -> FileFacts {
    parse_file("python", FactsKey(Key128([0; 16])), text, &ParseLimits::default())
}

/// The records of the Python file `app/store.py` with this text.
fn records_of(text: &str) -> (Vec<ChunkRecord>, Vec<SymbolEntry>) {
    let (entry, facts) = (entry(text), facts_of(text));
    (chunk_records(placement(&entry), &facts, Some(text)), symbol_names(placement(&entry), &facts))
}

fn statements(num_lines: usize, indent: &str) -> String {
    (0..num_lines).map(|line| format!("{indent}total = total + measure(first_{line}, second_{line})\n")).collect()
}

/// A file with a long function that is split into several chunks, a class with long and short methods, and
/// three equal functions.
fn mixed_file() -> String {
    let mut text = format!("def long_one(total):\n{}\n\n", statements(120, "    "));
    text += "class Store:\n    \"\"\"Keeps totals.\"\"\"\n\n";
    for name in ["open", "close", "read"] {
        text += &format!("    def {name}(self, total):\n{}\n", statements(30, "        "));
    }
    text += "    def size(self):\n        return 1\n\n\n";
    for _ in 0..3 {
        text += &format!("def same(total):\n{}\n\n", statements(25, "    "));
    }
    text
}

fn by_name<'a>(symbols: &'a [SymbolEntry], name: &str) -> &'a SymbolEntry {
    symbols.iter().find(|symbol| symbol.qualified_name == name).expect("a symbol of that name")
}

fn chunk_of<'a>(chunks: &'a [ChunkRecord], symbol: &SymbolEntry) -> &'a ChunkRecord {
    chunks.iter().find(|chunk| Some(chunk.key) == symbol.chunk).expect("the chunk of the symbol")
}

#[test]
fn symbol_refers_to_its_smallest_chunk() {
    let (chunks, symbols) = records_of(&mixed_file());
    assert!(symbols.len() >= 8 && chunks.len() >= 8, "{} symbols, {} chunks", symbols.len(), chunks.len());
    for symbol in &symbols {
        let containing = chunks.iter().filter(|chunk| chunk.span.contains(symbol.line));
        let smallest = containing.map(|chunk| chunk.span.num_lines()).min().expect("a chunk");
        let named = chunk_of(&chunks, symbol);
        assert!(named.span.contains(symbol.line) && named.span.num_lines() == smallest, "{symbol:?}");
    }
}

#[test]
fn split_symbol_refers_to_the_chunk_with_its_name() {
    let (chunks, symbols) = records_of(&mixed_file());
    let long_one = by_name(&symbols, "long_one");
    let parts = chunks.iter().filter(|chunk| chunk.symbol.as_deref() == Some("long_one")).count();
    let named = chunk_of(&chunks, long_one);
    assert!(parts > 1 && named.span.start == 1 && named.span.end < long_one.span.end, "{parts} parts, {named:?}");
    assert_eq!(long_one.span, LineSpan::new(1, 121));
}

#[test]
fn equal_definitions_have_separate_chunks() {
    let (chunks, symbols) = records_of(&mixed_file());
    let same: Vec<&SymbolEntry> = symbols.iter().filter(|symbol| symbol.name == "same").collect();
    // The chunk of the first function named `same` also contains the end of the class.
    let [_, second, third] = same[..] else { panic!("{same:?}") };
    let (second, third) = (chunk_of(&chunks, second), chunk_of(&chunks, third));
    assert_eq!(second.content_hash, third.content_hash);
    assert!(second.key != third.key && second.span.end < third.span.start, "{second:?} {third:?}");
}

#[test]
fn large_class_refers_to_its_head_chunk() {
    let mut text = format!("class Store:\n    \"\"\"Keeps totals.\"\"\"\n\n{}\n", statements(20, "    "));
    for number in 0..60 {
        text += &format!("    def method_{number}(self, total):\n{}\n", statements(15, "        "));
    }
    let (chunks, symbols) = records_of(&text);
    assert!(chunks.iter().any(|chunk| chunk.kind == ChunkKind::Summary));
    let store = by_name(&symbols, "Store");
    let named = chunk_of(&chunks, store);
    assert!(named.kind == ChunkKind::Class && named.span.num_lines() < store.span.num_lines(), "{named:?}");
}

#[test]
fn symbol_without_chunks_refers_to_none() {
    let text = "def alone():\n    return 1\n";
    assert!(records_of(text).1[0].chunk.is_some());
    let mut facts = facts_of(text);
    facts.chunks.clear();
    let entry = entry(text);
    assert_eq!(symbol_names(placement(&entry), &facts)[0].chunk, None);
}
