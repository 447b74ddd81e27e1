//! Converts the symbols of a file to entries of the name index.

use std::cmp::Reverse;

use cairn_domain::{ChunkFacts, ChunkKey, FileFacts, NodeKey, Symbol, SymbolEntry};

use crate::keys::chunk_keys;
use crate::placement::Placement;

/// The entries of a file in the name index.
pub fn symbol_names(placement: Placement<'_>, facts: &FileFacts) -> Vec<SymbolEntry> {
    let (is_test, module_path) = (placement.is_test(), placement.module_path());
    let nodes = NodeKey::symbols_of(placement.repository, &placement.entry.path, &facts.symbols);
    let chunk_keys = chunk_keys(placement, facts);
    let chunk_of_line = smallest_chunks(&facts.chunks, facts.num_lines);
    let chunk_at = |line: u32| -> Option<ChunkKey> {
        let chunk = chunk_of_line.get(line as usize).copied().flatten()?;
        chunk_keys.get(chunk).copied()
    };
    let entry = |(symbol, node): (&Symbol, NodeKey)| SymbolEntry {
        name: symbol.name.clone(),
        qualified_name: symbol.qualified_name.clone(),
        kind: symbol.kind,
        path: placement.entry.path.clone(),
        line: symbol.name_line,
        span: symbol.span,
        chunk: chunk_at(symbol.name_line),
        node,
        language: facts.language.clone(),
        module_path: module_path.clone(),
        exported: symbol.exported,
        documented: symbol.doc.is_some(),
        is_test: is_test || symbol.is_test,
    };
    facts.symbols.iter().zip(nodes).map(entry).collect()
}

/// For each line, the index of the smallest chunk that contains the line. Element 0 is unused. Among chunks
/// of equal size, a chunk that consists of lines of the file is preferred to a synthetic chunk. Any remaining
/// tie is broken in favour of the first chunk.
fn smallest_chunks(chunks: &[ChunkFacts], num_lines: u32) -> Vec<Option<usize>> {
    let mut chunk_of_line = vec![None; num_lines as usize + 1];
    let mut largest_first: Vec<(usize, &ChunkFacts)> = chunks.iter().enumerate().collect();
    largest_first.sort_by_key(|(index, chunk)| {
        let size = chunk.span.end.saturating_sub(chunk.span.start);
        (Reverse(size), chunk.synthetic_text.is_none(), Reverse(*index))
    });
    for (index, chunk) in largest_first {
        // The chunks are sorted from large to small, so a smaller chunk overwrites a larger one.
        for line in chunk.span.start..=chunk.span.end.min(num_lines) {
            chunk_of_line[line as usize] = Some(index);
        }
    }
    chunk_of_line
}
