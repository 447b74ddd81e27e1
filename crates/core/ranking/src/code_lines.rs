//! Reads the identifiers and the string literals of a text of any language, without its comments.
//!
//! The rules are approximate, because a text is a part of a file and may begin within a comment or a literal.
//! They need to be right only in most lines: the results are compared among many chunks.

use crate::words;

/// A line that begins with one of these strings is a comment.
const COMMENT: [&str; 8] = ["//", "/*", "*", "#", "--", ";;", "{-", "%"];
/// The quotes that begin and end a docstring, or a literal of several lines.
const LONG_QUOTES: [&str; 2] = ["\"\"\"", "'''"];
/// Lines with one of these beginnings are not comments, although they begin with `#`.
const DIRECTIVES: [&str; 6] = ["#include", "#define", "#if", "#el", "#pragma", "#["];

/// The lines of a text that are not comments.
pub(crate) fn code_lines(text: &str) -> impl Iterator<Item = &str> {
    // The quotes that end the open docstring or literal, and whether it is a docstring.
    let mut open: Option<(&str, bool)> = None;
    text.lines().filter(move |line| {
        let line = line.trim_start();
        let is_odd = |signs: &&str| line.matches(*signs).count() % 2 == 1;
        if let Some((end, is_docstring)) = open {
            if is_odd(&end) {
                open = None;
            }
            return !is_docstring;
        }
        if let Some(begin) = LONG_QUOTES.into_iter().find(|begin| line.starts_with(begin)) {
            open = is_odd(&begin).then_some((begin, true));
            return false;
        }
        let is_directive = DIRECTIVES.iter().any(|directive| line.starts_with(directive));
        let is_code = is_directive || !COMMENT.iter().any(|comment| line.starts_with(comment));
        if is_code {
            open = LONG_QUOTES.into_iter().find(is_odd).map(|begin| (begin, false));
        }
        is_code
    })
}

/// Number of words in the string literals of a line. Literals of one character are not counted. The time is
/// linear in the length of the line.
pub(crate) fn words_in_literals(line: &str) -> u64 {
    let bytes = line.as_bytes();
    let (mut count, mut position) = (0, 0);
    let mut quotes = vec![b'"', b'\'', b'`'];
    while position < bytes.len() {
        let quote = bytes[position];
        let is_quote = quotes.contains(&quote);
        let end = if is_quote { end_of_literal(bytes, position) } else { None };
        match end {
            Some(end) => {
                // A short text in single quotes is usually a character. Quotes are ASCII characters, so both
                // ends of the literal are boundaries of characters.
                let least = if quote == b'\'' { 3 } else { 2 };
                let literal = &line[position + 1..end];
                if literal.len() >= least {
                    words(literal, |_| count += 1);
                }
                position = end + 1;
            }
            None => {
                if is_quote {
                    // The rest of the line contains no quote that could end a literal with this quote.
                    quotes.retain(|other| *other != quote);
                }
                position += 1;
            }
        }
    }
    count
}

/// The position of the quote that ends the literal.
fn end_of_literal(bytes: &[u8], start: usize) -> Option<usize> {
    let quote = bytes[start];
    let mut position = start + 1;
    while position < bytes.len() {
        match bytes[position] {
            b'\\' if quote != b'`' => position += 2,
            byte if byte == quote => return Some(position),
            _ => position += 1,
        }
    }
    None
}

/// Calls `identifier` with each identifier of a line.
pub(crate) fn identifiers<'a>(line: &'a str, identifier: impl FnMut(&'a str)) {
    let is_separator = |character: char| !character.is_ascii_alphanumeric() && !matches!(character, '_' | '$');
    line.split(is_separator).filter(|part| !part.is_empty()).for_each(identifier);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_docstrings_are_left_out() {
        let check = |text: &str, expect: &[&str]| assert_eq!(code_lines(text).collect::<Vec<_>>(), expect, "{text}");
        check("// one\nfn two() {\n    /* three */\n}", &["fn two() {", "}"]);
        check("def f():\n    \"\"\"One.\n\n    Two.\n    \"\"\"\n    return 1", &["def f():", "    return 1"]);
        check("'''One.'''\nx = 1", &["x = 1"]);
        check("#include <a.h>\n# comment\n#[test]", &["#include <a.h>", "#[test]"]);
        check("-- one\nlocal a = 1", &["local a = 1"]);
        check("", &[]);
    }

    #[test]
    fn code_after_a_long_literal_is_code() {
        let check = |text: &str, expect: &[&str]| assert_eq!(code_lines(text).collect::<Vec<_>>(), expect, "{text}");
        let query = "SQL = \"\"\"\nselect 1\n# two\n\"\"\"\nrun_query(SQL)";
        check(query, &["SQL = \"\"\"", "select 1", "# two", "\"\"\"", "run_query(SQL)"]);
        check("a = '''one'''\n# two\nb()", &["a = '''one'''", "b()"]);
    }

    #[test]
    fn line_of_quotes_takes_linear_time() {
        assert_eq!(words_in_literals(&"\\\"".repeat(1_000_000)), 0);
        assert_eq!(words_in_literals(&format!("{}'open file'", "\\\"".repeat(1_000_000))), 2);
    }

    #[test]
    fn words_of_literals_are_counted() {
        let check = |line: &str, expect: u64| assert_eq!(words_in_literals(line), expect, "{line}");
        check("print(\"cannot open file\")", 3);
        check("a = 'it' + \"is\" + `so far`", 3);
        check("if c == 'x' || c == '\\n'", 0);
        check("\"with \\\" quote\" + \"\"", 2);
        check("it's one apostrophe", 0);
        check("let größe = \"größe\";", 2);
        check("", 0);
    }

    #[test]
    fn identifiers_are_whole_names() {
        let mut found = Vec::new();
        identifiers("self.open_file($path, größe)", |identifier| found.push(identifier));
        assert_eq!(found, ["self", "open_file", "$path", "gr", "e"]);
    }
}
