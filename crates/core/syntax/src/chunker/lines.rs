//! An index of the lines of a text and their weights. With this index, the chunker finds the text and the
//! weight of any range of rows in constant time.

use cairn_domain::LineSpan;

use super::tokens::{TOKEN, weight};

/// A range of consecutive rows. Row numbers are zero-based, and `end` is exclusive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Rows {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Rows {
    pub(crate) fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// The rows of a span, limited to a text of `num_rows` rows. The result is empty if the span is outside
    /// of the text, or if its end is before its start.
    pub(crate) fn of(span: LineSpan, num_rows: usize) -> Self {
        let end = (span.end as usize).min(num_rows);
        let start = (span.start.max(1) as usize - 1).min(end);
        Self { start, end }
    }

    pub(crate) fn is_empty(self) -> bool {
        self.start >= self.end
    }

    pub(crate) fn contains(self, other: Rows) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// The rows as a span of lines, whose numbers start at 1. Must not be called if `self` is empty.
    pub(crate) fn span(self) -> LineSpan {
        LineSpan::new(self.start as u32 + 1, self.end as u32)
    }
}

/// The lines of a text. A line ends with `\n` or at the end of the text. No line begins after a final `\n`.
pub(crate) struct Lines<'t> {
    text: &'t str,
    /// The offset of each row, followed by the length of the text.
    starts: Vec<u32>,
    /// For each row, the weight of all rows before it, followed by the weight of the whole text.
    weights: Vec<u32>,
}

impl<'t> Lines<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        let bytes = text.as_bytes();
        let estimated_rows = bytes.len() / 32 + 2;
        let mut starts = Vec::with_capacity(estimated_rows);
        let mut weights = Vec::with_capacity(estimated_rows);
        let (mut start, mut total) = (0, 0_u32);
        while start < bytes.len() {
            starts.push(start as u32);
            weights.push(total);
            let end = memchr::memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |at| start + at + 1);
            total = total.saturating_add(weight(&bytes[start..end]));
            start = end;
        }
        starts.push(bytes.len() as u32);
        weights.push(total);
        Self { text, starts, weights }
    }

    pub(crate) fn num_rows(&self) -> usize {
        self.starts.len() - 1
    }

    pub(crate) fn all(&self) -> Rows {
        Rows::new(0, self.num_rows())
    }

    /// The text of the rows, including their line ends.
    pub(crate) fn slice(&self, rows: Rows) -> &'t str {
        &self.text[self.starts[rows.start] as usize..self.starts[rows.end.max(rows.start)] as usize]
    }

    pub(crate) fn row(&self, row: usize) -> &'t str {
        self.slice(Rows::new(row, row + 1))
    }

    /// The row that contains the byte at `offset`. If `offset` is after the end of the text, the last row is
    /// returned.
    pub(crate) fn row_at(&self, offset: usize) -> usize {
        let after = self.starts[..self.num_rows()].partition_point(|&start| start as usize <= offset);
        after.saturating_sub(1)
    }

    /// Like [`Lines::row_at`], but for increasing offsets. Searches forward from `row`, which must not be
    /// after the result.
    pub(crate) fn row_from(&self, mut row: usize, offset: usize) -> usize {
        while row + 1 < self.num_rows() && self.starts[row + 1] as usize <= offset {
            row += 1;
        }
        row
    }

    pub(crate) fn is_blank(&self, row: usize) -> bool {
        self.row(row).bytes().all(|byte| byte.is_ascii_whitespace())
    }

    pub(crate) fn are_blank(&self, rows: Rows) -> bool {
        (rows.start..rows.end).all(|row| self.is_blank(row))
    }

    /// The weight of the rows, in the unit that [`super::tokens`] uses.
    pub(crate) fn weight(&self, rows: Rows) -> u32 {
        self.weights[rows.end.max(rows.start)] - self.weights[rows.start]
    }

    pub(crate) fn tokens(&self, rows: Rows) -> u32 {
        self.weight(rows).div_ceil(TOKEN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, rows: &[&str]) {
        let lines = Lines::new(text);
        let found: Vec<_> = (0..lines.num_rows()).map(|row| lines.row(row)).collect();
        assert_eq!(found, rows, "{text:?}");
    }

    #[test]
    fn lines_end_with_a_line_feed_or_the_text() {
        check("", &[]);
        check("a", &["a"]);
        check("a\n", &["a\n"]);
        check("a\r\n\nb", &["a\r\n", "\n", "b"]);
        check("\n", &["\n"]);
    }

    #[test]
    fn offsets_are_found_in_their_rows() {
        let lines = Lines::new("ab\n\ncd");
        let rows: Vec<_> = (0..8).map(|offset| lines.row_at(offset)).collect();
        assert_eq!(rows, [0, 0, 0, 1, 2, 2, 2, 2]);
    }
}
