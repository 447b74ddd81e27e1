//! What the formats of documents for people have in common: a title, sections under headings, prose with code spans.

use cairn_domain::{ChunkFacts, ChunkKind, DocumentFacts, DocumentSection};

use super::blocks::{self, Block, DEEPEST, Style};
use super::inline::{plain, shortened};
use super::mentions;
use crate::chunker::{Lines, Rows};

/// Characters of a title or heading that are kept.
const LONGEST_HEADING: usize = 160;
const LONGEST_DESCRIPTION: usize = 600;

/// What a row of a document is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RowKind {
    /// Prose, lists, tables: where code spans count.
    Prose,
    /// Code, comments, front matter, markup: neither described nor mentioned.
    Hidden,
    /// A heading or its underline.
    Heading,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Heading {
    /// Row at which the section begins.
    pub(super) row: usize,
    /// From 1.
    pub(super) level: u8,
    /// Without markup.
    pub(super) title: String,
}

impl Heading {
    /// `markup` is the heading as it stands in the text; `level` is clipped to what blocks can nest.
    pub(super) fn new(row: usize, level: usize, markup: &str) -> Self {
        let level = level.clamp(1, usize::from(DEEPEST)) as u8;
        Self { row, level, title: shortened(&plain(markup), LONGEST_HEADING) }
    }
}

/// What a scanner finds in a document.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Outline {
    pub(super) headings: Vec<Heading>,
    /// One for each row.
    pub(super) rows: Vec<RowKind>,
    /// Title and description from front matter or a head.
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
}

impl Outline {
    /// The heading that is the title of the whole document: the first, if no other is as high.
    fn title_heading(&self) -> Option<&Heading> {
        let first = self.headings.first()?;
        self.headings[1..].iter().all(|other| other.level > first.level).then_some(first)
    }

    /// Blocks of the sections. The heading that is the title encloses no other, so that it stands in no path.
    fn blocks(&self, num_rows: usize) -> Vec<Block> {
        let title = self.title_heading();
        let highest = title.map_or(1, |title| title.level + 1);
        let mut blocks: Vec<Block> = Vec::with_capacity(self.headings.len());
        let mut open: Vec<usize> = Vec::new();
        for heading in &self.headings {
            let is_title = title == Some(heading);
            let depth = if is_title { 0 } else { heading.level.saturating_sub(highest) };
            while let Some(outer) = open.pop_if(|&mut outer| blocks[outer].depth >= depth) {
                blocks[outer].rows.end = heading.row;
            }
            open.push(blocks.len());
            blocks.push(Block::new(heading.row, num_rows, depth, heading.title.clone()));
            if is_title {
                let end = self.headings.get(1).map_or(num_rows, |next| next.row);
                blocks[0].rows.end = end;
                open.clear();
            }
        }
        blocks
    }
}

pub(super) fn chunks(lines: &Lines<'_>, outline: &Outline, title: Option<&str>) -> Vec<ChunkFacts> {
    let style = Style { kind: ChunkKind::Section, separator: " > ", whole_tokens: 350, small_tokens: 60, title };
    if lines.tokens(lines.all()) <= style.whole_tokens {
        let whole = Block::new(0, lines.num_rows(), 0, title.unwrap_or_default());
        return blocks::chunks(lines, vec![whole], style, &[]);
    }
    blocks::chunks(lines, outline.blocks(lines.num_rows()), style, &[])
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

/// The first rows of prose up to a blank row, on one line, without markup. Badges, images, lists, tables and
/// directives are passed over.
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
