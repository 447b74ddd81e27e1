//! Counts the records that the content of a file produces.

use cairn_domain::FileFacts;

/// This number of references counts as one record, because a reference takes less memory than a symbol.
const REFERENCES_PER_RECORD: usize = 4;

/// The number of records that the content of a file produces at one path. The number includes the file, its
/// chunks, its symbols, and a share of its references.
pub fn num_records(facts: &FileFacts) -> u64 {
    let num_references = facts.references.len() + facts.imports.len() + facts.bindings.len();
    (1 + facts.chunks.len() + facts.symbols.len() + num_references / REFERENCES_PER_RECORD) as u64
}
