//! Reads the value that is assigned to a name. This module supports many syntaxes: `name = "value"`,
//! `"name": "value"`, `name: value`, `name=value`, `name("value")`, `<name>value</name>`, `--name value`,
//! `name="x" value="value"`, `("name", "value")`, and the escaped strings of JSON (`\"name\": \"value\"`).

use std::ops::Range;

use crate::assigned::{REACH, assigned};
use crate::cursor::Cursor;
use crate::judge::{self, Style};
use crate::name::{Name, Naming};
use crate::{beside, context, data, linked};

/// Maximum number of string literals that are joined to form one value.
const MOST_PARTS: usize = 32;

/// The value of the name that contains the keyword, if the value is a secret. The result has one range, or
/// several ranges if the value consists of joined string literals.
pub(crate) fn secret(text: &[u8], hit: Range<usize>, naming: Naming) -> Option<Vec<Range<usize>>> {
    if let Some(value) = linked::framed(text, &hit, naming) {
        return Some(vec![value]);
    }
    let known = delimited(text, hit.clone(), naming);
    let whole = data::secrets(text, &hit, naming);
    match known {
        // Closing brackets and full stops at the end are not part of the value.
        Some(known) if whole.iter().all(|value| is_covered(text, value, &known)) => Some(known),
        known if whole.is_empty() => known.or_else(|| {
            let value = beside::value(text, &hit, naming).or_else(|| linked::value(text, &hit, naming));
            value.map(|value| vec![value])
        }),
        _ => Some(whole),
    }
}

/// Whether the `known` ranges cover the whole value. Closing punctuation at the end of the value is ignored.
fn is_covered(text: &[u8], value: &Range<usize>, known: &[Range<usize>]) -> bool {
    let Some((first, last)) = known.first().zip(known.last()) else { return false };
    first.start <= value.start
        && (last.end >= value.end || text[last.end..value.end].iter().all(|byte| b")]}.,;:?'\"`*".contains(byte)))
}

/// The value between quotes, or the value up to the end of an expression.
fn delimited(text: &[u8], hit: Range<usize>, naming: Naming) -> Option<Vec<Range<usize>>> {
    let (style, value) = assigned(text, hit.end)?;
    let name = Name::around(text, hit, naming)?;
    let style = match style {
        Style::Loose | Style::Spaced => context::bare_style(text, &name.span, &value, style),
        Style::Beside if text[name.span.clone()].starts_with(b"--") => Style::Literal,
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

/// The ranges of the value and of the parts that are joined to it: `"…" + "…"`, string literals on separate
/// lines, and lines that a backslash continues.
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

/// Whether `pass` is a verb or a noun with a different meaning, as in `should_pass("…")` or `pass "…" to`. In
/// an option of a command and in a variable, it is a password.
fn is_verb(name: &[u8]) -> bool {
    let is_variable = name.contains(&b'_') && !name.iter().any(u8::is_ascii_lowercase);
    if is_variable || name.starts_with(b"--") {
        return false;
    }
    let name = name.to_ascii_lowercase();
    !name.windows(5).any(|part| part == b"passw" || part == b"passp" || part == b"passc")
        && !name.windows(3).any(|part| part == b"pwd")
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
    fn value_is_read_in_every_syntax() {
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
    fn expressions_are_not_secrets() {
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
    fn pairs_of_connection_strings_are_secrets() {
        check("Server=db;User Id=sa;Password=simplepw;", Some("simplepw"));
        check("host=h user=u password=simplepw dbname=d", Some("simplepw"));
        check("this.password=newpw;", None);
    }
}
