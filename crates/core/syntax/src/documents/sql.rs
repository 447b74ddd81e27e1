//! Finds the statements of SQL, and the tables, views and routines that they create.
//!
//! The scanner divides the text at semicolons outside of strings, comments, dollar quotes and the bodies of
//! routines. The scanner recognises `DELIMITER`, `GO`, `/` and the data of `COPY … FROM stdin`. The scanner
//! does not implement the grammar of any dialect.

use cairn_domain::{Symbol, SymbolKind, Visibility};

use super::blocks::Block;
use super::inline::{fold, shortened};
use crate::chunker::{Lines, Rows};

const LONGEST_SIGNATURE: usize = 300;
/// Only this many bytes at the beginning of a statement are searched for its kind and name.
const HEAD_BYTES: usize = 1_000;

pub(super) fn blocks(lines: &Lines<'_>, text: &str) -> (Vec<Block>, Vec<Symbol>) {
    let (mut blocks, mut symbols): (Vec<Block>, Vec<Symbol>) = (Vec::new(), Vec::new());
    for (start, end) in statements(lines, text) {
        let rows = Rows::new(lines.row_at(start), lines.row_at(end.saturating_sub(1).max(start)) + 1);
        if let Some(last) = blocks.last_mut().filter(|last| last.rows.end > rows.start) {
            last.rows.end = last.rows.end.max(rows.end);
            continue;
        }
        let head = &text[start..text.floor_char_boundary(end.min(start + HEAD_BYTES))];
        let mut block = Block::new(rows.start, rows.end, 0, statement_name(head));
        if let Some(created) = created(head) {
            block.symbol = Some(symbols.len() as u32);
            block.name = created.name.to_owned();
            symbols.push(symbol(lines, rows, head, &created));
        }
        blocks.push(block);
    }
    (blocks, symbols)
}

/// For each statement, the offset of its first byte and the offset of the end of its terminator.
fn statements(lines: &Lines<'_>, text: &str) -> Vec<(usize, usize)> {
    let mut scanner = Scanner { text, found: Vec::new(), start: None, routine: Routine::default(), delimiter: None };
    let mut at = 0;
    while at < text.len() {
        at = scanner.step(lines, at);
    }
    scanner.end(text.len());
    scanner.found
}

/// Tracks whether a statement is inside the body of a routine, where semicolons do not end the statement.
#[derive(Default)]
struct Routine {
    /// The number of words of the statement so far. Only the first few words are counted.
    num_words: usize,
    is_create: bool,
    is_routine: bool,
    /// The number of open `BEGIN` and `CASE` constructs.
    depth: usize,
    /// Whether the last word was `END`.
    after_end: bool,
}

struct Scanner<'t> {
    text: &'t str,
    found: Vec<(usize, usize)>,
    start: Option<usize>,
    routine: Routine,
    /// The delimiter that a `DELIMITER` directive has set.
    delimiter: Option<&'t str>,
}

impl<'t> Scanner<'t> {
    /// Reads one word, string, comment or mark. Returns the offset after this element.
    fn step(&mut self, lines: &Lines<'t>, at: usize) -> usize {
        let bytes = self.text.as_bytes();
        let rest = &bytes[at..];
        let is_row_start = at == 0 || bytes[at - 1] == b'\n';
        if is_row_start && let Some(end) = self.directive(lines, at) {
            return end;
        }
        if let Some(delimiter) = self.delimiter.filter(|delimiter| rest.starts_with(delimiter.as_bytes())) {
            self.end(at + delimiter.len());
            return at + delimiter.len();
        }
        if let Some(end) = comment_end(rest) {
            return at + end;
        }
        if rest[0].is_ascii_whitespace() {
            return at + 1;
        }
        self.start.get_or_insert(at);
        match rest[0] {
            quote @ (b'\'' | b'"' | b'`') => at + string_length(rest, quote),
            b'$' => at + dollar_quote_length(rest).unwrap_or(1),
            b';' if self.delimiter.is_none() && self.routine.depth == 0 => {
                self.end(at + 1);
                after_copy_data(self.text, self.found.last().copied(), at + 1)
            }
            first if is_word(first) => {
                let length = rest.iter().take_while(|&&byte| is_word(byte)).count();
                self.routine.word(&rest[..length]);
                at + length
            }
            _ => {
                self.routine.after_end &= rest[0] != b';';
                at + 1
            }
        }
    }

    /// Reads a row that contains only `DELIMITER //`, `GO` or `/`. Returns the end of the row.
    fn directive(&mut self, lines: &Lines<'t>, at: usize) -> Option<usize> {
        let row = lines.row(lines.row_at(at));
        let text = row.trim_ascii();
        let mut words = text.split_ascii_whitespace();
        let first = words.next()?;
        if first.eq_ignore_ascii_case("delimiter") {
            self.end(at);
            self.delimiter = words.next().filter(|&delimiter| delimiter != ";");
            return Some(at + row.len());
        }
        let is_end = text == "/" || text.eq_ignore_ascii_case("go");
        is_end.then(|| {
            self.end(at + row.trim_ascii_end().len());
            at + row.len()
        })
    }

    fn end(&mut self, end: usize) {
        if let Some(start) = self.start.take() {
            self.found.push((start, end));
        }
        self.routine = Routine::default();
    }
}

impl Routine {
    fn word(&mut self, word: &[u8]) {
        let is = |known: &str| word.eq_ignore_ascii_case(known.as_bytes());
        self.num_words += 1;
        if self.num_words == 1 {
            self.is_create = is("create") || is("alter");
        } else if self.num_words < 8 && self.is_create {
            self.is_routine |= is("function") || is("procedure") || is("trigger") || is("event");
        }
        // `END IF` and `END LOOP` end constructs whose beginning was not counted. Therefore the decrement for
        // `END` is reversed.
        if self.after_end && (is("if") || is("loop") || is("while") || is("repeat") || is("for")) {
            self.depth += 1;
        }
        self.after_end = is("end") && self.depth > 0;
        if self.after_end {
            self.depth -= 1;
        } else if self.is_routine && (is("begin") || (is("case") && self.depth > 0)) {
            self.depth += 1;
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn comment_end(rest: &[u8]) -> Option<usize> {
    if rest.starts_with(b"--") {
        return Some(memchr::memchr(b'\n', rest).unwrap_or(rest.len()));
    }
    // `/*! … */` contains statements for MySQL. These statements are read as comments, because they are not
    // needed here.
    let body = rest.strip_prefix(b"/*")?;
    Some(memchr::memmem::find(body, b"*/").map_or(rest.len(), |end| end + 4))
}

/// The length of a string with its quotes. If the string is not closed, it extends to the end of the text. A
/// doubled quote is read as the end of one string and the start of the next string.
fn string_length(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while let Some(found) = memchr::memchr2(quote, b'\\', &rest[at..]) {
        at += found + 1;
        if rest[at - 1] == quote {
            return at;
        }
        // A backslash is an escape only in MySQL. The scanner reads a backslash as an escape if the quote
        // after the backslash cannot be the end of the string.
        let escapes_quote = rest.get(at) == Some(&quote) && !ends_value(rest.get(at + 1));
        at = (at + usize::from(escapes_quote)).min(rest.len());
    }
    rest.len()
}

fn ends_value(after: Option<&u8>) -> bool {
    after.is_none_or(|byte| byte.is_ascii_whitespace() || matches!(byte, b',' | b')' | b';'))
}

/// The length of a dollar quote: `$$ … $$` or `$tag$ … $tag$`.
fn dollar_quote_length(rest: &[u8]) -> Option<usize> {
    let tag = rest[1..].iter().take(64).take_while(|&&byte| is_word(byte)).count();
    let mark = rest.get(..tag + 2).filter(|mark| mark.ends_with(b"$"))?;
    let end = memchr::memmem::find(&rest[mark.len()..], mark);
    Some(end.map_or(rest.len(), |end| end + 2 * mark.len()))
}

/// Skips the rows after `COPY … FROM stdin;`, which are data up to the row `\.`.
fn after_copy_data(text: &str, statement: Option<(usize, usize)>, at: usize) -> usize {
    let Some((start, end)) = statement else { return at };
    let head = &text.as_bytes()[start..end.min(start + HEAD_BYTES)];
    let is_copy = head.get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"copy ")) && head.ends_with(b"stdin;");
    if !is_copy {
        return at;
    }
    memchr::memmem::find(&text.as_bytes()[at..], b"\n\\.").map_or(text.len(), |end| at + end + 3)
}

/// The object that a statement creates.
struct Created<'t> {
    kind: SymbolKind,
    name: &'t str,
}

/// Reads the kind and the name from `CREATE [OR REPLACE …] TABLE [IF NOT EXISTS] schema.name`.
fn created(head: &str) -> Option<Created<'_>> {
    let mut words = head.split(|mark: char| mark.is_whitespace() || mark == '(').filter(|word| !word.is_empty());
    if !words.next()?.eq_ignore_ascii_case("create") {
        return None;
    }
    let kind = words.by_ref().take(8).find_map(|word| kind_of(&word.to_ascii_lowercase()))?;
    let is_clause =
        |word: &&str| ["if", "not", "exists", "body"].iter().any(|clause| word.eq_ignore_ascii_case(clause));
    let name = words.find(|word| !is_clause(word))?.trim_end_matches(';');
    (!name.is_empty()).then_some(Created { kind, name })
}

fn kind_of(word: &str) -> Option<SymbolKind> {
    match word {
        "table" | "view" => Some(SymbolKind::Struct),
        "type" | "domain" => Some(SymbolKind::Type),
        "function" | "procedure" | "trigger" => Some(SymbolKind::Function),
        "schema" | "package" | "database" => Some(SymbolKind::Module),
        _ => None,
    }
}

fn symbol(lines: &Lines<'_>, rows: Rows, head: &str, created: &Created<'_>) -> Symbol {
    let unquoted = created.name.replace(['"', '`', '[', ']'], "");
    let (first, doc) = doc_above(lines, rows.start);
    let offset = created.name.as_ptr() as usize - head.as_ptr() as usize;
    Symbol {
        name: unquoted.rsplit('.').next().unwrap_or_default().to_owned(),
        qualified_name: unquoted,
        kind: created.kind,
        span: Rows::new(first, rows.end).span(),
        name_line: (rows.start + head[..offset].matches('\n').count()) as u32 + 1,
        signature: signature(head, created.kind),
        doc,
        decorators: Vec::new(),
        parent: None,
        visibility: Visibility::Public,
        exported: true,
        is_test: false,
    }
}

/// The signature of an object. The signature of a routine includes the parameters. The signature of any other
/// object ends before the first bracket.
fn signature(head: &str, kind: SymbolKind) -> String {
    let upper = head.to_ascii_uppercase();
    let word = |word: &str| {
        let is_alone = |at: usize| {
            upper[..at].ends_with(char::is_whitespace)
                && upper[at + word.len()..].starts_with(|next: char| next.is_whitespace() || next == '$')
        };
        upper.match_indices(word).map(|(at, _)| at).find(|&at| is_alone(at))
    };
    let end = match kind {
        SymbolKind::Function => [word("AS"), word("BEGIN"), word("IS"), upper.find('$')].into_iter().flatten().min(),
        _ => [upper.find('('), upper.find(';'), word("AS")].into_iter().flatten().min(),
    };
    shortened(&fold(&head[..end.unwrap_or(head.len())]), LONGEST_SIGNATURE)
}

/// The maximum number of rows of a block comment above a statement.
const LONGEST_COMMENT: usize = 60;

/// The first row and the text of the comment directly above a statement.
fn doc_above(lines: &Lines<'_>, row: usize) -> (usize, Option<String>) {
    let mut first = row;
    if row > 0 && lines.row(row - 1).trim_ascii_end().ends_with("*/") {
        let above = (row.saturating_sub(LONGEST_COMMENT)..row).rev();
        first = above.into_iter().find(|&row| lines.row(row).trim_ascii_start().starts_with("/*")).unwrap_or(row);
    } else {
        while first > 0 && lines.row(first - 1).trim_ascii_start().starts_with("--") {
            first -= 1;
        }
    }
    let marks: &[char] = &['-', '/', '*', ' ', '\t', '\r', '\n'];
    let rows = (first..row).map(|row| lines.row(row).trim_matches(marks));
    let doc = rows.collect::<Vec<_>>().join("\n").trim().to_owned();
    (first, (!doc.is_empty()).then_some(doc))
}

/// The first words of a statement, such as `INSERT INTO users`.
fn statement_name(head: &str) -> String {
    let words: Vec<_> =
        head.split(|mark: char| mark.is_whitespace() || mark == '(').filter(|word| !word.is_empty()).take(3).collect();
    shortened(words.join(" ").trim_end_matches([';', '=', ' ']), 80)
}
