//! The number of records of a content.

use cairn_domain::FileFacts;

/// References that count as one record. A reference takes less memory than a symbol.
const REFERENCES_PER_RECORD: usize = 4;

/// The records of a content at one path: the file, its chunks, its symbols, and a share of its references.
pub fn num_records(facts: &FileFacts) -> u64 {
    let num_references = facts.references.len() + facts.imports.len() + facts.bindings.len();
    (1 + facts.chunks.len() + facts.symbols.len() + num_references / REFERENCES_PER_RECORD) as u64
}
