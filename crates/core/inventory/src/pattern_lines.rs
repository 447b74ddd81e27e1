//! The pattern lines of rule files, and the cost of compiling them.
//!
//! Rule files come from repositories, and a file of a few kilobytes can contain patterns that need gigabytes
//! when they are compiled. So the cost is estimated from the text, before any pattern is compiled.

use std::collections::HashSet;

use crate::pattern_form::{Form, parse};

/// The estimated memory of a pattern that is found by a table: a name, a path, or `*.extension`. Its text is
/// stored up to three times.
const TABLE_BYTES: u64 = 256;
const TABLE_BYTES_PER_BYTE: u64 = 4;
/// The estimated memory of a pattern that is compiled to an automaton.
const EXPRESSION_BYTES: u64 = 8 << 10;
const EXPRESSION_BYTES_PER_BYTE: u64 = 128;

/// The cost of compiling the patterns of rule files.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PatternCost {
    pub num_patterns: u64,
    /// An estimate of the memory that the compiled patterns and their searches use.
    pub compiled_bytes: u64,
}

impl PatternCost {
    pub fn of<'l>(patterns: impl IntoIterator<Item = &'l str>) -> Self {
        let mut cost = Self::default();
        patterns.into_iter().for_each(|pattern| cost.add(pattern));
        cost
    }

    fn add(&mut self, pattern: &str) {
        let (each, per_byte) = if is_found_by_table(pattern) {
            (TABLE_BYTES, TABLE_BYTES_PER_BYTE)
        } else {
            (EXPRESSION_BYTES, EXPRESSION_BYTES_PER_BYTE)
        };
        self.num_patterns += 1;
        self.compiled_bytes += each + per_byte * pattern.len() as u64;
    }

    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            num_patterns: self.num_patterns + other.num_patterns,
            compiled_bytes: self.compiled_bytes + other.compiled_bytes,
        }
    }
}

fn is_found_by_table(line: &str) -> bool {
    parse(1, line).is_none_or(|(_, glob)| Form::of(&glob).is_found_by_table())
}

/// The patterns of a rule file, each with the one-based number of its line. Comments and empty lines are
/// omitted. If several lines are equal, only the last is returned. The last matching pattern decides, so the
/// other lines have no effect.
pub fn pattern_lines(text: &str) -> Vec<(usize, &str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    last_of_equal(lines.map(|(index, line)| (index + 1, line)), |(_, line)| *line)
}

/// Keeps only the last of several items with the same pattern.
pub(crate) fn last_of_equal<'l, T>(items: impl Iterator<Item = T>, pattern_of: impl Fn(&T) -> &'l str) -> Vec<T> {
    let mut items: Vec<T> = items.collect();
    let mut seen = HashSet::new();
    items.reverse();
    items.retain(|item| seen.insert(pattern_of(item)));
    items.reverse();
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_of_equal_lines_is_kept() {
        let text = "\u{feff}a\r\n# comment\n!a\n\n  \na\n#\nb\n";
        assert_eq!(pattern_lines(text), [(3, "!a"), (6, "a"), (8, "b")]);
        assert_eq!(pattern_lines(&"a?1.c\n".repeat(100_000)), [(100_000, "a?1.c")]);
    }

    #[test]
    fn cost_depends_on_the_kind_and_length_of_the_patterns() {
        let check = |pattern: &str, is_table: bool| assert_eq!(is_found_by_table(pattern), is_table, "{pattern}");
        for pattern in ["a", "/a/b/", "!docs", "*.log", "!*.log", "größe", "*.d/", "]1", "{a,b}", "**/a", "*.a]"] {
            check(pattern, true);
        }
        for pattern in ["a?1.c", "*.pb.go", "/*.c", "a/**", "[ab]", "\\#a", "*", "*.[ch]", "/*.", "a/*.c"] {
            check(pattern, false);
        }
        let cost = PatternCost::of(["abc", "a*c"]);
        let each = [TABLE_BYTES, EXPRESSION_BYTES, 3 * TABLE_BYTES_PER_BYTE, 3 * EXPRESSION_BYTES_PER_BYTE];
        assert_eq!(cost, PatternCost { num_patterns: 2, compiled_bytes: each.iter().sum() });
        assert_eq!(PatternCost::of(["abc"]).and(PatternCost::of(["a*c"])), cost);
    }
}
