//! The common parts of document formats: a title, sections under headings, and prose with code spans.

use cairn_domain::{ChunkFacts, ChunkKind, DocumentFacts, DocumentSection};

use super::blocks::{self, Block, Style};
use super::inline::{plain, shortened};
use super::mentions;
use super::outline::{Outline, RowKind};
use crate::chunker::{Lines, Rows};

const LONGEST_DESCRIPTION: usize = 600;

/// The maximum number of sections that are separate chunks. Documents with more sections are mostly lists,
/// such as change logs and glossaries. Small neighbouring sections of these documents share a chunk.
const MOST_SECTIONS_APART: usize = 60;

const SECTION: Style<'static> = Style {
    kind: ChunkKind::Section,
    separator: " > ",
    whole_tokens: 350,
    small_tokens: 0,
    keeps_apart: true,
    title: None,
};

/// The chunks of a document: one for each section, even in a small document, because a section is named by
/// its heading path. A document without headings is one section.
pub(super) fn chunks(lines: &Lines<'_>, outline: &Outline, title: Option<&str>) -> Vec<ChunkFacts> {
    let mut sections = outline.blocks(lines.num_rows());
    if sections.is_empty() {
        sections.push(Block::new(0, lines.num_rows(), 0, title.unwrap_or_default()));
    }
    let apart = Style { title, ..SECTION };
    let style = match sections.len() {
        0..=MOST_SECTIONS_APART => apart,
        _ => Style { small_tokens: 60, keeps_apart: false, ..apart },
    };
    blocks::chunks(lines, sections, style, &[])
}

pub(super) fn facts(lines: &Lines<'_>, outline: &Outline) -> DocumentFacts {
    let blocks = outline.blocks(lines.num_rows());
    let mut path: Vec<&str> = Vec::new();
    let mut sections = Vec::with_capacity(blocks.len());
    let mut depths: Vec<u8> = Vec::new();
    for block in &blocks {
        while depths.pop_if(|depth| *depth >= block.depth).is_some() {
            path.pop();
        }
        depths.push(block.depth);
        path.push(&block.name);
        sections.push(DocumentSection { heading_path: path.join(" > "), span: block.rows.span() });
    }
    let title = outline.title.clone().or_else(|| Some(outline.headings.first()?.title.clone()));
    let mentions = mentions::find(lines, outline, &blocks);
    DocumentFacts {
        title: title.filter(|title| !title.is_empty()),
        description: outline.description.clone().or_else(|| first_paragraph(lines, &outline.rows)),
        sections,
        entry_points: mentions.entry_points,
        mentions: mentions.all,
    }
}

/// The first rows of prose up to a blank row, joined to one line without markup. Badges, images, lists,
/// tables and directives are skipped.
pub(super) fn first_paragraph(lines: &Lines<'_>, kinds: &[RowKind]) -> Option<String> {
    let is_prose = |row: usize| kinds[row] == RowKind::Prose && !lines.is_blank(row);
    let mut row = 0;
    while row < lines.num_rows() {
        let start = row;
        while row < lines.num_rows() && is_prose(row) {
            row += 1;
        }
        let text = lines.slice(Rows::new(start, row));
        if starts_paragraph(text) {
            let description = shortened(&plain(text.trim_start_matches(['>', ' '])), LONGEST_DESCRIPTION);
            if description.chars().any(char::is_alphabetic) {
                return Some(description);
            }
        }
        row = row.max(start + 1);
    }
    None
}

fn starts_paragraph(text: &str) -> bool {
    let text = text.trim_ascii_start();
    let is_markup = ["[![", "![", "<", "|", ".. ", ":", "- ", "* ", "+ ", "---", "===", "***", "{%", "//"];
    !text.is_empty() && !is_markup.iter().any(|marker| text.starts_with(marker))
}
