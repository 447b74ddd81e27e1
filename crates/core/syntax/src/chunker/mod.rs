//! Cuts a file into chunks, the units that are embedded, searched and shown, by its lines and symbols.
//!
//! First the file is *laid out*: its rows are cut into consecutive pieces. A piece is a definition, the head
//! of a class, a part of a long function, or loose lines between definitions ([`outline`]). Then small
//! neighbours are *grouped* ([`grouping`]), and each group gets a header and a hash. Every step walks rows,
//! not nodes of the tree, so the chunker needs no grammar and costs a small fraction of parsing.
//!
//! Invariants: every row of the file belongs to a chunk; chunks are in order of their first line; only the
//! summary of a large class overlaps other chunks; a line is never cut; equal input gives equal output. The
//! embedded text ([`embedded_text`]) depends on the rows of the chunk alone, so moved code keeps its hash.

mod group;
mod grouping;
mod header;
mod lines;
mod outline;
mod sizes;
mod split;
mod summary;
#[cfg(test)]
mod tests;
mod text;
mod tokens;

use cairn_domain::{ChunkFacts, ChunkKind, ContentHash, Import, Symbol};

pub(crate) use lines::{Lines, Rows};
pub use sizes::TARGET_TOKENS;
pub(crate) use split::split_rows;
pub use text::{chunk_text, embedded_text, line_starts, shown_text, without_blank_edges};
pub use tokens::estimate_tokens;

/// Part of the facts key. Raise it with every change that can alter a chunk.
pub const CHUNKER_VERSION: u32 = 2;

/// The chunks of a source file. `symbols` and `imports` belong to the file and are in order of position.
/// Spans that do not fit the text are clipped or ignored. An empty text has no chunks.
pub fn chunk_file(text: &str, symbols: &[Symbol], imports: &[Import]) -> Vec<ChunkFacts> {
    let lines = Lines::new(text);
    let all = lines.all();
    if all.is_empty() {
        return Vec::new();
    }
    let groups = if lines.tokens(all) <= TARGET_TOKENS {
        vec![outline::whole_file(&lines, symbols)]
    } else {
        grouping::group(&lines, symbols, outline::lay_out(&lines, symbols))
    };
    let mut headers = header::Headers::new(&lines, symbols, imports);
    let mut chunks = summary::summaries(&lines, symbols);
    chunks.extend(groups.iter().map(|group| group_chunk(&lines, group, &mut headers)));
    chunks.sort_by_key(|chunk| (chunk.span.start, chunk.kind != ChunkKind::Summary));
    chunks
}

fn group_chunk(lines: &Lines<'_>, group: &group::Group, headers: &mut header::Headers<'_>) -> ChunkFacts {
    ChunkFacts {
        kind: group.kind,
        span: group.rows.span(),
        symbol: group.symbol,
        heading: None,
        header: headers.of(group),
        synthetic_text: None,
        content_hash: ContentHash::of(text::without_blank_edges(lines.slice(group.rows))),
        part: group.part,
        is_test: group.is_test,
    }
}

/// The chunks of a text without known structure: windows of about the target size, cut at blank lines if
/// possible.
pub fn window_chunks(text: &str) -> Vec<ChunkFacts> {
    let lines = Lines::new(text);
    window_rows(&lines, lines.all()).into_iter().map(|rows| plain_chunk(&lines, rows, ChunkKind::Text)).collect()
}

/// Windows over some rows. A window exceeds the target only if a single line does.
pub(crate) fn window_rows(lines: &Lines<'_>, rows: Rows) -> Vec<Rows> {
    if rows.is_empty() { Vec::new() } else { split_rows(lines, rows) }
}

/// A chunk with rows only.
pub(crate) fn plain_chunk(lines: &Lines<'_>, rows: Rows, kind: ChunkKind) -> ChunkFacts {
    ChunkFacts {
        kind,
        span: rows.span(),
        symbol: None,
        heading: None,
        header: String::new(),
        synthetic_text: None,
        content_hash: ContentHash::of(text::without_blank_edges(lines.slice(rows))),
        part: None,
        is_test: false,
    }
}
