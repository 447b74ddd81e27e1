//! From the lines of a file and the symbols in it to chunks: the units that are embedded, searched and shown.
//!
//! A file is first *laid out*: its rows are cut into consecutive pieces, each a definition, the head of a class, a
//! part of a long function or loose lines between definitions ([`outline`]). Small neighbours are then *grouped*
//! ([`grouping`]), and each group gets a header and a hash. Every step walks rows, never characters of the tree, so
//! the chunker needs no grammar and costs a small fraction of parsing.
//!
//! What holds: every row of the file belongs to a chunk; chunks stand in order of their first line; only the summary
//! of a large class overlaps others; a line is never cut; equal input gives equal output. The text that is embedded
//! ([`embedded_text`]) depends on the rows of the chunk alone, so code that merely moves keeps its hash.

mod grouping;
mod header;
mod lines;
mod outline;
mod split;
mod summary;
#[cfg(test)]
mod tests;
mod text;
mod tokens;

use cairn_domain::{ChunkFacts, ChunkKind, ContentHash, Import, Symbol};

pub(crate) use lines::{Lines, Rows};
pub(crate) use split::split_rows;
pub use text::{chunk_text, embedded_text, line_starts, shown_text, without_blank_edges};
pub use tokens::estimate_tokens;

/// Part of the facts key: bump it with every change that can alter a chunk.
pub const CHUNKER_VERSION: u32 = 2;

/// Size that a chunk should not exceed, in tokens as [`estimate_tokens`] counts them.
pub const TARGET_TOKENS: u32 = 500;

/// A unit is kept whole up to here: two halves of a unit just above the target are worse than the whole.
const WHOLE_TOKENS: u32 = 650;

/// A class is kept whole up to here in a file of at most [`MEDIUM_FILE_TOKENS`], which is chunked by its top-level
/// definitions.
const WHOLE_CLASS_TOKENS: u32 = 800;
const MEDIUM_FILE_TOKENS: u32 = 2_000;

/// A definition of this size (about twelve lines) is a chunk of its own; smaller ones are grouped with neighbours.
const LONG_TOKENS: u32 = 120;

/// What is smaller than this is no chunk of its own where a neighbour can take it.
const TINY_TOKENS: u32 = 24;

/// The chunks of a source file. `symbols` and `imports` are those of the file, in order of position; spans that do
/// not fit the text are clipped or passed over. An empty text has no chunks.
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

fn group_chunk(lines: &Lines<'_>, group: &grouping::Group, headers: &mut header::Headers<'_>) -> ChunkFacts {
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

/// The chunks of a text without known structure: windows of about the target size, cut at blank lines where possible.
pub fn window_chunks(text: &str) -> Vec<ChunkFacts> {
    let lines = Lines::new(text);
    window_rows(&lines, lines.all()).into_iter().map(|rows| plain_chunk(&lines, rows, ChunkKind::Text)).collect()
}

/// Windows over some rows, none larger than about the target unless a single line is.
pub(crate) fn window_rows(lines: &Lines<'_>, rows: Rows) -> Vec<Rows> {
    if rows.is_empty() { Vec::new() } else { split_rows(lines, rows) }
}

/// A chunk that is nothing but its rows.
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
