//! Divides rows that do not fit into one chunk, in any language.
//!
//! A good first row of a part has little indentation and few open brackets, follows a blank row, and does not
//! continue the previous row. Brackets in strings and comments are counted too: the number of brackets is
//! only one of several hints, and a wrong hint moves a cut by only a few rows.

use super::lines::{Lines, Rows};
use super::sizes::{TARGET_TOKENS, WHOLE_TOKENS};
use super::tokens::TOKEN;

/// The minimum size of a part. A part may be smaller only if no other cut is possible.
const LEAST_TOKENS: u32 = 200;

/// Divides rows into parts of about the target size, with at least one row each. If the rows fit into one
/// chunk, they are not divided.
pub(crate) fn split_rows(lines: &Lines<'_>, rows: Rows) -> Vec<Rows> {
    if lines.tokens(rows) <= WHOLE_TOKENS {
        return vec![rows];
    }
    let depths = bracket_depths(lines, rows);
    let ideal = ideal_weight(lines, rows);
    let mut parts = Vec::new();
    let mut rest = rows;
    while lines.tokens(rest) > WHOLE_TOKENS && rest.end - rest.start > 1 {
        let cut = best_cut(lines, rest, ideal, &depths[rest.start - rows.start..]);
        parts.push(Rows::new(rest.start, cut));
        rest.start = cut;
    }
    parts.push(rest);
    parts
}

/// The weight of each part if the rows are divided evenly into the smallest number of parts that the target
/// size allows.
fn ideal_weight(lines: &Lines<'_>, rows: Rows) -> u32 {
    let total = lines.weight(rows);
    total / total.div_ceil(TARGET_TOKENS * TOKEN).max(1)
}

/// The row at which the next part should begin. `depths` are the bracket depths of the rows in `rest`.
fn best_cut(lines: &Lines<'_>, rest: Rows, ideal: u32, depths: &[u16]) -> usize {
    let mut last_that_fits = rest.start + 1;
    let mut best: Option<(u32, usize)> = None;
    for row in rest.start + 1..rest.end {
        let weight = lines.weight(Rows::new(rest.start, row));
        if weight > TARGET_TOKENS * TOKEN {
            break;
        }
        last_that_fits = row;
        if weight >= LEAST_TOKENS * TOKEN {
            let off = weight.abs_diff(ideal) * 16 / ideal.max(1);
            let cost = cut_cost(lines, row, depths[row - rest.start]) + off;
            // If two cuts have the same cost, the later one is used, because it leads to fewer parts.
            if best.is_none_or(|(least, _)| cost <= least) {
                best = Some((cost, row));
            }
        }
    }
    best.map_or(last_that_fits, |(_, row)| row)
}

/// The cost of beginning a part at the row. Must not be called for the first row of a text.
fn cut_cost(lines: &Lines<'_>, row: usize, depth: u16) -> u32 {
    let text = lines.row(row);
    let mut cost = indentation(text).min(40) + 4 * u32::from(depth.min(10)) + 16;
    if is_continuation(text.trim_ascii_start()) {
        cost += 30;
    }
    if lines.is_blank(row) {
        cost += 20;
    }
    if lines.is_blank(row - 1) {
        cost -= 14;
    }
    cost
}

/// The number of columns of leading white space. A tab counts as four columns. At most forty bytes are read.
fn indentation(row: &str) -> u32 {
    let leading = row.bytes().take(40).take_while(|byte| matches!(byte, b' ' | b'\t'));
    leading.map(|byte| if byte == b'\t' { 4 } else { 1 }).sum()
}

/// Whether a row continues the previous row.
fn is_continuation(row: &str) -> bool {
    let bytes = row.as_bytes();
    match bytes.first() {
        Some(b'}' | b')' | b']' | b'.' | b',' | b'+' | b'&' | b'|' | b'?' | b':' | b'{' | b'=') => true,
        Some(b'e' | b'c' | b'f' | b't' | b'r') => {
            let word = bytes.iter().take(8).take_while(|byte| byte.is_ascii_alphabetic()).count();
            matches!(
                &row[..word],
                "else" | "elif" | "elsif" | "end" | "except" | "catch" | "finally" | "then" | "rescue"
            )
        }
        _ => false,
    }
}

/// The number of open brackets at the beginning of each row. The number is 0 for the first of these rows, and
/// it is never negative.
fn bracket_depths(lines: &Lines<'_>, rows: Rows) -> Vec<u16> {
    let mut depth = 0_u16;
    let mut depths = Vec::with_capacity(rows.end - rows.start);
    for row in rows.start..rows.end {
        depths.push(depth);
        for byte in lines.row(row).bytes() {
            match byte {
                b'(' | b'[' | b'{' => depth = depth.saturating_add(1),
                b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
    }
    depths
}
