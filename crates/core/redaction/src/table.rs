//! Secrets in cells: tables of Markdown, of terminals and of HTML, rows of CSV, and rows that SQL inserts.
//! The head of a column names the cells below it, the first cell of a row the cells beside it.

use std::ops::Range;

use crate::judge::{self, Style};
use crate::name::{Name, Naming, Promise};
use crate::shape;

/// How far the rows of one table are followed, in bytes.
const REACH: usize = 64 * 1024;

/// Longer lines are not rows.
const LONGEST_LINE: usize = 4096;

/// Longer cells are not names.
const LONGEST_NAME: usize = 40;

/// Words that name secrets, and the kind of value that each word promises.
const NAMING: [(&[u8], Naming); 7] = [
    (b"pass", Naming::Password),
    (b"pwd", Naming::Password),
    (b"pw", Naming::Password),
    (b"secret", Naming::Secret),
    (b"cred", Naming::Secret),
    (b"token", Naming::Token),
    (b"key", Naming::Key),
];

/// The meaning of a cell's name.
type Promised = (Naming, Promise);

/// The secret cells of the table or row that contains a keyword. `until` is the end of the last table that
/// was read, so no table is read twice. `budget` is the number of bytes that may still be read.
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

/// Whether the rest of the name is followed by the border of a cell. The check is cheap, because most
/// keywords are words of programs.
fn ends_cell(text: &[u8], end: usize) -> bool {
    let rest = &text[end..text.len().min(end + LONGEST_NAME)];
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_- *`\"'\\\r".contains(byte);
    match rest.iter().position(|byte| !is_name(byte)) {
        None => rest.len() < LONGEST_NAME,
        Some(at) => matches!(rest[at], b'|' | b',' | b'\t' | b'\n' | b';' | b'<'),
    }
}

fn line_around(text: &[u8], hit: &Range<usize>) -> Option<Range<usize>> {
    let floor = hit.start.saturating_sub(LONGEST_LINE);
    let before = &text[floor..hit.start];
    let plain = before.iter().rposition(|byte| *byte == b'\n').map(|at| at + 1);
    let escaped = before.windows(2).rposition(|pair| pair == b"\\n").map(|at| at + 2);
    let start = match plain.max(escaped) {
        None if floor > 0 => return None,
        begin => floor + begin.unwrap_or(0),
    };
    let line = next_line(text, start)?;
    (line.end >= hit.end).then(|| string_of(text, line, hit.start))
}

/// The string that contains a position, for a line that ends with an escape. Other strings may precede it.
fn string_of(text: &[u8], line: Range<usize>, at: usize) -> Range<usize> {
    if !text[line.end..].starts_with(b"\\n") {
        return line;
    }
    let is_quote = |at: &usize| text[*at] == b'"' && (*at == 0 || text[*at - 1] != b'\\');
    let start = (line.start..at).rev().find(is_quote).map_or(line.start, |at| at + 1);
    start..line.end
}

/// From `start` to the line's end, which may be the `\n` of a string.
fn next_line(text: &[u8], start: usize) -> Option<Range<usize>> {
    let rest = &text[start..text.len().min(start + LONGEST_LINE)];
    let escaped = rest.windows(2).position(|pair| pair == b"\\n");
    let plain = rest.iter().position(|byte| *byte == b'\n');
    let length = match (plain, escaped) {
        (Some(plain), Some(escaped)) => plain.min(escaped),
        (Some(length), None) | (None, Some(length)) => length,
        (None, None) if start + rest.len() == text.len() => rest.len(),
        (None, None) => return None,
    };
    Some(start..start + length)
}

/// The lines that follow, up to the reach. Text that only separates the strings of a list does not count as a
/// line.
fn lines_after(text: &[u8], line: &Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = text.len().min(line.end + REACH);
    let mut at = line.end;
    std::iter::from_fn(move || {
        loop {
            let step = if text[at..end].starts_with(b"\\n") { 2 } else { 1 };
            if at + step >= end {
                return None;
            }
            let next = next_line(&text[..end], at + step)?;
            at = next.end;
            if !text[..next.start].ends_with(b"\\n") {
                return Some(next);
            }
            if !matches!(text[next.clone()].trim_ascii(), b"\"," | b"\"" | b"',") {
                return Some(next_string(text, next));
            }
        }
    })
}

/// The next string of a line; for a line that begins within a string, the rest of that string.
fn next_string(text: &[u8], line: Range<usize>) -> Range<usize> {
    let bytes = &text[line.clone()];
    let is_quote = |at: &usize| bytes[*at] == b'"' && (*at == 0 || bytes[*at - 1] != b'\\');
    let mut start = 0;
    if bytes.starts_with(b"\"") {
        start = (1..bytes.len()).find(is_quote).map_or(0, |at| at + 1);
    }
    let end = (start..bytes.len()).find(is_quote).unwrap_or(bytes.len());
    line.start + start..line.start + end
}

/// Cells below the heads of secret columns, if the line is the head of a table.
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

/// How lines are cut into cells.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cut {
    Pipes,
    /// `,`, `;` or a tab, without blanks around it.
    Separator(u8),
    /// Columns of text; a row may begin with its number.
    Blanks,
}

impl Cut {
    /// The cut of a table by its head, the line below and the one below that.
    fn of(text: &[u8], head: &Range<usize>, second: &Range<usize>, third: Option<&Range<usize>>) -> Option<Self> {
        let (head_text, second_text) = (&text[head.clone()], &text[second.clone()]);
        if head_text.contains(&b'|') {
            return is_ruler(second_text).then_some(Self::Pipes);
        }
        for separator in [b',', b';', b'\t'] {
            let cut = Self::Separator(separator);
            let num = cut.cells(text, head).len();
            if num >= 2 {
                let named = cut.cells(text, head).iter().all(|cell| is_plain_name(&text[cell.clone()]));
                return (named && cut.cells(text, second).len() == num).then_some(cut);
            }
        }
        let num = Self::Blanks.cells(text, head).len();
        let named = Self::Blanks.cells(text, head).iter().all(|cell| is_plain_name(&text[cell.clone()]));
        let first = if is_ruler(second_text) { third? } else { second };
        let rows = Self::Blanks.cells(text, first);
        let numbered = rows.len() == num + 1 && text[rows[0].clone()].iter().all(u8::is_ascii_digit);
        (num >= 2 && named && (numbered || (is_ruler(second_text) && rows.len() == num))).then_some(Self::Blanks)
    }

    fn most_shift(self) -> usize {
        usize::from(self == Self::Blanks)
    }

    fn is_border(self, line: &[u8]) -> bool {
        self != Self::Separator(b',') && is_ruler(line)
    }

    fn cells(self, text: &[u8], line: &Range<usize>) -> Vec<Range<usize>> {
        match self {
            Self::Pipes => {
                let line = trimmed(text, line, b" \t\r\",>#/*");
                let line = trimmed_once(text, &line, b'|');
                split(text, &line, b'|')
            }
            Self::Separator(separator) => split(text, &trimmed(text, line, b"\r"), separator),
            Self::Blanks => {
                let mut cells = Vec::new();
                let mut at = line.start;
                for word in text[line.clone()].split(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'"')) {
                    if !word.is_empty() {
                        cells.push(at..at + word.len());
                    }
                    at += word.len() + 1;
                }
                cells
            }
        }
    }
}

/// A line of dashes between the head of a table and its rows.
fn is_ruler(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.windows(2).any(|pair| pair == b"--" || pair == b"==" || pair == b":-" || pair == b"-:")
        && line.iter().all(|byte| b"-=:|+ \t\"'>#/*,".contains(byte))
}

fn is_plain_name(cell: &[u8]) -> bool {
    let cell = cell.strip_prefix(b"\"").and_then(|cell| cell.strip_suffix(b"\"")).unwrap_or(cell);
    cell.len() <= LONGEST_NAME
        && cell.first().is_none_or(u8::is_ascii_alphabetic)
        && cell.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-. ".contains(byte))
        && cell.last() != Some(&b' ')
}

fn trimmed(text: &[u8], range: &Range<usize>, signs: &[u8]) -> Range<usize> {
    let bytes = &text[range.clone()];
    let before = bytes.iter().take_while(|byte| signs.contains(byte)).count();
    let after = bytes[before..].iter().rev().take_while(|byte| signs.contains(byte)).count();
    range.start + before..range.end - after
}

fn trimmed_once(text: &[u8], range: &Range<usize>, sign: u8) -> Range<usize> {
    let bytes = &text[range.clone()];
    let before = usize::from(bytes.first() == Some(&sign));
    let after = usize::from(bytes.len() > before && bytes.last() == Some(&sign));
    range.start + before..range.end - after
}

/// The parts between separators that are outside of double quotes and not escaped.
fn split(text: &[u8], line: &Range<usize>, separator: u8) -> Vec<Range<usize>> {
    let mut cells = Vec::new();
    let mut start = line.start;
    let mut quoted = false;
    for at in line.clone() {
        quoted ^= text[at] == b'"' && separator != b'|';
        if text[at] == separator && !quoted && (at == 0 || text[at - 1] != b'\\') {
            cells.push(start..at);
            start = at + 1;
        }
    }
    cells.push(start..line.end);
    cells
}

/// The contents of a cell, without quotes and emphasis around it.
fn inner(text: &[u8], cell: &Range<usize>) -> Range<usize> {
    trimmed(text, cell, b" \t\r*`\"'\\_")
}

/// The promise of the name in a cell, if the whole cell is a name.
fn promised(name: &[u8]) -> Option<Promised> {
    if name.len() > LONGEST_NAME || !name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-. ".contains(byte)) {
        return None;
    }
    let lower = name.to_ascii_lowercase();
    NAMING.into_iter().find_map(|(word, naming)| {
        let at = lower.windows(word.len()).position(|window| window == word)?;
        Some((naming, Name::around(name, at..at + word.len(), naming)?.promise))
    })
}

/// The value of a cell, if it is a value that the name promises.
fn secret_cell(text: &[u8], cell: &Range<usize>, promised: Promised) -> Option<Range<usize>> {
    let plain = trimmed(text, cell, b" \t\r");
    let value = trimmed(text, &plain, b"*`\"'\\");
    is_secret_cell(&text[value.clone()], promised, value.len() < plain.len()).then_some(value)
}

fn is_secret_cell(value: &[u8], (naming, promise): Promised, quoted: bool) -> bool {
    let shape = shape::Shape::of(value);
    let spaced = shape.blanks > 0 && !quoted;
    !spaced
        && !value.starts_with(b"--")
        && (shape.blanks > 0 || promise == Promise::Explicit || judge::has_digit_or_sign(value))
        && judge::is_secret(naming, promise, Style::Literal, value)
        && !judge::is_code(value)
}

/// The cell beside the one that contains a keyword: `| password | value |`.
fn row(text: &[u8], line: &Range<usize>, hit: &Range<usize>) -> Option<Range<usize>> {
    let begins = text[line.clone()].iter().find(|byte| !b" \t\",>#/*".contains(byte)) == Some(&b'|');
    if !begins || !text[hit.end..line.end].contains(&b'|') {
        return None;
    }
    let cells = Cut::Pipes.cells(text, line);
    let place = cells.iter().position(|cell| cell.start <= hit.start && hit.end <= cell.end)?;
    let promised = promised(&text[inner(text, &cells[place])])?;
    secret_cell(text, cells.get(place + 1)?, promised)
}

/// The secret cells below a `<th>` that contains a keyword.
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

/// The secrets among the rows that an `INSERT INTO table (columns) VALUES (…), (…)` adds. Without names of
/// columns, only values that are certainly secrets.
pub(crate) fn inserted(text: &[u8], hit: &Range<usize>, budget: &mut usize) -> Vec<Range<usize>> {
    if *budget == 0 {
        return Vec::new();
    }
    let end = text.len().min(hit.end + REACH);
    let mut sql = Sql { text: &text[..end], at: hit.end, seen: 0 };
    let mut found = Vec::new();
    let columns = sql.columns();
    *budget = budget.saturating_sub(sql.seen);
    let Some(columns) = columns else { return found };
    let promises: Vec<Option<Promised>> =
        columns.iter().map(|column| promised(&text[trimmed(text, column, b" \t\r\n`\"'[]\\")])).collect();
    if !columns.is_empty() && promises.iter().all(Option::is_none) {
        return found;
    }
    sql.seen = 0;
    while let Some(values) = sql.tuple() {
        for (place, value) in values.iter().enumerate() {
            let quoted = trimmed(text, value, b" \t\r\nNE");
            let value = trimmed(text, &quoted, b"'\"\\");
            if value.len() == quoted.len() {
                continue;
            }
            let is_secret = match promises.get(place) {
                Some(Some(promised)) => is_inserted(&text[value.clone()], *promised),
                Some(None) => false,
                None => promises.is_empty() && judge::is_printed(&text[value.clone()]) && value.len() >= 8,
            };
            found.extend(is_secret.then_some(value));
        }
    }
    *budget = budget.saturating_sub(sql.seen);
    found
}

fn is_inserted(value: &[u8], (naming, promise): Promised) -> bool {
    judge::is_secret(naming, promise, Style::Literal, value) && !judge::is_code(value)
}

/// Reads a statement of SQL, even inside a string of a program.
struct Sql<'text> {
    text: &'text [u8],
    at: usize,
    /// Number of bytes that were read.
    seen: usize,
}

impl Sql<'_> {
    /// The columns in parentheses before `VALUES`.
    fn columns(&mut self) -> Option<Vec<Range<usize>>> {
        let head = &self.text[self.at..self.text.len().min(self.at + 160)];
        let open = head.iter().position(|byte| matches!(byte, b'(' | b';'))?;
        self.at += open;
        if head[..open].windows(6).any(|word| word.eq_ignore_ascii_case(b"values")) {
            return Some(Vec::new());
        }
        let columns = self.tuple()?;
        let rest = &self.text[self.at..self.text.len().min(self.at + 40)];
        let values = rest.windows(6).position(|word| word.eq_ignore_ascii_case(b"values"))?;
        self.at += values + 6;
        Some(columns)
    }

    /// The parts of the next parentheses, if only blanks and a comma precede them.
    fn tuple(&mut self) -> Option<Vec<Range<usize>>> {
        while let Some(byte) = self.text.get(self.at)
            && (byte.is_ascii_whitespace() || matches!(byte, b',' | b'"' | b'\'' | b'+' | b'\\' | b'n' | b'.'))
        {
            self.at += 1;
        }
        if self.text.get(self.at) != Some(&b'(') {
            return None;
        }
        let mut parts = Vec::new();
        let mut depth = 1;
        let mut start = self.at + 1;
        let mut quote = 0;
        for at in self.at + 1..self.text.len() {
            self.seen += 1;
            let byte = self.text[at];
            match byte {
                b'\'' if quote == 0 => quote = byte,
                byte if quote != 0 && byte == quote => quote = 0,
                _ if quote != 0 => {}
                b'(' => depth += 1,
                b',' if depth == 1 => {
                    parts.push(start..at);
                    start = at + 1;
                }
                b')' => {
                    depth -= 1;
                    if depth == 0 {
                        parts.push(start..at);
                        self.at = at + 1;
                        return Some(parts);
                    }
                }
                _ => {}
            }
        }
        None
    }
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
        for (at, word) in lower.match_indices("insert into") {
            found.extend(inserted(text.as_bytes(), &(at..at + word.len()), budget));
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
    fn others_are_left() {
        check("def f(user, password):\n    return user, k3J9xQ7w\n", &[]);
        check("user, password\nbob, k3J9xQ7w\n", &[]);
        check("return password\nlet k3J9xQ7w\n", &[]);
        check("| password | type |\n|---|---|\n| string | k3J9xQ7w |\n", &[]);
        check("<tr><th>password</th><th>x</th></tr><tr><td>words</td><td>k3J9xQ7w</td></tr>", &[]);
    }

    #[test]
    fn inserted_rows() {
        check("INSERT INTO users (name, password) VALUES ('bob', 'k3J9xQ7w');", &["k3J9xQ7w"]);
        check(
            "insert into `u` (`id`,`passwd`,`x`)\nvalues (1,'k3J9xQ7w','a'),\n(2, 'Wq8!xz2K', 'b');",
            &["k3J9xQ7w", "Wq8!xz2K"],
        );
        check("INSERT INTO users (name, password) VALUES (?, ?)", &[]);
        check("INSERT INTO users (name, mail) VALUES ('k3J9xQ7w', 'Wq8!xz2K')", &[]);
        check("INSERT INTO users (name, password) SELECT 'x', 'k3J9xQ7w'", &[]);
    }
}
