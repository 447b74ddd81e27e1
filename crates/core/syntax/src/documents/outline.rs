//! The outline of a document: its headings and the kind of each row.

use super::blocks::{Block, DEEPEST};
use super::inline::{plain, shortened};

/// The maximum length of a title or heading, in characters.
const LONGEST_HEADING: usize = 160;

/// The kind of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RowKind {
    /// Prose, a list or a table. The names in its code spans are recorded as mentions.
    Prose,
    /// Code, a comment, front matter or markup. Such a row is used neither for the description nor for
    /// mentions.
    Hidden,
    /// A heading or its underline.
    Heading,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Heading {
    /// The first row of the section.
    pub(super) row: usize,
    /// The level, counted from 1.
    pub(super) level: u8,
    /// The title without markup.
    pub(super) title: String,
}

impl Heading {
    /// `markup` is the heading as the text contains it. `level` is limited to the maximum depth of blocks.
    pub(super) fn new(row: usize, level: usize, markup: &str) -> Self {
        let level = level.clamp(1, usize::from(DEEPEST)) as u8;
        Self { row, level, title: shortened(&plain(markup), LONGEST_HEADING) }
    }
}

/// The result of scanning a document.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Outline {
    pub(super) headings: Vec<Heading>,
    /// The kind of each row.
    pub(super) rows: Vec<RowKind>,
    /// The title from front matter or from the head of an HTML document.
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
}

impl Outline {
    /// The heading that is the title of the whole document. The first heading is the title if all other
    /// headings are at deeper levels.
    fn title_heading(&self) -> Option<&Heading> {
        let first = self.headings.first()?;
        self.headings[1..].iter().all(|other| other.level > first.level).then_some(first)
    }

    /// The blocks of the sections. The title heading contains no other block, so it is not part of any
    /// heading path.
    pub(super) fn blocks(&self, num_rows: usize) -> Vec<Block> {
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
