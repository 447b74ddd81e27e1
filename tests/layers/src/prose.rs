//! Finds the comments and texts of source files: the parts that people read.

use std::path::Path;

/// The form of a text file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    Rust,
    Markdown,
    Python,
    /// A file of which only the comments are read. A comment begins with this mark.
    Comments(&'static str),
}

impl Form {
    /// Returns the form of a file. Returns `None` for data and for unknown files.
    pub(crate) fn of(path: &Path, text: &str) -> Option<Form> {
        let name = path.file_name()?.to_str()?;
        let extension = path.extension().and_then(|extension| extension.to_str());
        match extension {
            Some("rs") => Some(Form::Rust),
            Some("md") => Some(Form::Markdown),
            Some("py") => Some(Form::Python),
            Some("toml" | "yaml" | "env" | "sh" | "txt") => Some(Form::Comments("#")),
            Some("scm") => Some(Form::Comments(";")),
            Some("js" | "go") => Some(Form::Comments("//")),
            Some("sql") => Some(Form::Comments("--")),
            Some(_) => None,
            None if name == "Makefile" => Some(Form::Comments("#")),
            None => {
                let program = text.lines().next().and_then(|line| line.strip_prefix("#!"))?;
                Some(if program.contains("python") { Form::Python } else { Form::Comments("#") })
            }
        }
    }
}

/// A comment line, or a text between quotes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Piece {
    /// The number of its first line. Lines are numbered from 1.
    pub(crate) line: usize,
    pub(crate) text: String,
    pub(crate) is_comment: bool,
}

/// Returns the comments and texts of a file, in order. Blocks of code within comments are left out.
pub(crate) fn pieces(form: Form, text: &str) -> Vec<Piece> {
    match form {
        Form::Rust => without_code_blocks(Scanner::new(text).pieces()),
        Form::Markdown => without_code_blocks(comments(text.lines().enumerate())),
        Form::Python => python(text),
        Form::Comments(mark) => {
            comments(text.lines().enumerate().filter_map(|(index, line)| Some((index, comment(line, mark)?))))
        }
    }
}

fn comments<'a>(lines: impl Iterator<Item = (usize, &'a str)>) -> Vec<Piece> {
    lines.map(|(index, text)| Piece { line: index + 1, text: text.to_owned(), is_comment: true }).collect()
}

/// Removes code blocks, including their fences.
fn without_code_blocks(pieces: Vec<Piece>) -> Vec<Piece> {
    let (mut kept, mut is_code, mut last_line) = (Vec::new(), false, 0);
    for piece in pieces {
        // A code block without a closing fence ends at the end of its comment.
        is_code &= piece.is_comment && piece.line <= last_line + 1;
        last_line = piece.line;
        if piece.is_comment && piece.text.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            kept.push(piece);
        }
    }
    kept
}

/// Returns the comment of a line. A mark between quotes does not begin a comment.
fn comment<'a>(line: &'a str, mark: &str) -> Option<&'a str> {
    let mut quote = None;
    let mut last = ' ';
    for (at, sign) in line.char_indices() {
        if quote.is_none() && last.is_whitespace() && line[at..].starts_with(mark) {
            return Some(line[at..].trim_start_matches(mark).trim_start_matches('!').trim_start());
        }
        match quote {
            Some(open) if open == sign && last != '\\' => quote = None,
            None if sign == '"' || sign == '\'' && !last.is_alphanumeric() => quote = Some(sign),
            _ => {}
        }
        last = sign;
    }
    None
}

/// Returns the comments, the lines of descriptions in triple quotes, and the other texts of a Python source.
/// Other texts in triple quotes are data.
fn python(text: &str) -> Vec<Piece> {
    let (mut pieces, mut is_long, mut is_description) = (Vec::new(), false, false);
    for (index, line) in text.lines().enumerate() {
        let mut piece = |text: &str, is_comment| {
            pieces.push(Piece { line: index + 1, text: text.to_owned(), is_comment });
        };
        // A triple quote between single quotes does not begin a text.
        let line = line.replace("'\"\"\"'", "");
        let num_marks = line.matches("\"\"\"").count();
        is_description =
            if is_long { is_description } else { line.trim_start().starts_with("\"\"\"") && line.trim() != "\"\"\"" };
        if is_description {
            piece(line.trim().trim_matches('"'), true);
        } else if num_marks == 0 && !is_long {
            let comment = comment(&line, "#");
            let code = comment.map_or(line.as_str(), |comment| &line[..line.len() - comment.len()]);
            code.split('"').skip(1).step_by(2).for_each(|text| piece(text, false));
            comment.into_iter().for_each(|comment| piece(comment, true));
        }
        is_long ^= num_marks % 2 == 1;
    }
    pieces
}

/// Reads the comments and texts of a Rust source.
struct Scanner {
    signs: Vec<char>,
    at: usize,
    line: usize,
    pieces: Vec<Piece>,
}

impl Scanner {
    fn new(text: &str) -> Self {
        Self { signs: text.chars().collect(), at: 0, line: 1, pieces: Vec::new() }
    }

    fn pieces(mut self) -> Vec<Piece> {
        let mut is_in_word = false;
        while let Some(sign) = self.peek(0) {
            match sign {
                '/' if self.peek(1) == Some('/') => self.line_comment(),
                '/' if self.peek(1) == Some('*') => self.block_comment(),
                '"' => self.text(),
                'r' if !is_in_word && self.num_hashes().is_some() => self.raw_text(),
                '\'' => self.letter_or_lifetime(),
                _ => {
                    self.next();
                }
            }
            is_in_word = sign == '_' || (sign.is_alphanumeric() && (is_in_word || !matches!(sign, 'b' | 'c')));
        }
        self.pieces
    }

    fn peek(&self, offset: usize) -> Option<char> {
        self.signs.get(self.at + offset).copied()
    }

    fn next(&mut self) -> Option<char> {
        let sign = self.peek(0)?;
        self.at += 1;
        self.line += usize::from(sign == '\n');
        Some(sign)
    }

    fn add(&mut self, line: usize, text: String, is_comment: bool) {
        self.pieces.push(Piece { line, text, is_comment });
    }

    fn line_comment(&mut self) {
        let (start, line) = (self.at, self.line);
        while self.peek(0).is_some_and(|sign| sign != '\n') {
            self.next();
        }
        let comment: String = self.signs[start..self.at].iter().collect();
        self.add(line, comment.trim_start_matches(['/', '!']).trim_start().to_owned(), true);
    }

    fn block_comment(&mut self) {
        let (mut line, mut text) = (self.line, String::new());
        self.next();
        while let Some(sign) = self.next() {
            let is_end = sign == '*' && self.peek(0) == Some('/');
            if sign == '\n' || is_end {
                self.add(line, std::mem::take(&mut text).trim().to_owned(), true);
                line = self.line;
            } else if sign != '*' {
                text.push(sign);
            }
            if is_end {
                self.next();
                return;
            }
        }
    }

    /// Reads a text between quotes. A backslash at the end of a line joins this line with the next line. A
    /// text that contains line breaks without a backslash is data, for example a list of names.
    fn text(&mut self) {
        let (line, mut text, mut is_data) = (self.line, String::new(), false);
        self.next();
        while let Some(sign) = self.next() {
            match sign {
                '"' => break,
                '\\' => match self.next() {
                    Some('\n') => {
                        while self.peek(0).is_some_and(char::is_whitespace) {
                            self.next();
                        }
                    }
                    Some('n') => text.push('\n'),
                    Some(escaped @ ('"' | '\\' | '\'')) => text.push(escaped),
                    _ => text.push(' '),
                },
                _ => {
                    is_data |= sign == '\n';
                    text.push(sign);
                }
            }
        }
        if !is_data {
            self.add(line, text, false);
        }
    }

    /// Returns the number of `#` before the quote of a raw text that begins here.
    fn num_hashes(&self) -> Option<usize> {
        let num_hashes = self.signs[self.at + 1..].iter().take_while(|sign| **sign == '#').count();
        (self.peek(1 + num_hashes) == Some('"')).then_some(num_hashes)
    }

    /// Skips a raw text, because it is a pattern or an input of a test.
    fn raw_text(&mut self) {
        let num_hashes = self.num_hashes().expect("a raw text");
        (0..num_hashes + 2).for_each(|_| {
            self.next();
        });
        while let Some(sign) = self.next() {
            if sign == '"' && (0..num_hashes).all(|offset| self.peek(offset) == Some('#')) {
                return;
            }
        }
    }

    fn letter_or_lifetime(&mut self) {
        let is_escape = self.peek(1) == Some('\\');
        self.next();
        if is_escape {
            self.next();
            self.next();
            while self.next().is_some_and(|sign| sign != '\'') {}
        } else if self.peek(1) == Some('\'') {
            self.next();
            self.next();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(form: Form, text: &str, expect: &[(usize, &str)]) {
        let found = pieces(form, text);
        let found: Vec<(usize, &str)> = found.iter().map(|piece| (piece.line, piece.text.as_str())).collect();
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn comments_and_texts_of_rust_are_found() {
        check(Form::Rust, "//! One.\nlet a = 1; // Two.\n", &[(1, "One."), (2, "Two.")]);
        check(
            Form::Rust,
            "f(\"one // two\"); g('\"'); h('\\''); let b: &'a str; // End.",
            &[(1, "one // two"), (1, "End.")],
        );
        check(Form::Rust, "f(\n    \"one \\\n     two\",\n);\n// End.", &[(2, "one two"), (5, "End.")]);
        check(Form::Rust, "f(\"\n  one two\n\"); // End.", &[(3, "End.")]);
        check(Form::Rust, "let a = r#\"no \"text\" //\"#; let b = br\"no\"; // End.", &[(1, "End.")]);
        check(Form::Rust, "/* One.\n * Two. */ f(\"three\")", &[(1, "One."), (2, "Two."), (2, "three")]);
        check(Form::Rust, "/// ```\n/// code\n/// ```\n/// End.", &[(4, "End.")]);
        check(Form::Rust, "/// ```\nfn f() {}\n/// End.", &[(3, "End.")]);
        check(Form::Rust, "for_each(\"text\"); let r = 1; // End.", &[(1, "text"), (1, "End.")]);
    }

    #[test]
    fn comments_and_texts_of_other_files_are_found() {
        check(
            Form::Comments("#"),
            "#!/bin/sh\n# One.\nrun \"# no\" # Two.\necho don't # Three.",
            &[(1, "/bin/sh"), (2, "One."), (3, "Two."), (4, "Three.")],
        );
        check(Form::Comments(";"), "; One.\n(a \";\" @b) ; Two.", &[(1, "One."), (2, "Two.")]);
        check(
            Form::Python,
            "\"\"\"One.\n\nTwo.\n\"\"\"\nadd(help=\"three\")  # Four.\nx = f(\"five\")",
            &[(1, "One."), (2, ""), (3, "Two."), (4, ""), (5, "three"), (5, "Four."), (6, "five")],
        );
        check(Form::Python, "split(\n    \"\"\"\n    one two\n\"\"\")\nf('\"\"\"')  # End.", &[(5, "End.")]);
        check(Form::Python, "NAMES = \"\"\"\none two\n\"\"\"\nf(b\"#\")", &[(4, "#")]);
        check(Form::Markdown, "One.\n```\ncode\n```\nTwo.", &[(1, "One."), (5, "Two.")]);
    }
}
