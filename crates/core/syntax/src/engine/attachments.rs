//! Assigns doc comments and decorators to definitions, and reads their texts.

use std::cell::{Cell, RefCell};

use cairn_domain::LineSpan;
use cairn_languages::LanguageRow;

use super::collect::{ByteRange, RawAttachment};
use super::guard::LineIndex;
use super::names::fold;

/// The maximum length of a doc comment in facts, in characters.
const MAX_DOC_CHARS: usize = 4_000;
const MAX_DECORATOR_CHARS: usize = 300;
/// The maximum total size of a file's attachment texts is this number of bytes plus eight times the size of
/// the file.
const MIN_TEXT_BYTES: usize = 64 * 1024;

/// The attachments of a file, in order of position. The result for the last definition is cached, because all
/// names of one declaration have the same attachments before them.
pub(super) struct Attachments<'t> {
    text: &'t str,
    lines: &'t LineIndex,
    sorted: Vec<RawAttachment>,
    /// For the last definition: its start, the index of its first attachment, and the start of this
    /// attachment.
    last_first: Cell<Option<(u32, usize, u32)>>,
    /// For the last call of `skip_leading`: its argument, and its result.
    last_skipped: Cell<Option<(u32, u32)>>,
    last_said: RefCell<Option<(Preamble, AttachedText)>>,
    /// The remaining bytes for texts. Without this limit, a declaration with thousands of names would repeat
    /// all texts for each name.
    left: Cell<usize>,
}

/// The texts that are attached to a definition.
#[derive(Clone, Default)]
pub(super) struct AttachedText {
    /// The doc comment, if a comment matches the doc style of the language.
    pub(super) doc: Option<String>,
    pub(super) decorators: Vec<String>,
}

/// The attachments before a definition.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Preamble {
    /// The start of the first attachment. If no attachment exists, the start of the definition itself.
    pub(super) start: u32,
    /// `first` is the index of the first attachment. `end` is the index after the last attachment before the
    /// name.
    first: usize,
    end: usize,
}

impl<'t> Attachments<'t> {
    pub(super) fn new(text: &'t str, lines: &'t LineIndex, raw: &[RawAttachment]) -> Self {
        let mut sorted: Vec<RawAttachment> = raw.to_vec();
        sorted.sort_unstable_by_key(|attachment| (attachment.range.start, u32::MAX - attachment.range.end));
        // An attachment inside another attachment is part of the outer attachment (`@A(@B)`).
        let mut reached = 0;
        sorted.retain(|attachment| {
            let outside = attachment.range.start >= reached;
            reached = reached.max(attachment.range.end);
            outside
        });
        let (last_first, last_skipped, last_said) = Default::default();
        let left = Cell::new(MIN_TEXT_BYTES + 8 * text.len());
        Self { text, lines, sorted, last_first, last_skipped, last_said, left }
    }

    /// The attachments of a definition that starts at `start` and whose name starts at `name_start`. The
    /// attachments are decorators directly before the definition, comments that end on the line above the
    /// definition, and decorators and comments inside the definition before the name.
    pub(super) fn preamble(&self, start: u32, name_start: u32) -> Preamble {
        let end = self.sorted.partition_point(|attachment| attachment.range.start < name_start.max(start));
        let (first, start) = match self.last_first.get() {
            Some((last, first, reached)) if last == start => (first, reached),
            _ => self.first_attached(start),
        };
        Preamble { start, first, end }
    }

    /// The index of the first attachment of the definition at `start`, and the start of this attachment.
    fn first_attached(&self, start: u32) -> (usize, u32) {
        let mut first = self.sorted.partition_point(|attachment| attachment.range.start < start);
        let mut reached = start;
        while first > 0 && self.is_attached(self.sorted[first - 1], reached) {
            first -= 1;
            reached = self.sorted[first].range.start;
        }
        self.last_first.set(Some((start, first, reached)));
        (first, reached)
    }

    fn is_attached(&self, attachment: RawAttachment, to: u32) -> bool {
        let ByteRange { start, end } = attachment.range;
        let gap = ByteRange { start: end, end: to }.text(self.text);
        if end > to || !gap.bytes().all(|byte| byte.is_ascii_whitespace()) {
            return false;
        }
        attachment.is_decorator || attachment.doc.is_some() || {
            let adjacent = self.lines.line_of(to) <= self.lines.last_line(start, end) + 1;
            let line_start = self.lines.start_of(self.lines.line_of(start));
            let before = ByteRange { start: line_start, end: start }.text(self.text);
            adjacent && before.bytes().all(|byte| byte.is_ascii_whitespace())
        }
    }

    /// The position after the attachments that directly follow `from`. The signature of a definition begins
    /// at this position.
    pub(super) fn skip_leading(&self, from: u32) -> u32 {
        if let Some((_, skipped)) = self.last_skipped.get().filter(|(last, _)| *last == from) {
            return skipped;
        }
        let mut start = from;
        let mut index = self.sorted.partition_point(|attachment| attachment.range.start < start);
        while let Some(attachment) = self.sorted.get(index).filter(|attachment| attachment.range.start == start) {
            let rest = self.text.get(attachment.range.end as usize..).unwrap_or_default();
            start = (self.text.len() - rest.trim_start().len()) as u32;
            index += 1;
        }
        self.last_skipped.set(Some((from, start)));
        start
    }

    /// The start of the comments directly before `end` and after `start`. If there are no such comments, the
    /// result is `end`.
    pub(super) fn before_comments(&self, start: u32, mut end: u32) -> u32 {
        let before = self.sorted.partition_point(|attachment| attachment.range.start < end);
        for attachment in self.sorted[..before].iter().rev() {
            let gap = ByteRange { start: attachment.range.end, end }.text(self.text);
            let is_adjacent = attachment.range.end <= end && gap.bytes().all(|byte| byte.is_ascii_whitespace());
            if attachment.is_decorator || attachment.range.start <= start || !is_adjacent {
                break;
            }
            end = attachment.range.start;
        }
        end
    }

    /// The end of the last attachment between two positions. If no attachment exists between them, the result
    /// is the first position.
    pub(super) fn last_end_between(&self, start: u32, end: u32) -> u32 {
        let index = self.sorted.partition_point(|attachment| attachment.range.start < end);
        index.checked_sub(1).map_or(start, |index| self.sorted[index].range.end.clamp(start, end))
    }

    pub(super) fn attached_text(&self, row: &LanguageRow, preamble: Preamble) -> AttachedText {
        if preamble.first == preamble.end {
            return AttachedText::default();
        }
        let mut last = self.last_said.borrow_mut();
        if last.as_ref().is_none_or(|(of, _)| *of != preamble) {
            *last =
                Some((preamble, AttachedText { doc: self.doc(row, preamble), decorators: self.decorators(preamble) }));
        }
        let attached = last.as_ref().map(|(_, attached)| attached).filter(|attached| self.fits_limit(attached));
        attached.cloned().unwrap_or_default()
    }

    fn fits_limit(&self, attached: &AttachedText) -> bool {
        let decorators = attached.decorators.iter().map(|decorator| decorator.len() + size_of::<String>());
        let size = attached.doc.as_ref().map_or(0, String::len) + decorators.sum::<usize>();
        let left = self.left.get().checked_sub(size);
        self.left.set(left.unwrap_or_default());
        left.is_some()
    }

    fn decorators(&self, preamble: Preamble) -> Vec<String> {
        let attached = &self.sorted[preamble.first..preamble.end];
        let decorators = attached.iter().filter(|attachment| attachment.is_decorator);
        decorators.map(|decorator| decorator_text(decorator.range.text(self.text))).collect()
    }

    fn doc(&self, row: &LanguageRow, preamble: Preamble) -> Option<String> {
        let mut doc = String::new();
        for attachment in &self.sorted[preamble.first..preamble.end] {
            match attachment.doc.and_then(|range| docstring(range.text(self.text))) {
                Some(text) => push_line(&mut doc, &text),
                None if attachment.is_decorator => {}
                None => add_comment(row, attachment.range.text(self.text), &mut doc),
            }
        }
        finish_doc(&doc)
    }

    pub(super) fn span(&self, start: u32, end: u32) -> LineSpan {
        LineSpan::new(self.lines.line_of(start), self.lines.last_line(start, end))
    }
}

/// The text of the decorator without the marker of the language.
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
        // One comment node may contain several lines.
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

/// The text of a docstring without its quotes and without the indentation that all its lines share.
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
