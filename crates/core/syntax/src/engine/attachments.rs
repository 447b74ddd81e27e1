//! Doc comments and decorators: which belong to a definition, and what they say.

use std::cell::{Cell, RefCell};

use cairn_domain::LineSpan;

use super::collect::{Place, RawAttachment};
use super::guard::LineIndex;
use super::names::fold;
use cairn_languages::LanguageRow;

/// Longest doc comment and decorator that facts keep, in characters.
const MAX_DOC_CHARS: usize = 4_000;
const MAX_DECORATOR_CHARS: usize = 300;
/// Bytes that the attachments of a file may say in all, beside eight times its size.
const LEAST_SAID: usize = 64 * 1024;

/// The attachments of a file, in order of position. What was found for the last definition is kept, since the names of
/// one declaration share all that precedes it.
pub(super) struct Attachments<'t> {
    text: &'t str,
    lines: &'t LineIndex,
    sorted: Vec<RawAttachment>,
    /// Where a definition starts, its first attachment, and where that starts.
    last_first: Cell<Option<(u32, usize, u32)>>,
    /// A start, and the position behind what stands right there.
    last_skipped: Cell<Option<(u32, u32)>>,
    last_said: RefCell<Option<(Preamble, Said)>>,
    /// Bytes that may still be said: thousands of names of one declaration would repeat it all.
    left: Cell<usize>,
}

/// What attachments say of a definition.
#[derive(Clone, Default)]
pub(super) struct Said {
    /// The doc comment, if there is one in the style of the language.
    pub(super) doc: Option<String>,
    pub(super) decorators: Vec<String>,
}

/// What precedes a definition.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Preamble {
    /// Where the first attachment starts, or the definition itself.
    pub(super) start: u32,
    /// Indices of the first attachment and of the one after the last before the name.
    first: usize,
    end: usize,
}

impl<'t> Attachments<'t> {
    pub(super) fn new(text: &'t str, lines: &'t LineIndex, raw: &[RawAttachment]) -> Self {
        let mut sorted: Vec<RawAttachment> = raw.to_vec();
        sorted.sort_unstable_by_key(|attachment| (attachment.place.start, u32::MAX - attachment.place.end));
        // What stands inside another attachment belongs to it (`@A(@B)`).
        let mut reached = 0;
        sorted.retain(|attachment| {
            let outside = attachment.place.start >= reached;
            reached = reached.max(attachment.place.end);
            outside
        });
        let (last_first, last_skipped, last_said) = Default::default();
        let left = Cell::new(LEAST_SAID + 8 * text.len());
        Self { text, lines, sorted, last_first, last_skipped, last_said, left }
    }

    /// What belongs to a definition that starts at `start` and whose name starts at `name_start`: decorators right before
    /// it, comments that end on the line above, and both within it before the name.
    pub(super) fn preamble(&self, start: u32, name_start: u32) -> Preamble {
        let end = self.sorted.partition_point(|attachment| attachment.place.start < name_start.max(start));
        let (first, start) = match self.last_first.get() {
            Some((last, first, reached)) if last == start => (first, reached),
            _ => self.first_attached(start),
        };
        Preamble { start, first, end }
    }

    /// The first attachment of what starts at `start`, and where it starts.
    fn first_attached(&self, start: u32) -> (usize, u32) {
        let mut first = self.sorted.partition_point(|attachment| attachment.place.start < start);
        let mut reached = start;
        while first > 0 && self.is_attached(self.sorted[first - 1], reached) {
            first -= 1;
            reached = self.sorted[first].place.start;
        }
        self.last_first.set(Some((start, first, reached)));
        (first, reached)
    }

    fn is_attached(&self, attachment: RawAttachment, to: u32) -> bool {
        let Place { start, end } = attachment.place;
        let gap = Place { start: end, end: to }.text(self.text);
        if end > to || !gap.bytes().all(|byte| byte.is_ascii_whitespace()) {
            return false;
        }
        attachment.is_decorator || attachment.doc.is_some() || {
            let adjacent = self.lines.line_of(to) <= self.lines.last_line(start, end) + 1;
            let line_start = self.lines.start_of(self.lines.line_of(start));
            let before = Place { start: line_start, end: start }.text(self.text);
            adjacent && before.bytes().all(|byte| byte.is_ascii_whitespace())
        }
    }

    /// The position after the attachments that start right at `start`, for signatures.
    pub(super) fn skip_leading(&self, from: u32) -> u32 {
        if let Some((_, skipped)) = self.last_skipped.get().filter(|(last, _)| *last == from) {
            return skipped;
        }
        let mut start = from;
        let mut index = self.sorted.partition_point(|attachment| attachment.place.start < start);
        while let Some(attachment) = self.sorted.get(index).filter(|attachment| attachment.place.start == start) {
            let rest = self.text.get(attachment.place.end as usize..).unwrap_or_default();
            start = (self.text.len() - rest.trim_start().len()) as u32;
            index += 1;
        }
        self.last_skipped.set(Some((from, start)));
        start
    }

    /// Where the comments start that stand right before `end`, behind `start`; `end` itself if none does.
    pub(super) fn before_comments(&self, start: u32, mut end: u32) -> u32 {
        let before = self.sorted.partition_point(|attachment| attachment.place.start < end);
        for attachment in self.sorted[..before].iter().rev() {
            let gap = Place { start: attachment.place.end, end }.text(self.text);
            let is_adjacent = attachment.place.end <= end && gap.bytes().all(|byte| byte.is_ascii_whitespace());
            if attachment.is_decorator || attachment.place.start <= start || !is_adjacent {
                break;
            }
            end = attachment.place.start;
        }
        end
    }

    /// End of the last attachment between two positions, or the first position.
    pub(super) fn last_end_between(&self, start: u32, end: u32) -> u32 {
        let index = self.sorted.partition_point(|attachment| attachment.place.start < end);
        index.checked_sub(1).map_or(start, |index| self.sorted[index].place.end.clamp(start, end))
    }

    pub(super) fn said(&self, row: &LanguageRow, preamble: Preamble) -> Said {
        if preamble.first == preamble.end {
            return Said::default();
        }
        let mut last = self.last_said.borrow_mut();
        if last.as_ref().is_none_or(|(of, _)| *of != preamble) {
            *last = Some((preamble, Said { doc: self.doc(row, preamble), decorators: self.decorators(preamble) }));
        }
        let said = last.as_ref().map(|(_, said)| said).filter(|said| self.may_say(said));
        said.cloned().unwrap_or_default()
    }

    fn may_say(&self, said: &Said) -> bool {
        let decorators = said.decorators.iter().map(|decorator| decorator.len() + size_of::<String>());
        let size = said.doc.as_ref().map_or(0, String::len) + decorators.sum::<usize>();
        let left = self.left.get().checked_sub(size);
        self.left.set(left.unwrap_or_default());
        left.is_some()
    }

    fn decorators(&self, preamble: Preamble) -> Vec<String> {
        let attached = &self.sorted[preamble.first..preamble.end];
        let decorators = attached.iter().filter(|attachment| attachment.is_decorator);
        decorators.map(|decorator| decorator_text(decorator.place.text(self.text))).collect()
    }

    fn doc(&self, row: &LanguageRow, preamble: Preamble) -> Option<String> {
        let mut doc = String::new();
        for attachment in &self.sorted[preamble.first..preamble.end] {
            match attachment.doc.and_then(|place| docstring(place.text(self.text))) {
                Some(text) => push_line(&mut doc, &text),
                None if attachment.is_decorator => {}
                None => add_comment(row, attachment.place.text(self.text), &mut doc),
            }
        }
        finish_doc(&doc)
    }

    pub(super) fn span(&self, start: u32, end: u32) -> LineSpan {
        LineSpan::new(self.lines.line_of(start), self.lines.last_line(start, end))
    }
}

/// Without the marker of the language.
fn decorator_text(text: &str) -> String {
    let text = text.trim();
    let inner = text.strip_prefix("#![").or_else(|| text.strip_prefix("#[")).or_else(|| text.strip_prefix('['));
    let text = match inner {
        Some(inner) => inner.strip_suffix(']').unwrap_or(inner),
        None => text.strip_prefix('@').unwrap_or(text),
    };
    fold(text, MAX_DECORATOR_CHARS)
}

fn add_comment(row: &LanguageRow, comment: &str, doc: &mut String) {
    let comment = comment.trim();
    if let Some(body) = row.doc.block_prefixes.iter().find_map(|prefix| comment.strip_prefix(prefix)) {
        let body = ["*/", "-}", "]]", "=end"].iter().find_map(|end| body.strip_suffix(end)).unwrap_or(body);
        for line in body.lines() {
            let line = line.trim();
            push_line(doc, line.strip_prefix('*').unwrap_or(line).trim_start());
        }
    } else if row.doc.line_prefixes.iter().any(|prefix| comment.starts_with(prefix)) {
        // One node may hold several lines.
        for line in comment.lines() {
            let line = line.trim();
            let prefix = row.doc.line_prefixes.iter().find(|prefix| line.starts_with(**prefix));
            let line = &line[prefix.map_or(0, |prefix| prefix.len())..];
            push_line(doc, line.strip_prefix(' ').unwrap_or(line));
        }
    }
}

fn push_line(doc: &mut String, line: &str) {
    doc.push_str(line.trim_end());
    doc.push('\n');
}

/// Text of a docstring: without quotes, its common indentation removed.
pub(super) fn docstring(text: &str) -> Option<String> {
    let text = text.trim_start_matches(|first: char| first.is_ascii_alphabetic() && text.contains(['"', '\'']));
    let text = ["\"\"\"", "'''", "\"", "'"]
        .iter()
        .find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote))
        .unwrap_or(text);
    let indentation = text.lines().skip(1).filter(|line| !line.trim().is_empty());
    let common = indentation.map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
    let mut doc = String::with_capacity(text.len());
    for (index, line) in text.lines().enumerate() {
        let line = if index == 0 { line.trim_start() } else { line.get(common..).unwrap_or(line.trim_start()) };
        push_line(&mut doc, line);
    }
    finish_doc(&doc)
}

fn finish_doc(doc: &str) -> Option<String> {
    let doc = doc.trim_matches(['\n', '\r']).trim_end();
    let cut = doc.char_indices().nth(MAX_DOC_CHARS).map_or(doc.len(), |(at, _)| at);
    (!doc.trim().is_empty()).then(|| doc[..cut].to_owned())
}
