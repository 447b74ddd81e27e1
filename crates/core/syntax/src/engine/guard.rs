//! Checks the shape of a text before a grammar parses it.
//!
//! The parser's error recovery takes quadratic time on unclosed brackets, and does not always call the
//! progress callback. Therefore a text with deeply nested brackets or indentation, or with very long lines,
//! is never parsed. The check is one linear scan that allocates only the table of lines.

/// The starts of the lines of a text.
pub struct LineIndex {
    /// The byte offsets of the lines. The first offset is 0.
    starts: Vec<u32>,
    num_bytes: u32,
}

impl LineIndex {
    /// Lines end with `\n`. Text after the last `\n` is also a line. Texts of more than 4 GiB are rejected
    /// before this function is called.
    pub fn new(text: &str) -> LineIndex {
        let mut starts = Vec::with_capacity(text.len() / 32 + 1);
        starts.push(0);
        starts.extend(memchr::memchr_iter(b'\n', text.as_bytes()).map(|newline| newline as u32 + 1));
        LineIndex { starts, num_bytes: text.len() as u32 }
    }

    pub fn num_lines(&self) -> u32 {
        let ends_in_newline = self.starts.last() == Some(&self.num_bytes);
        self.starts.len() as u32 - u32::from(ends_in_newline)
    }

    /// The line of a byte offset. Lines are counted from 1.
    pub fn line_of(&self, byte: u32) -> u32 {
        self.starts.partition_point(|start| *start <= byte) as u32
    }

    /// Like `line_of`, but for increasing offsets. `hint` is the line of the previous offset.
    pub fn line_from(&self, hint: &mut u32, byte: u32) -> u32 {
        while self.starts.get(*hint as usize).is_some_and(|start| *start <= byte) {
            *hint += 1;
        }
        *hint
    }

    /// The last line of a range that ends before `end`. If a node ends with a newline, the line after the
    /// newline is not part of the node.
    pub fn last_line(&self, start: u32, end: u32) -> u32 {
        self.line_of(end.saturating_sub(1).max(start))
    }

    /// The offset of the first byte of a line. Lines are counted from 1.
    pub fn start_of(&self, line: u32) -> u32 {
        self.starts.get(line as usize - 1).copied().unwrap_or(self.num_bytes)
    }

    fn longest_line(&self) -> usize {
        let ends = self.starts.iter().skip(1).chain(std::iter::once(&self.num_bytes));
        self.starts.iter().zip(ends).map(|(start, end)| (end - start) as usize).max().unwrap_or(0)
    }
}

/// Whether line lengths and nesting are within the limits and the text contains no NUL.
pub(super) fn has_sound_shape(text: &str, lines: &LineIndex, max_line_bytes: usize, max_nesting: usize) -> bool {
    lines.longest_line() <= max_line_bytes
        && memchr::memchr(0, text.as_bytes()).is_none()
        && bracket_depth_within(text.as_bytes(), max_nesting)
        && indentation_within(text, lines, max_nesting)
}

/// Whether the bracket depth is within the limit. A single bracket between quotes is not counted, because
/// lexers and tests of lexers contain many such brackets.
fn bracket_depth_within(bytes: &[u8], max_nesting: usize) -> bool {
    let mut depth = 0usize;
    for (at, byte) in bytes.iter().enumerate() {
        match BRACKETS[usize::from(*byte)] {
            0 => {}
            _ if is_quoted(bytes, at) => {}
            1 => {
                depth += 1;
                if depth > max_nesting {
                    return false;
                }
            }
            _ => depth = depth.saturating_sub(1),
        }
    }
    true
}

/// The table value is 1 for an opening bracket and 2 for a closing bracket.
const BRACKETS: [u8; 256] = {
    let mut table = [0; 256];
    table[b'(' as usize] = 1;
    table[b'[' as usize] = 1;
    table[b'{' as usize] = 1;
    table[b')' as usize] = 2;
    table[b']' as usize] = 2;
    table[b'}' as usize] = 2;
    table
};

fn is_quoted(bytes: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| bytes[before]);
    matches!(before, Some(b'\'' | b'"' | b'`')) && bytes.get(at + 1).copied() == before
}

/// Whether the depth of the indentation is within the limit. Each level needs at least one byte, so only
/// lines with more bytes of indentation than the limit are checked.
fn indentation_within(text: &str, lines: &LineIndex, max_nesting: usize) -> bool {
    let bytes = text.as_bytes();
    let indentation = |start: u32| {
        let line = &bytes[start as usize..];
        let width = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        (!matches!(line.get(width), None | Some(b'\n' | b'\r'))).then_some(width)
    };
    if !lines.starts.iter().any(|start| indentation(*start).is_some_and(|width| width >= max_nesting)) {
        return true;
    }
    let mut levels: Vec<usize> = Vec::new();
    for width in lines.starts.iter().filter_map(|start| indentation(*start)) {
        while levels.last().is_some_and(|level| *level >= width) {
            levels.pop();
        }
        levels.push(width);
        if levels.len() > max_nesting {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, sound: bool) {
        let lines = LineIndex::new(text);
        assert_eq!(has_sound_shape(text, &lines, 100, 10), sound, "{:?}", &text[..text.len().min(60)]);
    }

    #[test]
    fn oversized_shapes_are_refused() {
        check("", true);
        check("fn main() {}\n", true);
        check(&"x".repeat(100), true);
        check(&"x".repeat(101), false);
        check("a\0b", false);
        check(&"(".repeat(10), true);
        check(&"([{".repeat(4), false);
        check(&"()".repeat(40), true);
        check(&"'('\n".repeat(40), true);
        check(&"\"[\"\n".repeat(40), true);
        check(&(0..11).map(|level| format!("{}x\n", " ".repeat(level))).collect::<String>(), false);
        check(&(0..10).map(|level| format!("{}x\n", " ".repeat(level))).collect::<String>(), true);
        check(&format!("{}x\n", " ".repeat(50)).repeat(20), true);
    }

    #[test]
    fn bytes_are_mapped_to_lines() {
        let lines = LineIndex::new("ab\ncd\n");
        assert_eq!(lines.num_lines(), 2);
        assert_eq!([0, 2, 3, 5].map(|byte| lines.line_of(byte)), [1, 1, 2, 2]);
        assert_eq!(lines.last_line(0, 3), 1);
        assert_eq!(lines.start_of(2), 3);
        assert_eq!(LineIndex::new("").num_lines(), 0);
        assert_eq!(LineIndex::new("a\nb").num_lines(), 2);
    }
}
