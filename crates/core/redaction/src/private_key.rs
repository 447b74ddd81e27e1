//! Private keys: blocks of base64 between `-----BEGIN … PRIVATE KEY-----` and its end, or after PuTTY's
//! `Private-Lines:`. They occur plain, indented, in comments, in string literals with `\n`, and line by line in lists
//! of strings, so only the runs of base64 are redacted and everything around them stays.

use std::ops::Range;

/// Longest body; the largest keys that are used (RSA with 16,384 bits) have about 13,000 bytes.
const LONGEST: usize = 24 * 1024;

/// A body has at least one run as long as this, else it is text about keys.
const TELLING: usize = 24;

/// Appends the runs of base64 of the key whose header holds the keyword at `hit`, in order.
/// Returns whether there was a key.
pub(crate) fn runs(text: &[u8], hit: &Range<usize>, out: &mut Vec<Range<usize>>) -> bool {
    let Some(body) = body(text, hit) else { return false };
    let before = out.len();
    push_runs(text, body, out);
    let told = out[before..].iter().any(|run| run.len() >= TELLING && is_mixed(&text[run.clone()]));
    if !told {
        out.truncate(before);
    }
    told
}

/// From the end of the header to the beginning of the footer.
fn body(text: &[u8], hit: &Range<usize>) -> Option<Range<usize>> {
    let window = &text[hit.start..text.len().min(hit.start + LONGEST)];
    let keyword = &text[hit.clone()];
    if keyword.eq_ignore_ascii_case(b"Private-Lines:") {
        let rest = &window[keyword.len()..];
        let end = find(rest, b"Private-").unwrap_or_else(|| undelimited(rest));
        return Some(hit.end..hit.end + end);
    }
    let line = &window[..window.len().min(120)];
    let kind = find(line, b"PRIVATE KEY").or_else(|| find(line, b"private key"))?;
    if line[..kind].contains(&b'\n') {
        return None;
    }
    let header = kind + line[kind..].iter().position(|byte| *byte == b'-')?;
    let header = header + line[header..].iter().take_while(|byte| **byte == b'-').count();
    let rest = &window[header..];
    let rest = &rest[..find(rest, b"BEGIN ").unwrap_or(rest.len())];
    let end = find(rest, b"-- END").or_else(|| find(rest, b"--END")).unwrap_or_else(|| undelimited(rest));
    Some(hit.start + header..hit.start + header + end)
}

/// A body without a footer ends before the first line without base64, not counting headers (`Proc-Type: …`).
fn undelimited(window: &[u8]) -> usize {
    let mut end = 0;
    let mut begun = false;
    for (index, line) in window.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let telling =
            base64_runs(line).any(|run| run.len() >= 16 && run.len() * 2 >= line.len() && is_mixed(&line[run]));
        let header = !begun && (line.contains(&b':') || line.len() <= 4) && index < 6;
        if index > 0 && !telling && !header {
            break;
        }
        begun |= telling;
        end += line.len();
    }
    end
}

fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
    text.windows(needle.len()).position(|window| window == needle)
}

fn push_runs(text: &[u8], body: Range<usize>, out: &mut Vec<Range<usize>>) {
    let mut start = body.start;
    for line in text[body].split_inclusive(|byte| *byte == b'\n') {
        if !crate::marker::is_in(line) {
            out.extend(base64_runs(line).map(|run| start + run.start..start + run.end));
        }
        start += line.len();
    }
}

/// Runs of at least four signs of base64. A backslash takes the sign after it along, so that `\n` stays an escape.
fn base64_runs(line: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            while at < line.len() && !is_base64(line[at]) {
                at += if line[at] == b'\\' { 2 } else { 1 };
            }
            if at >= line.len() {
                return None;
            }
            let start = at;
            at += line[at..].iter().take_while(|byte| is_base64(**byte)).count();
            if at - start >= 4 {
                return Some(start..at);
            }
        }
    })
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// Capitals, small letters or digits: two kinds at least, and a digit, or it is prose.
fn is_mixed(run: &[u8]) -> bool {
    let has = |kind: fn(&u8) -> bool| run.iter().any(kind);
    let letters = has(u8::is_ascii_lowercase) || has(u8::is_ascii_uppercase);
    let capitals = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    letters
        && (has(u8::is_ascii_digit) || (capitals && crate::entropy::centibits(run) >= 380))
        && crate::entropy::num_distinct(run) >= 8
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "MIIEpAIBAAKCAQEAy8Dbv8prpJ/0kKhlGeJYozo2t60EG8L0561g13R29LvMR5hy";

    fn check(template: &str, expect: &[&str]) {
        let text = template
            .replace("HEAD", &format!("-----{} RSA PRIVATE KEY-----", "BEGIN"))
            .replace("FOOT", "-----END RSA PRIVATE KEY-----")
            .replace('@', LINE);
        let start = text.find("-----BEGIN").expect("a header");
        let mut found = Vec::new();
        runs(text.as_bytes(), &(start..start + 10), &mut found);
        let found: Vec<&str> = found.into_iter().map(|run| &text[run]).collect();
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn bodies_are_found_in_every_wrapping() {
        check("HEAD\n@\nabc9==\nFOOT\n", &[LINE, "abc9=="]);
        check("# HEAD\n# @\n# FOOT\n", &[LINE]);
        check("\"HEAD\\n@\\nabc9==\\nFOOT\"", &[LINE, "abc9=="]);
        check("\"HEAD\\n\",\n \"@\\n\",\n \"FOOT\"", &[LINE]);
        check("HEAD\n@\n@\n\nrest of the text\n", &[LINE, LINE]);
    }

    #[test]
    fn text_about_keys_is_left() {
        check("HEAD\\n\" + body + \"FOOT", &[]);
        check("HEAD\nbase64 goes here\nFOOT", &[]);
        check("HEAD\n[REDACTED:private-key]\nFOOT", &[]);
        check("HEAD", &[]);
    }
}
