//! Divides a file into chunks, based on its lines and symbols. Chunks are the units that are embedded,
//! searched and shown.
//!
//! First the file is *laid out*: its rows are divided into consecutive pieces. A piece is a definition, the
//! head of a class, a part of a long function, or loose lines between definitions ([`outline`]). Then small
//! neighbouring pieces are *grouped* ([`grouping`]). Each group gets a header and a hash. No step reads the
//! syntax tree; every step reads only rows and symbols. Therefore the chunker needs no grammar, and takes
//! only a small fraction of the time that parsing takes.
//!
//! Invariants:
//!
//! - Every row of the file belongs to a chunk.
//! - Chunks are in order of their first line.
//! - Chunks do not overlap, except that the summary of a large class overlaps other chunks.
//! - A line is never divided.
//! - The output depends only on the input.
//! - The embedded text ([`embedded_text`]) depends only on the rows of the chunk, so moving the code does not
//!   change the hash.

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

/// This number is part of the facts key. Increase it with every code change that can affect a chunk.
pub const CHUNKER_VERSION: u32 = 3;

/// Returns the chunks of a source file. `symbols` and `imports` are those of the file, in order of position.
/// If the span of a symbol exceeds the text, the span is clipped or the symbol is ignored. An empty text has
/// no chunks.
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

/// Returns the chunks of a text without known structure. The chunks are windows of about the target size, and
/// end at blank lines if possible.
pub fn window_chunks(text: &str) -> Vec<ChunkFacts> {
    let lines = Lines::new(text);
    window_rows(&lines, lines.all()).into_iter().map(|rows| plain_chunk(&lines, rows, ChunkKind::Text)).collect()
}

/// Divides rows into windows. A window exceeds the target size only if a single line exceeds the target size.
pub(crate) fn window_rows(lines: &Lines<'_>, rows: Rows) -> Vec<Rows> {
    if rows.is_empty() { Vec::new() } else { split_rows(lines, rows) }
}

/// A chunk that has rows, but no symbol and no heading.
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
