//! Finds secrets in tables: Markdown, terminal output, HTML, CSV, and columns of text. The name of a value is
//! in the head of its column or in a cell to its left.

use std::ops::Range;

use crate::cell::{LONGEST_NAME, Promised, inner, promised, secret_cell};
use crate::columns::Cut;
use crate::lines::{LONGEST_LINE, REACH, line_around, lines_after};

/// The secret cells of the table or row that contains a keyword. `until` is the end of the last table that
/// was read; text before this position is not read again. `budget` is the number of bytes that may still be
/// read.
pub(crate) fn cells(text: &[u8], hit: &Range<usize>, until: &mut usize, budget: &mut usize) -> Vec<Range<usize>> {
    if *budget == 0 || !ends_cell(text, hit.end) {
        return Vec::new();
    }
    *budget = budget.saturating_sub(LONGEST_LINE);
    let Some(line) = line_around(text, hit) else { return Vec::new() };
    let mut found = Vec::new();
    let beside = if hit.start < *until { None } else { below(text, &line, until, &mut found) };
    if beside.is_none() {
        found.extend(row(text, &line, hit));
    }
    found
}

/// Whether the border of a cell follows the name that contains the keyword. The check must be cheap, because
/// most keywords in a text are not in a table.
fn ends_cell(text: &[u8], end: usize) -> bool {
    let rest = &text[end..text.len().min(end + LONGEST_NAME)];
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_- *`\"'\\\r".contains(byte);
    match rest.iter().position(|byte| !is_name(byte)) {
        None => rest.len() < LONGEST_NAME,
        Some(at) => matches!(rest[at], b'|' | b',' | b'\t' | b'\n' | b';' | b'<'),
    }
}

/// The secret cells below the line, if the line is the head of a table.
fn below(text: &[u8], line: &Range<usize>, until: &mut usize, found: &mut Vec<Range<usize>>) -> Option<()> {
    let rows: Vec<Range<usize>> = lines_after(text, line).take(2).collect();
    let second = rows.first()?;
    let cut = Cut::of(text, line, second, rows.get(1))?;
    let heads = cut.cells(text, line);
    let secret: Vec<(usize, Promised)> = heads
        .iter()
        .enumerate()
        .filter_map(|(place, cell)| Some((place, promised(&text[inner(text, cell)])?)))
        .collect();
    *until = line.end;
    for row in lines_after(text, line) {
        if cut.is_border(&text[row.clone()]) {
            if row.start > second.start {
                break;
            }
            continue;
        }
        let cells = cut.cells(text, &row);
        let shift = cells.len().checked_sub(heads.len())?;
        if shift > cut.most_shift() {
            break;
        }
        *until = row.end;
        for (place, promised) in &secret {
            found.extend(cells.get(place + shift).and_then(|cell| secret_cell(text, cell, *promised)));
        }
    }
    Some(())
}

/// The cell after the cell that contains a keyword: `| password | value |`.
fn row(text: &[u8], line: &Range<usize>, hit: &Range<usize>) -> Option<Range<usize>> {
    let first = text[line.clone()].iter().find(|byte| !b" \t\",>#/*".contains(byte));
    if !matches!(first, Some(b'|' | b'^')) || !text[hit.end..line.end].contains(&b'|') {
        return None;
    }
    let cells = Cut::Pipes.cells(text, line);
    let place = cells.iter().position(|cell| cell.start <= hit.start && hit.end <= cell.end)?;
    let promised = promised(&text[inner(text, &cells[place])])?;
    secret_cell(text, cells.get(place + 1)?, promised)
}

/// The secret cells below the `<th>` that contains a keyword.
pub(crate) fn html_cells(text: &[u8], hit: &Range<usize>, budget: &mut usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let rest = &text[hit.end..text.len().min(hit.end + LONGEST_NAME)];
    let Some(end) = rest.iter().position(|byte| *byte == b'<') else { return found };
    if *budget == 0 || !rest[end..].starts_with(b"</th>") {
        return found;
    }
    let end = hit.end + end;
    let floor = end.saturating_sub(LONGEST_LINE);
    let Some(start) = text[floor..end].iter().rposition(|byte| *byte == b'>') else { return found };
    let Some(promised) = promised(text[floor + start + 1..end].trim_ascii()) else { return found };
    let Some(row) = text[floor..end].windows(3).rposition(|tag| tag == b"<tr") else { return found };
    let is_cell = |tag: &[u8]| matches!(tag, b"<td" | b"<th");
    let place = text[floor + row..end].windows(3).filter(|tag| is_cell(tag)).count() - 1;
    let table = &text[end..text.len().min(end + REACH)];
    let table = &table[..table.windows(8).position(|tag| tag == b"</table>").unwrap_or(table.len())];
    *budget = budget.saturating_sub(table.len());
    let mut seen = usize::MAX;
    for at in 0..table.len().saturating_sub(3) {
        if table[at..].starts_with(b"<tr") && !table[at..].starts_with(b"<track") {
            seen = 0;
        } else if is_cell(&table[at..at + 3]) && table[at + 3..].first() != Some(&b'e') && seen != usize::MAX {
            seen += 1;
            if seen == place + 1
                && let Some(open) = table[at..].iter().position(|byte| *byte == b'>')
                && let Some(length) = table[at + open + 1..].iter().position(|byte| *byte == b'<')
            {
                let cell = end + at + open + 1..end + at + open + 1 + length;
                found.extend(secret_cell(text, &cell, promised));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[&str]) {
        let lower = text.to_lowercase();
        let mut until = 0;
        let budget = &mut 100_000;
        let mut found = Vec::new();
        for (at, _) in lower.match_indices("pass").chain(lower.match_indices("token")) {
            let hit = at..at + 4;
            found.extend(cells(text.as_bytes(), &hit, &mut until, budget));
            found.extend(html_cells(text.as_bytes(), &hit, budget));
        }
        let found: Vec<&str> = found.into_iter().map(|cell| &text[cell]).collect();
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn row_names_its_value() {
        check("| password | k3J9xQ7w |\n", &["k3J9xQ7w"]);
        check("| **DB password** | `k3J9xQ7w` | old |\n", &["k3J9xQ7w"]);
        check("a\n| password | string |\n| password | see below 1 |\n", &[]);
        check("mode = password | k3J9xQ7w\n", &[]);
    }

    #[test]
    fn head_names_its_column() {
        check("| user | password |\n|---|:-:|\n| bob | k3J9xQ7w |\n| ann | Wq8!xz2K |\n", &["k3J9xQ7w", "Wq8!xz2K"]);
        check("user | password\n--- | ---\nbob | k3J9xQ7w\n\nk3J9 | x7y8z9w\n", &["k3J9xQ7w"]);
        check("\"| user | password |\\n\",\n\"|---|---|\\n\",\n\"| bob | k3J9xQ7w |\\n\"", &["k3J9xQ7w"]);
        check("user,password\nbob,k3J9xQ7w\nann,Wq8!xz2K\n", &["k3J9xQ7w", "Wq8!xz2K"]);
        check("====  ========\nuser  password\n====  ========\nbob   k3J9xQ7w\n====  ========\n", &["k3J9xQ7w"]);
        check("  user  password\n0  bob  k3J9xQ7w\n1  ann  Wq8!xz2K\n", &["k3J9xQ7w", "Wq8!xz2K"]);
        check("<tr><th>user</th><th>password</th></tr>\n<tr><td>bob</td><td>k3J9xQ7w</td></tr>", &["k3J9xQ7w"]);
    }

    #[test]
    fn other_cells_are_not_redacted() {
        check("def f(user, password):\n    return user, k3J9xQ7w\n", &[]);
        check("user, password\nbob, k3J9xQ7w\n", &[]);
        check("return password\nlet k3J9xQ7w\n", &[]);
        check("| password | type |\n|---|---|\n| string | k3J9xQ7w |\n", &[]);
        check("<tr><th>password</th><th>x</th></tr><tr><td>words</td><td>k3J9xQ7w</td></tr>", &[]);
    }
}
