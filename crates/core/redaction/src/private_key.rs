//! Finds private keys: blocks of base64 between `-----BEGIN … PRIVATE KEY-----` and the footer, or after
//! `Private-Lines:` in files of PuTTY.
//!
//! A key may be indented, divided into the lines of a list of strings, or contained in a comment or in a
//! string literal with `\n`. Only the base64 sequences are redacted. The text around them is not changed.

use std::ops::Range;

/// Maximum length of the body of a key (the text between header and footer), in bytes. The bodies of the
/// largest keys in use (RSA with 16,384 bits) have about 13,000 bytes.
const LONGEST: usize = 24 * 1024;

/// Minimum length of the longest base64 sequence in the body of a key. A text without a sequence of this
/// length only describes keys.
const TELLING: usize = 24;

/// Appends to `out`, in order, the base64 sequences of the key whose header contains the keyword at `hit`.
/// Returns whether a key was found.
pub(crate) fn runs(text: &[u8], hit: &Range<usize>, out: &mut Vec<Range<usize>>) -> bool {
    let Some(body) = body(text, hit) else { return false };
    let before = out.len();
    push_runs(text, body, out);
    let reported = out[before..].iter().any(|run| run.len() >= TELLING && is_mixed(&text[run.clone()]));
    if !reported {
        out.truncate(before);
    }
    reported
}

/// Texts at the beginning of the base64 of private keys: PKCS #1, PKCS #8 (RSA, encrypted, EC, Ed25519), SEC
/// 1, DSA and OpenSSH. These texts identify a key that has no header.
pub(crate) static BODIES: &[&str] = &[
    "IBAAKC",
    "IBADANBgkqhkiG9w0BAQEFAASC",
    "MIGHAgEAMBMGByqGSM49",
    "MHcCAQEE",
    "MIGkAgEBBD",
    "MC4CAQAwBQYDK2Vw",
    "IBAAKBg",
    "BgkqhkiG9w0BBQ0",
    "b3BlbnNzaC1rZXktdjEA",
];

/// Minimum length of the first line of a key without a header, in bytes.
const SHORTEST_BARE: usize = 40;

/// Appends to `out` the lines of a key without a header: the base64 sequence that begins at or shortly before
/// the keyword, and the base64 sequences on the lines below. Returns whether a key was found.
pub(crate) fn bare_runs(text: &[u8], hit: &Range<usize>, out: &mut Vec<Range<usize>>) -> bool {
    let begins_run = BODIES.iter().any(|body| text[hit.clone()] == *body.as_bytes());
    let floor = hit.start.saturating_sub(16);
    let start = floor + text[floor..hit.start].iter().rposition(|byte| !is_base64(*byte)).map_or(0, |at| at + 1);
    let is_head = start == hit.start || text[start..].starts_with(b"MII");
    if !begins_run || !is_head {
        return false;
    }
    let window = &text[start..text.len().min(start + LONGEST)];
    if window.iter().take_while(|byte| is_base64(**byte)).count() < SHORTEST_BARE {
        return false;
    }
    let mut end = 0;
    for (index, line) in window.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let telling = base64_runs(line).any(|run| run.len() >= TELLING && run.len() * 2 >= line.trim_ascii().len());
        let last = base64_runs(line).any(|run| {
            run.len() * 3 >= line.trim_ascii().len() * 2 && (is_mixed(&line[run.clone()]) || line[run].ends_with(b"="))
        });
        if index > 0 && !telling && !last {
            break;
        }
        end += line.len();
        // A shorter line is the last line of the key.
        if index > 0 && !telling {
            break;
        }
    }
    let before = out.len();
    push_runs(text, start..start + end, out);
    let is_even = |run: &[u8]| run.windows(20).any(|part| crate::entropy::num_distinct(part) == 1);
    let reported = out.get(before).is_some_and(|run| run.len() >= SHORTEST_BARE && !is_even(&text[run.clone()]));
    if !reported {
        out.truncate(before);
    }
    reported
}

/// The private members of a JSON Web Key: `d` for RSA and EC keys, the prime factors and the values that are
/// derived from them for RSA keys, and `k` for a symmetric key.
pub(crate) fn of_jwk(text: &[u8], hit: &Range<usize>, budget: &mut usize) -> Vec<Range<usize>> {
    const MEMBERS: [&[u8]; 7] = [b"d", b"p", b"q", b"dp", b"dq", b"qi", b"k"];
    const REACH: usize = 4096;
    let floor = hit.start.saturating_sub(REACH);
    let start = floor + text[floor..hit.start].iter().rposition(|byte| *byte == b'{').map_or(0, |at| at + 1);
    let rest = &text[hit.end..text.len().min(hit.end + REACH)];
    let end = hit.end + rest.iter().position(|byte| *byte == b'}').unwrap_or(rest.len());
    let mut found = Vec::new();
    if *budget == 0 {
        return found;
    }
    *budget = budget.saturating_sub(end - start);
    let mut name: &[u8] = b"";
    let mut at = start;
    for part in text[start..end].split(|byte| matches!(byte, b'"' | b'\'')) {
        let part_end = at + part.len();
        if MEMBERS.contains(&name) && part.len() >= 32 && crate::entropy::num_distinct(part) >= 8 {
            found.push(at..part_end - usize::from(part.ends_with(b"\\")));
        }
        let plain = part.strip_suffix(b"\\").unwrap_or(part);
        if !plain.trim_ascii().is_empty() && plain.trim_ascii() != b":" {
            name = plain;
        }
        at = part_end + 1;
    }
    found
}

/// The body of the key, from the end of the header to the beginning of the footer.
fn body(text: &[u8], hit: &Range<usize>) -> Option<Range<usize>> {
    let window = &text[hit.start..text.len().min(hit.start + LONGEST)];
    let keyword = &text[hit.clone()];
    if keyword.eq_ignore_ascii_case(b"Private-Lines:") {
        let rest = &window[keyword.len()..];
        let end = find(rest, b"Private-").unwrap_or_else(|| undelimited(rest));
        let mac = &rest[end..];
        let mac = if mac.starts_with(b"Private-MAC:") { mac.iter().position(|byte| *byte == b'\n') } else { Some(0) };
        return Some(hit.end..hit.end + end + mac.unwrap_or(rest.len() - end));
    }
    let line = &window[..window.len().min(120)];
    const KINDS: [&[u8]; 4] = [b"PRIVATE KEY", b"private key", b"SECRET", b"OpenVPN Static key"];
    let kind = KINDS.iter().find_map(|kind| find(line, kind))?;
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

/// The length of a body without a footer. The body ends before the first line that is not base64. Header
/// lines such as `Proc-Type: …` do not end the body.
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

/// The sequences of at least four base64 characters. A backslash and the next character are skipped together,
/// so that `\n` remains an escape.
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

/// Whether a sequence has letters and a digit, or letters of both cases with high entropy. Other sequences
/// are treated as prose.
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
    fn key_is_found_in_every_form_of_text() {
        check("HEAD\n@\nabc9==\nFOOT\n", &[LINE, "abc9=="]);
        check("# HEAD\n# @\n# FOOT\n", &[LINE]);
        check("\"HEAD\\n@\\nabc9==\\nFOOT\"", &[LINE, "abc9=="]);
        check("\"HEAD\\n\",\n \"@\\n\",\n \"FOOT\"", &[LINE]);
        check("HEAD\n@\n@\n\nrest of the text\n", &[LINE, LINE]);
    }

    #[test]
    fn key_without_header_is_found() {
        let check = |text: &str, expect: &[&str]| {
            let hit = BODIES.iter().find_map(|body| text.find(body).map(|at| at..at + body.len())).expect("a body");
            let mut found = Vec::new();
            bare_runs(text.as_bytes(), &hit, &mut found);
            assert_eq!(found.into_iter().map(|run| &text[run]).collect::<Vec<_>>(), expect, "{text}");
        };
        let second = "k3J9xQ7wZ2pLm8Nc5Vb1TgR4yH6uE0aSdF2gk3J9xQ7wZ2pLm8Nc5Vb1TgR4yH6u";
        check(&format!("key:\n{LINE}\n{second}\nabc9==\n\nwords follow\n"), &[LINE, second, "abc9=="]);
        check(&format!("k = \"{LINE}\"\nlet x = 1;\n"), &[LINE]);
        check("see IBAAKC in the text\n", &[]);
    }

    #[test]
    fn private_members_of_jwk_are_found() {
        let secret = "k3J9xQ7wZ2pLm8Nc5Vb1TgR4yH6uE0aSdF2gk3J9xQ7";
        for text in [
            format!("{{\"kty\":\"oct\",\"k\":\"{secret}\",\"alg\":\"HS256\"}}"),
            format!("{{\"d\": \"{secret}\", \"kty\": \"EC\", \"x\": \"AAAA{secret}\"}}"),
        ] {
            let at = text.find("\"kty\"").expect("a type");
            let found = of_jwk(text.as_bytes(), &(at..at + 5), &mut 10_000);
            assert_eq!(found.into_iter().map(|run| &text[run]).collect::<Vec<_>>(), [secret], "{text}");
        }
    }

    #[test]
    fn text_about_keys_is_not_redacted() {
        check("HEAD\\n\" + body + \"FOOT", &[]);
        check("HEAD\nbase64 goes here\nFOOT", &[]);
        check("HEAD\n[REDACTED:private-key]\nFOOT", &[]);
        check("HEAD", &[]);
    }
}
