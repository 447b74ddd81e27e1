//! Finds secrets in the rows of SQL `INSERT` statements. The names of the columns show which values are
//! secrets.

use std::ops::Range;

use crate::cell::{Promised, promised, trimmed};
use crate::judge::{self, Style};
use crate::lines::REACH;

/// The secrets in the rows of `INSERT INTO table (columns) VALUES (…), (…)`. If the statement names no
/// columns, only values that are certainly secrets are returned.
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

/// Reads an SQL statement, which may be inside a string of a program.
struct Sql<'text> {
    text: &'text [u8],
    at: usize,
    /// The number of bytes that were read.
    seen: usize,
}

impl Sql<'_> {
    /// Reads the columns in parentheses before `VALUES`.
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

    /// Reads the values in the next parentheses, if only blanks and a comma precede them.
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
        let at = lower.find("insert into").expect("a statement");
        let found = inserted(text.as_bytes(), &(at..at + "insert into".len()), &mut 100_000);
        let found: Vec<&str> = found.into_iter().map(|value| &text[value]).collect();
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn secrets_in_inserted_rows_are_found() {
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
