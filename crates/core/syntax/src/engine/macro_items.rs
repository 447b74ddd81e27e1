//! Finds the parts of a macro's text that are not items, for macros that wrap items in their own syntax.

use std::ops::Range;

/// The parts of a Rust macro's text without which the rest is a list of items: the conditions and braces of
/// `cfg_if!`, the type and the values of each `struct` in `bitflags!`, and the word `ref` in `lazy_static!`.
/// The parts are sorted and inside `inner`. The result is a guess: the caller must parse the rest and check
/// that it has no errors.
pub(super) fn parts_that_are_not_items(text: &str, inner: &Range<usize>) -> Vec<Range<usize>> {
    let mut parts = conditions(text, inner);
    parts.extend(values_of_flags(text, inner));
    let lazy = text[inner.clone()].match_indices("static ref ");
    parts.extend(lazy.map(|(at, _)| inner.start + at + "static ".len()..inner.start + at + "static ref ".len()));
    parts.sort_unstable_by_key(|part| part.start);
    // A part inside another part is contained in the outer one.
    let mut end = 0;
    parts.retain(|part| {
        let is_outermost = part.start >= end;
        end = end.max(part.end);
        is_outermost
    });
    parts
}

/// The conditions and braces of `if #[cfg(…)] { … } else if #[cfg(…)] { … } else { … }`. Empty if the text is
/// not exactly such a chain.
fn conditions(text: &str, inner: &Range<usize>) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut at = inner.start;
    loop {
        let rest = &text[at..inner.end];
        let branch = rest.trim_start();
        if branch.is_empty() && !parts.is_empty() {
            return parts;
        }
        let is_branch = match parts.is_empty() {
            true => branch.starts_with("if #["),
            false => branch.strip_prefix("else").is_some_and(|rest| rest.trim_start().starts_with(['{', 'i'])),
        };
        let open = rest.find('{').map(|open| at + open);
        let Some((open, close)) =
            open.filter(|_| is_branch).and_then(|open| Some((open, closing(text, open, inner.end)?)))
        else {
            return Vec::new();
        };
        parts.extend([at..open + 1, close..close + 1]);
        at = close + 1;
    }
}

/// For each `struct Name: Type { … }`: the type, and the text between the braces.
fn values_of_flags(text: &str, inner: &Range<usize>) -> Vec<Range<usize>> {
    let part = |(at, keyword): (usize, &str)| {
        let name = inner.start + at + keyword.len();
        let is_name = |sign: char| sign.is_alphanumeric() || sign == '_';
        let colon = name + text[name..inner.end].find(|sign| !is_name(sign))?;
        let open = colon + text[colon..inner.end].find(['{', ';', '}', '('])?;
        let has_type = text[colon..open].trim_start().starts_with(':') && text[open..].starts_with('{');
        let close = has_type.then(|| closing(text, open, inner.end))??;
        Some([colon..open, open + 1..close])
    };
    text[inner.clone()].match_indices("struct ").filter_map(part).flatten().collect()
}

/// The position of the brace that closes the brace at `open`. Braces in strings, characters and comments of a
/// line are skipped.
fn closing(text: &str, open: usize, end: usize) -> Option<usize> {
    let bytes = &text.as_bytes()[..end];
    let (mut at, mut depth) = (open, 0_usize);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 1 => return Some(at),
            b'}' => depth -= 1,
            b'/' if bytes[at..].starts_with(b"//") => at += bytes[at..].iter().position(|byte| *byte == b'\n')?,
            b'\'' if bytes[at..].starts_with(b"'{'") || bytes[at..].starts_with(b"'}'") => at += 2,
            b'"' => {
                at += 1;
                while *bytes.get(at)? != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::parts_that_are_not_items;

    /// `expect` is the text without the parts.
    fn check(text: &str, expect: &str) {
        let mut kept = text.to_owned();
        for part in parts_that_are_not_items(text, &(0..text.len())).into_iter().rev() {
            kept.replace_range(part, "");
        }
        assert_eq!(kept.split_whitespace().collect::<Vec<_>>().join(" "), expect, "{text}");
    }

    #[test]
    fn syntax_around_items_is_found() {
        check(
            "if #[cfg(unix)] { fn a() {} } else if #[cfg(x)] { mod b; } else { fn c() {} }",
            "fn a() {} mod b; fn c() {}",
        );
        check(
            "if #[cfg(unix)] { fn a() { \"}\"; '}'; /* } */ } } // }\n",
            "if #[cfg(unix)] { fn a() { \"}\"; '}'; /* } */ } } // }",
        );
        check("fn a() { if b { c } else { d } }", "fn a() { if b { c } else { d } }");
        check(
            "struct A: u32 { const B = 1; } struct C { d: E } struct F(u8);",
            "struct A{} struct C { d: E } struct F(u8);",
        );
        check(
            "static ref A: B = c(); pub static ref D: E = { struct G: H { i }; };",
            "static A: B = c(); pub static D: E = { struct G{}; };",
        );
    }
}
