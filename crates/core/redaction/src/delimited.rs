//! Reads string literals that are not delimited by one plain quote on each side: `%q(…)`, `q{…}`,
//! `[==[…]==]`, `R"x(…)x"`, `#"…"#`, `$$…$$`, `''…''`, `“…”`.

use std::ops::Range;

/// Maximum length of a literal, in bytes.
const LONGEST: usize = 160;

/// The start and the length of the content, and the end of the literal.
type Found = (usize, usize, usize);

/// Words before a bracket or another character that delimits a literal. A letter must not precede the word.
const WORDS: [&[u8]; 13] = [b"%q", b"%Q", b"%w", b"%W", b"%i", b"%", b"~s", b"~S", b"~w", b"qq", b"qw", b"q", b"Q"];

/// Delimiters at the start of a literal, each with the delimiter at its end.
const PAIRS: [(&str, &str); 6] = [("''", "''"), ("$$", "$$"), ("“", "”"), ("«", "»"), ("‘", "’"), ("$/", "/$")];

/// The content of the literal that begins at `at`. The literal ends on the same line, and only a character
/// that ends an expression may follow, because an unquoted password may begin in the same way.
pub(crate) fn literal(text: &[u8], at: usize) -> Option<Range<usize>> {
    let rest = &text[at.min(text.len())..text.len().min(at + LONGEST)];
    let first = *rest.first()?;
    if !b"%~qQR#r[$'\xE2\xC2".contains(&first) {
        return None;
    }
    let line = &rest[..rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())];
    let (start, length, end) = match first {
        b'R' | b'r' | b'#' => raw(line)?,
        b'[' => long_brackets(line)?,
        _ => paired(line).or_else(|| tagged(line)).or_else(|| after_word(line))?,
    };
    let after = line[end..].first().is_none_or(|next| b" \t\r;,)]}.:".contains(next));
    (after && length > 0).then(|| at + start..at + start + length)
}

/// The start and the length of the content of `%q(…)`, `q{…}` or `qq|…|`.
fn after_word(line: &[u8]) -> Option<Found> {
    let word = WORDS.iter().find(|word| line.starts_with(word))?;
    let open = *line.get(word.len())?;
    let start = word.len() + 1;
    let close = match open {
        b'(' => b')',
        b'[' => b']',
        b'{' => b'}',
        b'<' => b'>',
        b'|' | b'!' | b'/' | b'~' if *word != b"%" => open,
        _ => return None,
    };
    content(line, start, &[close])
}

/// The content of `R"x(…)x"`, `r#"…"#` or `#"…"#`.
fn raw(line: &[u8]) -> Option<Found> {
    if let Some(rest) = line.strip_prefix(b"R\"") {
        let length = rest.iter().take(17).position(|byte| *byte == b'(')?;
        let ending = [b")", &rest[..length], b"\""].concat();
        return content(line, length + 3, &ending);
    }
    let prefix = usize::from(line[0] == b'r');
    let signs = line[prefix..].iter().take(9).take_while(|byte| **byte == b'#').count();
    if signs == 0 || line.get(prefix + signs) != Some(&b'"') {
        return None;
    }
    let start = prefix + signs + 1;
    content(line, start, &[b"\"", &line[prefix..prefix + signs]].concat())
}

/// The content of `[[…]]` or `[==[…]==]`.
fn long_brackets(line: &[u8]) -> Option<Found> {
    let signs = line[1..].iter().take(9).take_while(|byte| **byte == b'=').count();
    if line.get(1 + signs) != Some(&b'[') {
        return None;
    }
    let start = signs + 2;
    content(line, start, &[b"]", &line[1..1 + signs], b"]"].concat())
}

/// The content of `''…''`, `$$…$$` or `“…”`.
fn paired(line: &[u8]) -> Option<Found> {
    let (open, close) = PAIRS.iter().find(|(open, _)| line.starts_with(open.as_bytes()))?;
    // Two quotes are an empty string if a separator follows.
    if *open == "''" && line.get(2).is_none_or(|next| b",;:)]}.+|= ".contains(next)) {
        return None;
    }
    content(line, open.len(), close.as_bytes())
}

/// The content of `$tag$…$tag$`.
fn tagged(line: &[u8]) -> Option<Found> {
    let name = line.strip_prefix(b"$")?;
    let length = name.iter().take(20).position(|byte| *byte == b'$')?;
    let is_name = name[..length].iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let start = length + 2;
    (is_name && length > 0).then(|| content(line, start, &line[..start])).flatten()
}

/// The content from `start` to the first `ending`.
fn content(line: &[u8], start: usize, ending: &[u8]) -> Option<Found> {
    let length = line[start..].windows(ending.len()).position(|window| window == ending)?;
    Some((start, length, start + length + ending.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_of_all_delimiters_are_read() {
        for syntax in [
            "%q(@)",
            "%Q{@}",
            "%w[@]",
            "%(@)",
            "q(@)",
            "qq|@|",
            "qw<@>",
            "~s(@)",
            "Q[@]",
            "R\"(@)\"",
            "R\"x(@)x\"",
            "r##\"@\"##",
            "#\"@\"#",
            "[[@]]",
            "[==[@]==]",
            "''@''",
            "$$@$$",
            "$tag$@$tag$",
            "$/@/$",
            "“@”",
        ] {
            let value = "k3J9!xQ7wZ2p";
            let text = format!("x {};", syntax.replace('@', value));
            assert_eq!(literal(text.as_bytes(), 2).map(|found| &text[found]), Some(value), "{text}");
        }
        for text in ["quit(x)", "% x", "[x]", "$name", "%q", "'x'", "r\"x\"", "Q", "$x y$z$x y$", "q(k3)x", "$$k3$$x"] {
            assert_eq!(literal(text.as_bytes(), 0), None, "{text}");
        }
    }
}
