//! Finds passwords in the arguments of calls: `NetworkCredential("bob", "…")`, `getConnection(url, "bob",
//! "…")`, `find("password").sendKeys("…")`, `"…".equals(password)`.

use std::ops::Range;

use crate::before::line_before;
use crate::cursor::Cursor;
use crate::data::is_strong_choice;
use crate::judge::{self, Style};
use crate::name::name_end;
use crate::shape::{Shape, contains_ignoring_case};

/// Calls and tuples for basic authentication.
pub(crate) static AUTH_CALLS: &[&str] = &["auth=(", "auth = (", "basicauth(", "basic_auth("];

/// Other calls whose second or later argument is a password.
pub(crate) static CREDENTIAL_CALLS: &[&str] = &[
    "basic_auth ",
    "login(",
    "getconnection(",
    "mysqli_connect(",
    "mysqli(",
    "new pdo(",
    "dbi->connect(",
    "set_password(",
    "wifi.begin(",
    "credential",
    "passwordauthentication(",
    "basicauthentication(",
    "password_verify(",
    "login_user(",
    "pymysql.connect(",
    ".open \"",
];

/// Calls that write a text into a field, or compare a text with the value of a field. The name of the field
/// is in a different part of the same line.
const FIELD_CALLS: [&[u8]; 15] = [
    b"sendKeys(",
    b"SendKeys(",
    b"send_keys(",
    b".type(",
    b".fill(",
    b"fill_in ",
    b"fill_in(",
    b"setValue(",
    b"assertEquals(",
    b"assertEqual(",
    b"assert_equal",
    b"assert_eq!(",
    b"isEqualTo(",
    b".toBe(",
    b".toEqual(",
];

/// Maximum number of arguments that are read.
const MOST_ARGUMENTS: usize = 6;

/// Maximum length of the arguments, and of the part of the line before the call, in bytes.
const REACH: usize = 320;

/// The passwords in the arguments of a call whose name indicates a credential.
pub(crate) fn credentials(text: &[u8], hit: &Range<usize>, budget: &mut usize) -> Vec<Range<usize>> {
    let Some(start) = arguments_start(text, hit) else { return Vec::new() };
    let mut found = literals(text, start, budget);
    found.retain(|(index, value)| *index > 0 && is_argument(&text[value.clone()]));
    found.into_iter().map(|(_, value)| value).collect()
}

/// The passwords in the calls on a line that contains the name of a password at `hit`.
pub(crate) fn fields(text: &[u8], hit: &Range<usize>, budget: &mut usize) -> Vec<Range<usize>> {
    let Some(name) = password_word(text, hit.start) else { return Vec::new() };
    let before = line_before(text, hit.start);
    let after = &text[name..text.len().min(name + REACH)];
    let after = &after[..after.iter().position(|byte| *byte == b'\n').unwrap_or(after.len())];
    let line = hit.start - before.len()..name + after.len();
    *budget = budget.saturating_sub(line.len());
    if *budget == 0 || !text[line.clone()].iter().any(|byte| matches!(byte, b'"' | b'\'' | b'`')) {
        return Vec::new();
    }
    let mut found = compared(text, &line, name);
    if let Some(start) = call_on(text, &line) {
        found.extend(literals(text, start, budget).into_iter().map(|(_, value)| value));
    }
    // A literal that contains the name of the field is not the text that is written into the field.
    found.retain(|value| {
        (value.start >= name || value.end <= hit.start) && value.end <= line.end && is_argument(&text[value.clone()])
    });
    found
}

/// The end of the word `passw`, `pwd` or `passphrase`, if one of them begins at `at`.
fn password_word(text: &[u8], at: usize) -> Option<usize> {
    let rest = &text[at..];
    let is_word = |word: &[u8]| rest.len() >= word.len() && rest[..word.len()].eq_ignore_ascii_case(word);
    [b"passw".as_slice(), b"pwd", b"passphrase"].into_iter().find(|word| is_word(word)).map(|word| at + word.len())
}

/// The start of the arguments of the first `FIELD_CALLS` call on the line.
fn call_on(text: &[u8], line: &Range<usize>) -> Option<usize> {
    (line.start..line.end).find_map(|at| {
        let first = matches!(text[at], b's' | b'S' | b'.' | b'f' | b'a' | b'i');
        let rest = &text[at..line.end];
        let call = if first { FIELD_CALLS.iter().find(|call| rest.starts_with(call)) } else { None };
        call.map(|call| at + call.len())
    })
}

/// The string literal in `"…".equals(password)`.
fn compared(text: &[u8], line: &Range<usize>, name: usize) -> Vec<Range<usize>> {
    const EQUALS: &[u8] = b"\".equals(";
    let before = &text[line.start..name];
    let Some(at) = before.windows(EQUALS.len()).rposition(|window| window == EQUALS) else { return Vec::new() };
    literal_before(text, line.start, line.start + at).into_iter().collect()
}

/// The string literal after `psk=` or after the name of a function, as in `ConvertTo-SecureString '…'`.
pub(crate) fn literal_after(text: &[u8], hit: &Range<usize>) -> Option<Range<usize>> {
    let mut cursor = Cursor { text: &text[..text.len().min(hit.end + REACH)], at: hit.end };
    cursor.skip_quote();
    cursor.skip_spaces();
    if text[hit.clone()].eq_ignore_ascii_case(b"psk") {
        if !matches!(cursor.peek(), b'=' | b':') {
            return None;
        }
        cursor.at += 1;
    } else if contains_ignoring_case(&cursor.text[cursor.at..cursor.text.len().min(cursor.at + 8)], b"-string ") {
        cursor.at += b"-string ".len();
    }
    cursor.skip_spaces();
    let (_, value) = cursor.literal(Style::Literal)?;
    let bytes = &text[value.clone()];
    (judge::is_chosen(bytes) && !judge::is_code(bytes)).then_some(value)
}

/// The position after the bracket or blank at which the arguments begin.
fn arguments_start(text: &[u8], hit: &Range<usize>) -> Option<usize> {
    if text[hit.end - 1] == b'(' || text[hit.end - 1] == b' ' {
        return Some(hit.end);
    }
    if text[hit.end - 1] == b'"' {
        return Some(hit.end - 1);
    }
    let end = name_end(text, hit.end);
    (text.get(end) == Some(&b'(')).then_some(end + 1)
}

/// Whether the value is a password, and not a name, a path or a message.
fn is_argument(value: &[u8]) -> bool {
    is_strong_choice(value) || (Shape::of(value).digits > 0 && judge::is_made_up(value))
}

/// The arguments that are string literals, each with its index.
fn literals(text: &[u8], start: usize, budget: &mut usize) -> Vec<(usize, Range<usize>)> {
    let end = text.len().min(start + REACH);
    let mut found = Vec::new();
    if *budget == 0 {
        return found;
    }
    let mut cursor = Cursor { text: &text[..end], at: start };
    for index in 0..MOST_ARGUMENTS {
        cursor.skip_lines();
        // The name of the argument, as in `with: "…"`.
        if cursor.at_word(b"with: ") || cursor.at_word(b"with=") {
            cursor.at += b"with=".len();
            cursor.skip_spaces();
        }
        let wraps = cursor.at_word(b"Some(");
        cursor.at += if wraps { b"Some(".len() } else { 0 };
        if let Some((_, value)) = cursor.literal(Style::Literal) {
            found.push((index, value));
            cursor.skip_quote();
            cursor.at += usize::from(wraps && cursor.peek() == b')');
        } else if !skip_expression(&mut cursor) {
            break;
        }
        cursor.skip_lines();
        if cursor.peek() != b',' {
            break;
        }
        cursor.at += 1;
    }
    *budget = budget.saturating_sub(cursor.at - start);
    found
}

/// Skips an argument that is not a string literal, up to the comma after it. Returns whether a comma was
/// found.
fn skip_expression(cursor: &mut Cursor<'_>) -> bool {
    let mut depth = 0;
    while cursor.at < cursor.text.len() {
        match cursor.peek() {
            b'"' if cursor.literal(Style::Literal).is_none() => return false,
            b'\n' | b';' => return false,
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' if depth == 0 => return false,
            b')' | b']' | b'}' => depth -= 1,
            b',' if depth == 0 => return true,
            _ => {}
        }
        cursor.at += 1;
    }
    false
}

/// The string literal whose closing quote is at `quote`.
fn literal_before(text: &[u8], line: usize, quote: usize) -> Option<Range<usize>> {
    let mut open = quote;
    while open > line {
        open -= 1;
        let is_escaped = open > line && text[open - 1] == b'\\';
        if text[open] == b'"' && !is_escaped {
            return (open + 1 < quote).then_some(open + 1..quote);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    type Reader = fn(&[u8], &Range<usize>, &mut usize) -> Vec<Range<usize>>;

    fn check(reader: Reader, keyword: &str, expect: &[(&str, &str)]) {
        for (text, expect) in expect {
            let at = text.to_lowercase().find(keyword).expect("a keyword");
            let found = reader(text.as_bytes(), &(at..at + keyword.len()), &mut 10_000);
            let found: Vec<&str> = found.into_iter().map(|value| &text[value]).collect();
            assert_eq!(found.join(" "), *expect, "{text}");
        }
    }

    #[test]
    fn later_arguments_of_credentials_are_passwords() {
        check(
            credentials,
            "credential",
            &[
                ("new NetworkCredential(\"bob\", @\"k3(J9x\")", "k3(J9x"),
                ("Credentials.basic(\"bob\", \"k3(J9x\")", "k3(J9x"),
                ("set_credentials(user, 'k3(J \"9x!')", "k3(J \"9x!"),
                ("NewCredentials(f(a, b), \"k3(J9x\", \"\")", "k3(J9x"),
                ("credentials(\"k3(J9x\")", ""),
                ("credentials(\"bob\", password)", ""),
                ("the credentials (\"a\", \"k3(J9x\")", ""),
            ],
        );
    }

    #[test]
    fn text_that_is_written_into_a_password_field_is_found() {
        check(
            fields,
            "pass",
            &[
                ("find(By.id(\"password\")).sendKeys(\"k3(J9x!Q\");", "k3(J9x!Q"),
                ("fill_in \"Password\", with: \"k3(J9x!Q\"", "k3(J9x!Q"),
                ("if (\"k3(J9x!Q\".equals(password)) {", "k3(J9x!Q"),
                ("assertEquals(\"k3(J9x!Q\", c.getPassword());", "k3(J9x!Q"),
                ("assertEquals(\"k3(J9x!Q\", passed());", ""),
                ("find(By.id(\"password\")).sendKeys(\"Enter it\");", ""),
            ],
        );
    }
}
