//! Recognises statements that append to a variable: `secret += "…"`, `strcat(secret, "…")`,
//! `SECRET="${SECRET}…"`.

/// Maximum length of the text before the literal of a statement, in bytes.
const REACH: usize = 80;

/// The end of the name without the method that appends, as in `secret.append`. The name ends at
/// `name_end`, and its keyword ends at `word_end`.
pub(crate) fn target_end(text: &[u8], word_end: usize, name_end: usize) -> usize {
    const METHODS: [&[u8]; 6] = [b"append", b"push", b"concat", b"add", b"write", b"insert"];
    let Some(dot) = text[word_end..name_end].iter().rposition(|byte| *byte == b'.') else { return name_end };
    let method = &text[word_end + dot + 1..name_end];
    let is_method = METHODS.iter().any(|known| crate::shape::starts_with_ignoring_case(method, known));
    if is_method { word_end + dot } else { name_end }
}

/// The name of a variable without its sigil.
pub(crate) fn target(name: &[u8]) -> &[u8] {
    let sigils = name.iter().take_while(|byte| matches!(byte, b'$' | b'-' | b'.' | b'@')).count();
    &name[sigils..]
}

/// The length of the text before the appended literal or digits, if `rest` begins with a statement that
/// appends to `target` or with a reference to `target`. Otherwise 0.
pub(crate) fn length(rest: &[u8], target: &[u8]) -> usize {
    if target.is_empty() {
        return 0;
    }
    let length = reference(rest, target);
    if length > 0 {
        return length;
    }
    let line = &rest[..rest.len().min(REACH)];
    let line = &line[..line.iter().position(|byte| *byte == b'\n').unwrap_or(line.len())];
    let quote = line.iter().position(|byte| matches!(byte, b'"' | b'\'' | b'`'));
    let end = quote.or_else(|| line.iter().position(|byte| *byte == b'=').map(|at| at + 1));
    let Some(head) = end.map(|end| &line[..end]) else { return 0 };
    let is_word = |at: usize| {
        let is_part = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        !is_part(at.checked_sub(1).and_then(|before| head.get(before))) && !is_part(head.get(at + target.len()))
    };
    let names = head.windows(target.len()).enumerate().any(|(at, window)| window == target && is_word(at));
    if names { head.len() } else { 0 }
}

/// The length of a reference to the variable: `$secret`, `${secret}`, `%secret%`, `$(secret)`.
fn reference(rest: &[u8], target: &[u8]) -> usize {
    const FORMS: [(&[u8], &[u8]); 4] = [(b"${", b"}"), (b"$(", b")"), (b"%", b"%"), (b"#{", b"}")];
    let is_form = |form: &&(&[u8], &[u8])| {
        rest.strip_prefix(form.0)
            .and_then(|rest| rest.strip_prefix(target))
            .is_some_and(|rest| rest.starts_with(form.1))
    };
    FORMS.iter().find(is_form).map_or(0, |(open, close)| open.len() + target.len() + close.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_that_append_are_recognised() {
        for (statement, expect) in [
            ("secret += \"x\"", "secret += "),
            ("secret = secret + 'x'", "secret = secret + "),
            ("strcat(secret, \"x\")", "strcat(secret, "),
            ("$secret .= 'x'", "$secret .= "),
            ("secret.append(\"x\")", "secret.append("),
            ("secret+=x", "secret+="),
            ("${secret}x", "${secret}"),
            ("set secret=%secret%x", "set secret="),
            ("secrets += \"x\"", ""),
            ("other += \"x\"", ""),
            ("\nsecret += \"x\"", ""),
        ] {
            assert_eq!(&statement[..length(statement.as_bytes(), b"secret")], expect, "{statement}");
        }
    }

    #[test]
    fn target_is_the_variable() {
        assert_eq!(target_end(b"secret.push_str", 6, 15), 6);
        assert_eq!(target_end(b"secret.key", 6, 10), 10);
        assert_eq!(target(b"$secret"), b"secret");
    }
}
