//! Reads the value that is assigned to a name, in many syntaxes: `name = "value"`, `"name": "value"`, `name:
//! value`, `name=value`, `name("value")`, `<name>value</name>`, `--name value`, `name="x" value="value"`,
//! `("name", "value")`, and the escaped strings of JSON (`\"name\": \"value\"`).

use std::ops::Range;

use crate::context;
use crate::cursor::Cursor;
use crate::data;
use crate::judge::{self, Style};
use crate::name::{Name, Naming, name_end};
use crate::prose;

/// Maximum distance of a value from its name, and its maximum length, in bytes.
const REACH: usize = 1024;

/// Maximum number of literals of one value.
const MOST_PARTS: usize = 32;

/// The value of the name around a keyword, if it is a secret: one part, or several joined literals.
pub(crate) fn secret(text: &[u8], hit: Range<usize>, naming: Naming) -> Option<Vec<Range<usize>>> {
    let known = delimited(text, hit.clone(), naming);
    let whole = data::secrets(text, &hit, naming);
    match known {
        // Closing brackets and stops at the end belong to the surroundings of the value.
        Some(known) if whole.iter().all(|value| is_covered(text, value, &known)) => Some(known),
        known if whole.is_empty() => known,
        _ => Some(whole),
    }
}

/// Whether the known parts cover the whole value, except signs that close its surroundings.
fn is_covered(text: &[u8], value: &Range<usize>, known: &[Range<usize>]) -> bool {
    let Some((first, last)) = known.first().zip(known.last()) else { return false };
    first.start <= value.start
        && (last.end >= value.end || text[last.end..value.end].iter().all(|byte| b")]}.,;:?'\"`*".contains(byte)))
}

/// The value between quotes, or up to the end of an expression.
fn delimited(text: &[u8], hit: Range<usize>, naming: Naming) -> Option<Vec<Range<usize>>> {
    let (style, value) = assigned(text, hit.end)?;
    let name = Name::around(text, hit, naming)?;
    let style = match style {
        Style::Loose | Style::Spaced => context::bare_style(text, &name.span, &value, style),
        Style::Call | Style::Wrapped | Style::Beside
            if naming == Naming::Password && is_verb(&text[name.span.clone()]) =>
        {
            return None;
        }
        other => other,
    };
    if style == Style::Spaced && naming == Naming::Password && is_verb(&text[name.span.clone()]) {
        return None;
    }
    let is_secret = |value: &[u8]| judge::is_secret(naming, name.promise, style, value);
    let parts = joined_parts(text, value.clone());
    if parts.len() > 1 && is_secret(&parts.iter().flat_map(|part| &text[part.clone()]).copied().collect::<Vec<u8>>()) {
        return Some(parts);
    }
    is_secret(&text[value.clone()]).then(|| vec![value])
}

/// The value and the parts that are joined to it: `"…" + "…"`, literals on separate lines, lines that a
/// backslash continues.
fn joined_parts(text: &[u8], value: Range<usize>) -> Vec<Range<usize>> {
    let end = text.len().min(value.end + REACH);
    let mut cursor = Cursor { text: &text[..end], at: value.end };
    let mut parts = vec![value];
    while parts.len() < MOST_PARTS
        && let Some(part) = next_part(&mut cursor)
    {
        cursor.at = part.end;
        parts.push(part);
    }
    parts
}

fn next_part(cursor: &mut Cursor<'_>) -> Option<Range<usize>> {
    if cursor.text[cursor.at..].starts_with(b"\\\n") {
        cursor.at += 2;
        return cursor.bare();
    }
    if !cursor.skip_quote() {
        return None;
    }
    let start = cursor.at;
    while matches!(cursor.peek(), b' ' | b'\t' | b'\r' | b'\n' | b'+' | b'.' | b'&' | b'\\') && cursor.at - start < 160
    {
        cursor.at += 1;
    }
    (cursor.at > start).then(|| cursor.literal(Style::Literal)).flatten().map(|(_, part)| part)
}

/// Whether `pass` is a verb or a noun with another meaning: `should_pass("…")`, `pass "…" to`.
fn is_verb(name: &[u8]) -> bool {
    if name.contains(&b'_') && !name.iter().any(u8::is_ascii_lowercase) {
        return false;
    }
    let name = name.to_ascii_lowercase();
    !name.windows(5).any(|part| part == b"passw" || part == b"passp" || part == b"passc")
        && !name.windows(3).any(|part| part == b"pwd")
}

/// The value after a name that ends after `word_end`. The check is cheap if no value follows, because most
/// keywords are ordinary words.
fn assigned(text: &[u8], word_end: usize) -> Option<(Style, Range<usize>)> {
    let name_end = name_end(text, word_end);
    let end = text.len().min(name_end + REACH);
    let mut cursor = Cursor { text: &text[..end], at: name_end };
    let quoted = cursor.skip_quote();
    if quoted && cursor.peek() == b'`' {
        cursor.at += 1;
    }
    while matches!(cursor.peek(), b']' | b')' | b'}') && cursor.at - name_end < 6 {
        cursor.at += 1;
    }
    cursor.skip_emphasis();
    let spaces = cursor.skip_spaces();
    match cursor.peek() {
        0xEF if cursor.at_word("：".as_bytes()) => {
            cursor.at += "：".len();
            cursor.skip_spaces();
            value(&mut cursor)
        }
        b'<' if cursor.at_word(b"</") => next_element(&mut cursor),
        b'-' if spaces > 0 && cursor.at_word(b"-> ") => after_arrow(&mut cursor, 2),
        0xE2 if cursor.at_word("→".as_bytes()) => after_arrow(&mut cursor, "→".len()),
        b'{' if quoted && spaces > 0 => block_default(&mut cursor),
        b'=' | b':' | b'!' | b'?' | b'<' | b'|' | b'+' | b'~' => after_operator(&mut cursor),
        b'>' => element(&mut cursor),
        b'{' if cursor.at_word(b"{ get") => after_accessors(&mut cursor),
        b'(' | b'{' if !quoted => {
            cursor.at += 1;
            cursor.skip_blanks();
            cursor.literal(Style::Call)
        }
        b',' if !quoted => named_value(&mut cursor),
        b',' if quoted => {
            cursor.at += 1;
            cursor.literal_or_named_value()
        }
        b'v' | b'V' if cursor.at_word(b"value") => cursor.after_value_word(),
        b'[' => after_array(&mut cursor),
        b's' if quoted && cursor.at_word(b"serializeAs=") => with_attributes(&mut cursor),
        b'i' | b'w' if spaces > 0 && quoted => after_verb(&mut cursor),
        _ if spaces > 0 && !quoted && word_end > 4 && begins_element(text, name_end) => with_attributes(&mut cursor),
        _ if spaces > 0 && !quoted => after_space(&mut cursor),
        b'\n' | b'\r' | b'\\' => next_line_value(&mut cursor),
        _ => None,
    }
}

/// Reads the value of `password -> …`.
fn after_arrow(cursor: &mut Cursor<'_>, length: usize) -> Option<(Style, Range<usize>)> {
    cursor.at += length;
    cursor.skip_spaces();
    value(cursor)
}

/// Whether the word that ends here is the name of an element: `<` precedes it.
fn begins_element(text: &[u8], end: usize) -> bool {
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b':' | b'_' | b'-' | b'.');
    let length = text[..end].iter().rev().take(48).take_while(is_part).count();
    text[..end - length].last() == Some(&b'<')
}

/// Reads the value of `<password encoding="plain">value</password>`.
fn with_attributes(cursor: &mut Cursor<'_>) -> Option<(Style, Range<usize>)> {
    let tag = &cursor.text[cursor.at..cursor.text.len().min(cursor.at + 120)];
    cursor.at += tag.iter().position(|byte| matches!(byte, b'>' | b'<' | b'\n')).filter(|at| tag[*at] == b'>')?;
    element(cursor)
}

/// Skips `=`, `:`, `:=`, `=>`, `==`, `?=`, `<-`, `+=` and similar operators.
fn after_operator(cursor: &mut Cursor<'_>) -> Option<(Style, Range<usize>)> {
    let start = cursor.at;
    while matches!(cursor.peek(), b'=' | b':' | b'>' | b'<' | b'!' | b'|' | b'+' | b'~' | b'-' | b'?')
        && cursor.at - start < 3
    {
        cursor.at += 1;
    }
    let operator = &cursor.text[start..cursor.at];
    if matches!(operator, b"||" | b"??") {
        cursor.skip_spaces();
        return cursor.literal(Style::Literal);
    }
    if operator.starts_with(b"::") || !operator.iter().any(|byte| matches!(byte, b'=' | b':' | b'-')) {
        return None;
    }
    let colon = operator == b":";
    if colon {
        cursor.skip_emphasis();
        cursor.skip_spaces();
        let start = cursor.at;
        if let Some(found) = yaml_value(cursor) {
            return Some(found);
        }
        cursor.at = start;
    }
    cursor.skip_blanks();
    let start = cursor.at;
    if colon && let Some(found) = after_type(cursor) {
        return Some(found);
    }
    cursor.at = start;
    value(cursor)
}

/// Reads a literal, a literal in a call, or a bare value.
fn value(cursor: &mut Cursor<'_>) -> Option<(Style, Range<usize>)> {
    if cursor.at_word(b"``") && !cursor.at_word(b"```") {
        cursor.at += 1;
    }
    let start = cursor.at;
    if let Some(found) = cursor.literal(Style::Literal).or_else(|| wrapped(cursor)) {
        return Some(found);
    }
    cursor.at = start;
    let bare = cursor.bare()?;
    let resume = cursor.at;
    if let Some(found) = alternative(cursor) {
        return Some(found);
    }
    cursor.at = resume;
    Some((Style::Loose, bare))
}

/// Reads the default value of `process.env.PASSWORD || "…"`, `… ?? "…"` and `… or "…"`.
fn alternative(cursor: &mut Cursor<'_>) -> Option<(Style, Range<usize>)> {
    cursor.skip_spaces();
    let operator = [b"|| ".as_slice(), b"?? ", b"or ", b"?: "].into_iter().find(|operator| cursor.at_word(operator))?;
    cursor.at += operator.len();
    cursor.literal(Style::Literal)
}

/// Reads the value of `&anchor value` and `!!str value`, or the line after `|` or `>`.
fn yaml_value(cursor: &mut Cursor<'_>) -> Option<(Style, Range<usize>)> {
    let start = cursor.at;
    while cursor.peek() == b'&' || cursor.at_word(b"!!") {
        while !matches!(cursor.peek(), 0..=32) {
            cursor.at += 1;
        }
        cursor.skip_spaces();
    }
    let anchored = cursor.at > start;
    if matches!(cursor.peek(), b'|' | b'>') {
        cursor.at += 1;
        while matches!(cursor.peek(), b'-' | b'+' | b'0'..=b'9' | b' ' | b'\r') {
            cursor.at += 1;
        }
        let breaks = cursor.at_line_end();
        cursor.skip_lines();
        return if breaks && cursor.text[cursor.at - 1] == b' ' {
            cursor.bare().map(|span| (Style::Line, span))
        } else {
            None
        };
    }
    let found = cursor.literal(Style::Literal).or_else(|| cursor.bare().map(|span| (Style::Line, span)));
    cursor.skip_quote();
    cursor.skip_spaces();
    // After a type such as `&str` the line contains more than the value.
    let is_line = cursor.at > start && (cursor.at_line_end() || cursor.peek() == b'#');
    if is_line && anchored { found } else { None }
}

/// Reads the value of `<key>password</key>` and `<string>…</string>`, as in property lists, and of cells and
/// terms of HTML.
fn next_element(cursor: &mut Cursor<'_>) -> Option<(Style, Range<usize>)> {
    const PAIRS: [(&[u8], &[u8]); 8] = [
        (b"</key>", b"<string>"),
        (b"</name>", b"<value>"),
        (b"</th>", b"<td"),
        (b"</td>", b"<td"),
        (b"</dt>", b"<dd"),
        (b"</b>", b""),
        (b"</strong>", b""),
        (b"</label>", b""),
    ];
    let rest = &cursor.text[cursor.at..];
    let (closing, opening) = PAIRS.into_iter().find(|(closing, _)| rest.starts_with(closing))?;
    cursor.at += closing.len();
    if opening.is_empty() {
        cursor.skip_spaces();
        if matches!(cursor.peek(), b':' | b'=') {
            cursor.at += 1;
            cursor.skip_spaces();
        }
        return cursor.bare().map(|span| (Style::Beside, span));
    }
    cursor.skip_lines();
    if !cursor.at_word(opening) {
        return None;
    }
    cursor.at += cursor.text[cursor.at..].iter().position(|byte| *byte == b'>')?;
    if cursor.at_word(b"><code>") {
        cursor.at += b"><code".len();
    }
    element(cursor)
}

/// Reads the value of `variable "password" { default = "…" }` of Terraform.
fn block_default(cursor: &mut Cursor<'_>) -> Option<(Style, Range<usize>)> {
    let body = &cursor.text[cursor.at..];
    let body = &body[..body.iter().position(|byte| *byte == b'}').unwrap_or(body.len())];
    let key = [b"default".as_slice(), b"value "]
        .into_iter()
        .find_map(|key| body.windows(key.len()).position(|window| window == key).map(|at| at + key.len()));
    cursor.at += key?;
    literal_behind_equals(cursor)
}

/// Reads the literal after `=`. Blanks may surround the sign.
fn literal_behind_equals(cursor: &mut Cursor<'_>) -> Option<(Style, Range<usize>)> {
    cursor.skip_spaces();
    if cursor.peek() != b'=' {
        return None;
    }
    cursor.at += 1;
    cursor.skip_spaces();
    cursor.literal(Style::Literal)
}

/// Reads the literal of `Some("…")`, `String::from("…")`, `new Secret("…")`, `["…"`.
fn wrapped(cursor: &mut Cursor<'_>) -> Option<(Style, Range<usize>)> {
    /// Functions that convert their argument. They do not look up a value by name.
    const MAKERS: [&[u8]; 12] = [
        b"byte",
        b"bytes",
        b"string",
        b"String",
        b"String::from",
        b"Some",
        b"str",
        b"Buffer.from",
        b"SecretString::new",
        b"new SecretString",
        b"strdup",
        b"Secret::new",
    ];
    let start = cursor.at;
    let list = cursor.peek() == b'[';
    if cursor.at_word(b"[]byte(") {
        cursor.at += 2;
    }
    while matches!(cursor.peek(), b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'_' | b'.' | b':' | b' ' | b'!' | b'&')
        && cursor.at - start < 48
    {
        cursor.at += 1;
    }
    if !matches!(cursor.peek(), b'(' | b'[' | b'{') {
        return None;
    }
    let callee = cursor.text[start..cursor.at].trim_ascii();
    let callee = callee.strip_prefix(b"[]").or_else(|| callee.strip_prefix(b"std::")).unwrap_or(callee);
    let makes = MAKERS.contains(&callee);
    cursor.at += 1;
    cursor.skip_blanks();
    cursor.literal(if list || makes { Style::Literal } else { Style::Wrapped })
}

/// Reads the literal of `: &'static str = "…"` or `: Optional[str] = "…"`: a type precedes the `=`.
fn after_type(cursor: &mut Cursor<'_>) -> Option<(Style, Range<usize>)> {
    let rest = &cursor.text[cursor.at..cursor.text.len().min(cursor.at + 48)];
    let is_type = |byte: &u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'_' | b'&' | b'\'' | b' ' | b'<' | b'>' | b'[' | b']' | b'|' | b'.' | b',' | b':' | b'?')
    };
    let length = rest.iter().position(|byte| !is_type(byte))?;
    if rest[length] != b'=' {
        return None;
    }
    cursor.at += length + 1;
    cursor.skip_blanks();
    cursor.literal(Style::Literal).or_else(|| wrapped(cursor))
}

/// Reads the value of `<password>value</password>`. The value may be on a separate line or be CDATA. Without
/// a closing tag, `>` is a comparison.
fn element(cursor: &mut Cursor<'_>) -> Option<(Style, Range<usize>)> {
    cursor.at += 1;
    cursor.skip_lines();
    if cursor.at_word(b"<value>") {
        cursor.at += b"<value>".len();
    }
    let is_raw = cursor.at_word(b"<![CDATA[");
    if is_raw {
        cursor.at += b"<![CDATA[".len();
    }
    let start = cursor.at;
    let rest = &cursor.text[start..];
    let rest = &rest[..rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |at| rest.len().min(at + 80))];
    let ending: &[u8] = if is_raw { b"]]>" } else { b"</" };
    let line = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    let length = rest[..line].windows(ending.len()).position(|window| window == ending).unwrap_or(line);
    let value = &rest[..length];
    // The element contains other elements.
    if !is_raw && value.contains(&b'<') {
        return None;
    }
    let after = rest[length..].trim_ascii_start();
    let value = value.trim_ascii_end();
    (after.starts_with(ending) && !value.is_empty()).then(|| (Style::Literal, start..start + value.len()))
}

/// Reads the value of `- name: DB_PASSWORD` if the next line is `value: …`.
fn next_line_value(cursor: &mut Cursor<'_>) -> Option<(Style, Range<usize>)> {
    cursor.skip_lines();
    if cursor.at_word(b"value") { cursor.after_value_word() } else { None }
}

/// Reads the literal of `Password { get; set; } = "…"` of C#.
fn after_accessors(cursor: &mut Cursor<'_>) -> Option<(Style, Range<usize>)> {
    let rest = &cursor.text[cursor.at..cursor.text.len().min(cursor.at + 60)];
    cursor.at += rest.iter().position(|byte| *byte == b'}')? + 1;
    literal_behind_equals(cursor)
}

/// Reads the value of `{name: PASSWORD, value: …}`.
fn named_value(cursor: &mut Cursor<'_>) -> Option<(Style, Range<usize>)> {
    cursor.at += 1;
    cursor.skip_spaces();
    if cursor.at_word(b"value:") { cursor.after_value_word() } else { None }
}

/// Reads the literal of `char password[] = "…"`.
fn after_array(cursor: &mut Cursor<'_>) -> Option<(Style, Range<usize>)> {
    while matches!(cursor.peek(), b'[' | b']' | b'0'..=b'9' | b' ' | b'A'..=b'Z' | b'_') {
        cursor.at += 1;
    }
    if cursor.peek() != b'=' {
        return None;
    }
    cursor.at += 1;
    cursor.skip_blanks();
    cursor.literal(Style::Literal)
}

/// Reads the value of `` `password` is `x` `` in prose.
fn after_verb(cursor: &mut Cursor<'_>) -> Option<(Style, Range<usize>)> {
    let verb = cursor.bare()?;
    if !matches!(&cursor.text[verb], b"is" | b"was") {
        return None;
    }
    cursor.skip_spaces();
    value(cursor)
}

/// Reads a value after a space without an operator: `password 'x'`, `password string = "x"`, `password is
/// "x"`, `--password x`.
fn after_space(cursor: &mut Cursor<'_>) -> Option<(Style, Range<usize>)> {
    if let Some(found) = cursor.literal(Style::Beside) {
        return Some(found);
    }
    if let Some(end) = prose::after_owner(cursor.text, cursor.at) {
        cursor.at = end;
        cursor.skip_spaces();
        return value(cursor);
    }
    let bare = cursor.bare()?;
    let resume = cursor.at;
    cursor.skip_spaces();
    match (&cursor.text[bare.clone()], cursor.peek()) {
        (b"is" | b"was", _) => value(cursor),
        (b"As" | b"as", _) => {
            cursor.bare()?;
            cursor.skip_spaces();
            if cursor.peek() != b'=' {
                return None;
            }
            cursor.at += 1;
            cursor.skip_blanks();
            cursor.literal(Style::Literal)
        }
        (_, b'=') if cursor.at > resume => {
            cursor.at += 1;
            cursor.skip_blanks();
            cursor.literal(Style::Literal)
        }
        _ => Some((Style::Spaced, bare)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: Option<&str>) {
        let lower = text.to_lowercase();
        let (keyword, naming) = [("pass", Naming::Password), ("token", Naming::Token)]
            .into_iter()
            .find(|(keyword, _)| lower.contains(keyword))
            .expect("a keyword");
        let start = lower.find(keyword).expect("just found");
        let found = secret(text.as_bytes(), start..start + keyword.len(), naming);
        let found = found.map(|parts| parts.into_iter().map(|part| &text[part]).collect::<String>());
        assert_eq!(found.as_deref(), expect, "{text}");
    }

    #[test]
    fn every_syntax_is_read() {
        let value = "k3J9!xQ7wZ2p";
        for syntax in [
            "password = \"@\"",
            "password='@'",
            "\"password\": \"@\"",
            "password: @",
            "  password: @\n",
            "export PASSWORD=@\n",
            "PASSWORD=@",
            "password := `@`",
            "'password' => '@'",
            "<password>@</password>",
            "set_password(\"@\")",
            "password: &'static str = \"@\"",
            "const password: string = '@';",
            "var password string = \"@\"",
            "char password[] = \"@\";",
            "char password[64] = \"@\";",
            "\\\"password\\\": \\\"@\\\"",
            "\"PASSWORD=@\\n\",",
            "config[\"password\"] = \"@\"",
            "define('PASSWORD', '@');",
            "os.environ[\"PASSWORD\"] = \"@\"",
            "if password == \"@\":",
            "password = Some(\"@\")",
            "password: String::from(\"@\")",
            "--password @ x",
            "--password=@",
            "name=\"password\" value=\"@\"",
            "\"name\": \"DB_PASSWORD\", \"value\": \"@\"",
            "- name: DB_PASSWORD\n  value: \"@\"",
            "password=b\"@\"",
            "?password=@&x=1",
            "password =\n    \"@\"",
            "the password is `@`",
            "// password: @",
            "password: SecretStr = SecretStr(\"@\")",
            "db.password=@",
            "PASSWORD ?= @",
            "password => \"@\"",
            "`password` is `@`",
            "PGPASSWORD=@ psql",
            "-e DB_PASSWORD=@ image",
            "| password: @ |",
            "ENV PASSWORD @\n",
            "&quot;password&quot;: &quot;@&quot;",
            "password = \"\"\"@\"\"\"",
            "'password' = '''@'''",
            "**Password**: @\n",
            "**Password:** `@`\n",
            "password：@\n",
            "password: &main @\n",
            "password: !!str @\n",
            "password: |\n    @\n",
            "  password: >-\n    @\n",
            "<password>\n  @\n</password>",
            "<password><![CDATA[@]]></password>",
            "<key>password</key>\n  <string>@</string>",
            "variable \"password\" {\n  type = string\n  default = \"@\"\n}",
            "password = process.env.PASSWORD || \"@\";",
            "password: process.env.PASSWORD ?? '@',",
            "password = os.environ.get(X) or \"@\"",
        ] {
            let text = syntax.replace('@', value);
            check(&text, text.contains(value).then_some(value));
        }
    }

    #[test]
    fn expressions_are_no_values() {
        for text in [
            "password = get_password()",
            "password = config.password2",
            "password: str",
            "password: Option<String>,",
            "password=password1",
            "if password:",
            "pass",
            "password, token2)",
            "password = os.environ[\"DB_PASSWORD\"]",
            "password == other.password2",
            "token = tokens[i1]",
            "token := scanner.Scan1()",
            "password\n\nnext1234!",
            "Password::new(\"a1b2c3d4e5\")",
            "password = \"\"",
            "token => { return x1 }",
            "passwords > \"a1b2c3d4\"",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn joined_literals_are_one_value() {
        for text in [
            "password = \"k3J9!x\" + \"Q7wZ2p\"",
            "password = (\n    \"k3J9!x\"\n    \"Q7wZ2p\"\n)",
            "password = 'k3J9!x' .\n  'Q7wZ2p';",
            "PASSWORD=k3J9!x\\\nQ7wZ2p\n",
            "password = \"k3J9!x\" \\\n    \"Q7wZ2p\"",
        ] {
            check(text, Some("k3J9!xQ7wZ2p"));
        }
        check("{\"password\": \"k3J9!xQ7wZ2p\", \"b\": \"c\"}", Some("k3J9!xQ7wZ2p"));
    }

    #[test]
    fn connection_strings() {
        check("Server=db;User Id=sa;Password=simplepw;", Some("simplepw"));
        check("host=h user=u password=simplepw dbname=d", Some("simplepw"));
        check("this.password=newpw;", None);
    }
}
