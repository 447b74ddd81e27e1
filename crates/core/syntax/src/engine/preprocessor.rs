//! Blanks out the macros that the C preprocessor would remove, before the text is parsed.
//!
//! The grammar parses the text without preprocessing. So macros in a few forms cause parse errors around most
//! declarations of a header. The forms are `extern "C" {` in an `#if` for C++, a line that is only
//! `__BEGIN_DECLS`, and `API_EXPORT int f(void);`. The macros of the last two forms are written in capital
//! letters, at places where the grammar allows no other name. Therefore these macros can be recognised by
//! their form alone. The blanks have the same length as the text that they replace. So positions remain
//! valid, and facts are read from the original text.

use std::borrow::Cow;

/// Words that can precede a declaration, but are neither types nor names.
const SPECIFIERS: &[&str] = &[
    "static",
    "extern",
    "inline",
    "const",
    "volatile",
    "register",
    "typedef",
    "struct",
    "enum",
    "union",
    "class",
    "return",
    "else",
    "goto",
    "case",
    "new",
    "delete",
    "virtual",
    "friend",
    "using",
    "typename",
    "template",
    "public",
    "private",
    "protected",
    "constexpr",
    "explicit",
    "throw",
    "unsigned",
    "signed",
    "namespace",
    "operator",
];

const PRIMITIVES: &[&str] = &["int", "void", "char", "bool", "long", "short", "double", "float"];

/// Returns the text with blanks instead of the macros whose forms are listed at the top of this file.
pub(super) fn blank_macros(text: &str) -> Cow<'_, str> {
    let mut blanks: Vec<(usize, usize)> = Vec::new();
    let mut lines = Lines { text, at: 0 };
    let mut before = "";
    while let Some((start, line)) = lines.next() {
        let code = line.trim();
        if is_cpp_guard(code)
            && let Some(end) = end_of_guarded_linkage(lines.clone())
        {
            blanks.push((start, end));
            lines.at = end;
            continue;
        }
        if is_macro_name(code) {
            if ends_statement(before) && starts_statement(lines.clone()) {
                blanks.push((start, start + line.len()));
            }
        } else {
            add_modifiers(start, line, &mut blanks);
        }
        if !code.is_empty() {
            before = code;
        }
    }
    blank(text, &blanks)
}

fn blank<'t>(text: &'t str, ranges: &[(usize, usize)]) -> Cow<'t, str> {
    if ranges.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut blanked = String::with_capacity(text.len());
    let mut at = 0;
    for (start, end) in ranges {
        blanked.push_str(&text[at..*start]);
        blanked.extend(
            text[*start..*end].bytes().map(|byte| if matches!(byte, b'\n' | b'\r') { byte as char } else { ' ' }),
        );
        at = *end;
    }
    blanked.push_str(&text[at..]);
    Cow::Owned(blanked)
}

#[derive(Clone)]
struct Lines<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Iterator for Lines<'t> {
    type Item = (usize, &'t str);

    fn next(&mut self) -> Option<(usize, &'t str)> {
        let rest = &self.text[self.at..];
        if rest.is_empty() {
            return None;
        }
        let end = memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
        let start = self.at;
        self.at = (start + end + 1).min(self.text.len());
        Some((start, &rest[..end]))
    }
}

fn is_cpp_guard(code: &str) -> bool {
    code.starts_with("#if") && code.contains("__cplusplus") && !code.contains('>') && !code.starts_with("#ifndef")
}

/// The end of the line of the `#endif`, if the lines before it only open or close `extern "C"`. Otherwise
/// None.
fn end_of_guarded_linkage(mut lines: Lines<'_>) -> Option<usize> {
    loop {
        let (start, line) = lines.next()?;
        let code = line.trim();
        if code.starts_with("#endif") {
            return Some(start + line.len());
        }
        let brace = code.strip_prefix("extern \"C\"").unwrap_or(code).trim_start();
        let rest = brace.strip_prefix(['{', '}']).unwrap_or(brace).trim_start();
        if !(rest.is_empty() || rest.starts_with("//") || rest.starts_with("/*") && rest.ends_with("*/")) {
            return None;
        }
    }
}

/// Whether the word has the form of a macro such as `__BEGIN_DECLS` or `Q_OBJECT`: at least four characters,
/// each of which is a capital letter, a digit or an underscore.
fn is_macro_name(word: &str) -> bool {
    word.len() >= 4
        && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
        && word.bytes().any(|byte| byte.is_ascii_uppercase())
        && !word.starts_with(|first: char| first.is_ascii_digit())
}

/// Whether a new declaration can begin on the line after this line.
fn ends_statement(line: &str) -> bool {
    line.is_empty() || line.starts_with('#') || line.ends_with([';', '{', '}', ':']) || line.ends_with("*/")
}

/// Whether the next non-empty line begins a separate declaration. A line that is a name with parameters does
/// not begin a separate declaration, because the macro could be the type of that name. A line that ends a
/// list does not begin a separate declaration either, because the list may contain the macro.
fn starts_statement(lines: Lines<'_>) -> bool {
    let Some((_, line)) = lines.into_iter().find(|(_, line)| !line.trim().is_empty()) else { return true };
    let code = line.trim_start();
    let (word, rest) = split_word(code);
    match word {
        "" => code.starts_with(['#', '/', '[', '~']),
        _ => !rest.trim_start().starts_with(['(', ',', '=', ':']) || matches!(word, "public" | "private" | "protected"),
    }
}

/// Adds the macros among the words at the beginning of a declaration: before its type, before its name, or
/// before the name of a class.
fn add_modifiers(start: usize, line: &str, blanks: &mut Vec<(usize, usize)>) {
    let mut code = line.trim_start();
    let mut push = |word: &str| {
        let at = start + (word.as_ptr() as usize - line.as_ptr() as usize);
        blanks.push((at, at + word.len()));
    };
    loop {
        let (first, rest) = split_word(code);
        let (second, after_second) = split_word(rest.trim_start());
        if first.is_empty() || second.is_empty() {
            return;
        }
        let third = split_word(after_second.trim_start_matches([' ', '\t', '*', '&'])).0;
        let opens_type = SPECIFIERS.contains(&second) || PRIMITIVES.contains(&second);
        if is_macro_name(first) && (opens_type || !third.is_empty()) {
            push(first);
            code = rest.trim_start();
            continue;
        }
        let names_class = matches!(first, "class" | "struct") && third != "final";
        if is_macro_name(second) && !third.is_empty() && (names_class || !SPECIFIERS.contains(&first)) {
            push(second);
        }
        return;
    }
}

fn split_word(code: &str) -> (&str, &str) {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let end = code.bytes().position(|byte| !is_name(byte)).unwrap_or(code.len());
    code.split_at(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        assert_eq!(blank_macros(text), expect);
    }

    #[test]
    fn macros_are_blanked() {
        check(
            "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint f;\n",
            "                  \n            \n      \nint f;\n",
        );
        check("__BEGIN_DECLS\n\nint f(void);\n", "             \n\nint f(void);\n");
        check("class A {\n  Q_OBJECT\n public:\n", "class A {\n          \n public:\n");
        check("API_EXPORT int f(void);", "           int f(void);");
        check("ZEXTERN int ZEXPORT f(int a);", "        int         f(int a);");
        check("SQLITE_API row_id last(void);", "           row_id last(void);");
        check("class CORE_API Widget : Base {", "class          Widget : Base {");
    }

    #[test]
    fn words_that_are_no_macros_are_not_blanked() {
        for text in [
            "enum color {\n    GREEN\n};\n",
            "enum color {\n    GREEN,\n    BLACK\n};\n",
            "BOOL\nis_open(int a)\n{\n}\n",
            "BOOL is_open(int a);",
            "static VALUE name(VALUE self);",
            "struct LIST {",
            "class LIST final {",
            "FILE *open(void);",
            "int x = ALPHA\n    BETA;\n",
            "#ifdef __cplusplus\nclass A;\n#endif\n",
            "#define MAX_SIZE 3\n",
        ] {
            check(text, text);
        }
    }
}
