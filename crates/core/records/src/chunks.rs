//! Converts the chunks of a file to records, and selects the fields in which they are searched.

use cairn_domain::{ChunkFacts, ChunkKey, ChunkKind, ChunkRecord, FileFacts};
use cairn_ranking::PassageFields;
use cairn_syntax::chunker::{line_starts, shown_text};

use crate::keys::chunk_keys;
use crate::placement::Placement;

const NAVIGATION_PERCENT: u16 = 150;
const LOW_PERCENT: u16 = 30;
const ORDINARY_PERCENT: u16 = 100;

/// The records of all chunks of a file, in order of position. If `text` is `None`, the texts of the records
/// are empty and `has_secrets` is false. The keys and digests are the same with and without a text.
pub fn chunk_records(placement: Placement<'_>, facts: &FileFacts, text: Option<&str>) -> Vec<ChunkRecord> {
    let shared = SharedFields::new(placement);
    let line_starts = text.map(line_starts).unwrap_or_default();
    let mut records = Vec::with_capacity(facts.chunks.len());
    for (chunk, key) in facts.chunks.iter().zip(chunk_keys(placement, facts)) {
        let text = text.map(|text| shown_text(text, &line_starts, chunk).into_owned()).unwrap_or_default();
        records.push(shared.record(facts, chunk, key, text));
    }
    records
}

/// The fields that have the same value for all chunks of a file.
struct SharedFields<'a> {
    placement: Placement<'a>,
    is_test: bool,
    module_path: String,
    weight_percent: u16,
}

impl<'a> SharedFields<'a> {
    fn new(placement: Placement<'a>) -> Self {
        let weight_percent = match (placement.entry.low_weight, placement.entry.navigation) {
            (true, _) => LOW_PERCENT,
            (false, true) => NAVIGATION_PERCENT,
            (false, false) => ORDINARY_PERCENT,
        };
        Self { placement, is_test: placement.is_test(), module_path: placement.module_path(), weight_percent }
    }

    fn record(&self, facts: &FileFacts, chunk: &ChunkFacts, key: ChunkKey, text: String) -> ChunkRecord {
        let entry = self.placement.entry;
        let symbol = chunk.symbol.and_then(|index| facts.symbols.get(index as usize));
        let is_section = chunk.kind == ChunkKind::Section;
        ChunkRecord {
            key,
            repository: self.placement.repository,
            path: entry.path.clone(),
            language: facts.language.clone(),
            kind: if entry.navigation && is_section { ChunkKind::Navigation } else { chunk.kind },
            span: chunk.span,
            symbol: symbol.map(|symbol| symbol.qualified_name.clone()),
            symbol_kind: symbol.map(|symbol| symbol.kind),
            heading: chunk.heading.clone(),
            header: header(entry.path.as_str(), &chunk.header),
            has_secrets: text.contains("[REDACTED"),
            text,
            content_hash: chunk.content_hash,
            module_path: self.module_path.clone(),
            is_test: self.is_test || chunk.is_test,
            exported: symbol.is_some_and(|symbol| symbol.exported),
            documented: symbol.is_some_and(|symbol| symbol.doc.is_some()),
            weight_percent: self.weight_percent,
            tags: entry.tags.clone(),
            changed_at: entry.changed_at,
        }
    }
}

fn header(path: &str, context: &str) -> String {
    if context.is_empty() { path.to_owned() } else { format!("{path}\n{context}") }
}

/// The fields of a chunk in which the words of a question are searched.
pub fn passage(record: &ChunkRecord) -> PassageFields<'_> {
    let symbol_path = record.symbol.as_deref().or(record.heading.as_deref()).unwrap_or_default();
    let separator = if record.symbol.is_some() { "." } else { " > " };
    PassageFields {
        name: symbol_path.rsplit(separator).next().unwrap_or_default(),
        symbol_path,
        file_path: record.path.as_str(),
        header: record.header.split_once('\n').map_or("", |(_, context)| context),
        text: &record.text,
    }
}
