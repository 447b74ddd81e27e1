//! Separates the names of files from the positions in them: `src/server.go:642`, `server.go#L642-L652`.

use std::ops::RangeInclusive;

use crate::identifiers::{is_bare_file, is_file_text};
use crate::members::with_joined_members;
use crate::tokens::{Token, tokenize};

/// Line numbers after the name of a file. The first line is line 1.
pub type Lines = RangeInclusive<u32>;

/// The tokens of a question. The text of a token that names a position in a file is the name of the file. A
/// token that describes a member has the text of its name: "the run method of Worker" is `Worker.run`.
pub(crate) fn tokens_of(question: &str) -> Vec<Token> {
    let mut tokens = tokenize(question);
    for token in &mut tokens {
        if let Some((file, lines)) = file_and_lines(&token.text) {
            (token.text, token.lower, token.lines) = (file.to_owned(), file.to_lowercase(), Some(lines));
        }
    }
    with_joined_members(&tokens)
}

/// The name of a file and the lines in a text that consists of both. `None` for every other text.
pub fn file_and_lines(text: &str) -> Option<(&str, Lines)> {
    let start = text.char_indices().find_map(|(at, _)| {
        let rest = &text[at..];
        let marks = [":L", ":l", ":", "#L", "#l", "("];
        let mark = marks.iter().find(|mark| rest.strip_prefix(**mark).is_some_and(starts_with_digit))?;
        Some((at, mark.len()))
    });
    let (at, length) = start?;
    let (file, position) = (&text[..at], text[at + length..].trim_end_matches([')', ':']));
    (is_file(file) && position.chars().all(|mark| mark.is_ascii_digit() || ":-–,LC".contains(mark)))
        .then(|| Some((file, lines(position)?)))?
}

fn starts_with_digit(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_ascii_digit())
}

/// The directories of programs without an extension.
const DIRECTORIES_OF_PROGRAMS: [&str; 5] = ["bin", "hack", "script", "scripts", "tools"];

/// Whether a text before a position is the name or the path of a file. The name of a program needs no
/// extension: `bin/run:12`. Other texts of this form are tags of images, such as `bitnami/redis:7`.
fn is_file(text: &str) -> bool {
    let is_path = text.chars().all(|letter| letter.is_alphanumeric() || "._-/+@".contains(letter));
    let mut directories = text.split('/').rev().skip(1);
    let is_program = is_path && directories.any(|directory| DIRECTORIES_OF_PROGRAMS.contains(&directory));
    let has_name = text.chars().any(char::is_alphabetic) && !text.ends_with('/');
    has_name && (is_file_text(text) || is_bare_file(text) || is_program)
}

/// The first and the last line of a position. A column is ignored: `642:13` is line 642.
fn lines(position: &str) -> Option<Lines> {
    let number = |text: &str| {
        let digits = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
        text[..digits].parse::<u32>().ok().filter(|line| *line > 0)
    };
    let first = number(position)?;
    let last = position.split(['-', '–']).nth(1).and_then(|last| number(last.trim_start_matches('L')));
    Some(first..=last.filter(|last| *last >= first).unwrap_or(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_separated_from_files() {
        let check = |text: &str, file: &str, expect: Lines| {
            assert_eq!(file_and_lines(text), Some((file, expect)), "{text}");
        };
        check("src/server.go:642", "src/server.go", 642..=642);
        check("server.go:642-652", "server.go", 642..=652);
        check("server.go:642:13", "server.go", 642..=642);
        check("server.go:642:", "server.go", 642..=642);
        check("server.go#L642", "server.go", 642..=642);
        check("src/server.go#L642-L652", "src/server.go", 642..=652);
        check("server.cs(642,7)", "server.cs", 642..=642);
        check("bin/run:12", "bin/run", 12..=12);
        check("Makefile:3", "Makefile", 3..=3);
        check("a.test.ts:L9", "a.test.ts", 9..=9);
        check("server.go:9-3", "server.go", 9..=9);
    }

    #[test]
    fn other_texts_have_no_position() {
        for text in [
            "server.go",
            "localhost:8080",
            "example.com:443",
            "https://example.com/a.py:80",
            "http://localhost:80/a",
            "Foo::bar",
            "items(3)",
            "16:9",
            "server.go:run",
            "src/server.py#Server.run",
            "server.go:0",
            "key:1",
            "bitnami/redis:7",
            "library/postgres:16",
            "f.py:1x",
        ] {
            assert_eq!(file_and_lines(text), None, "{text}");
        }
    }
}
