//! Finds secrets in base64 text. A base64 sequence is decoded, and the result is searched like any other
//! text.

use std::ops::Range;

/// Maximum length of a base64 sequence, in bytes. Longer sequences are treated as data.
const LONGEST: usize = 16 * 1024;

/// Minimum length of a base64 sequence, in bytes. A shorter sequence cannot contain both a name and a secret.
const SHORTEST: usize = 16;

/// The base64 encodings of the beginnings of words that indicate a secret. Each word has three forms, because
/// its encoding depends on its position relative to the groups of three bytes.
#[rustfmt::skip]
pub(crate) static KEYWORDS: &[&str] = &[
    // Encodings of `password` and `-----BEGIN`.
    "cGFzc3dvcm", "Bhc3N3b3Jk", "wYXNzd29yZ", "LS0tLS1CRUdJT", "0tLS0tQkVHSU", "tLS0tLUJFR0lO",
    // Encodings of `ghp_`, `github_pat_`, `glpat-`, `xoxb-` and `sk_live_`.
    "Z2hwX", "naHBf", "Z2l0aHViX3BhdF", "dpdGh1Yl9wYXRf", "naXRodWJfcGF0X", "Z2xwYXQt", "dscGF0L", "nbHBhdC",
    "eG94Yi", "hveGIt", "4b3hiL", "c2tfbGl2ZV", "NrX2xpdmVf", "za19saXZlX",
    // Encodings of the schemes of connection strings and of `https://`.
    "cG9zdGdyZX", "Bvc3RncmVz", "wb3N0Z3Jlc", "bXlzcWw6Ly", "15c3FsOi8v", "teXNxbDovL", "bW9uZ29kY", "1vbmdvZG",
    "tb25nb2Ri", "cmVkaXM6Ly", "JlZGlzOi8v", "yZWRpczovL", "YW1xcDovL", "FtcXA6Ly", "hbXFwOi8v", "aHR0cHM6Ly",
    "h0dHBzOi8v", "odHRwczovL",
    // Encodings of `secret`, `token"`, `api_key` and `AccountKey`.
    "c2VjcmV0", "NlY3Jld", "zZWNyZX", "dG9rZW4i", "Rva2VuI", "0b2tlbi", "YXBpX2tle", "FwaV9rZX", "hcGlfa2V5",
    "QWNjb3VudEtle", "FjY291bnRLZX", "BY2NvdW50S2V5",
];

/// The base64 sequence around a keyword, and its decoded text. `None` if the decoded bytes are not text.
pub(crate) fn text_around(text: &[u8], hit: &Range<usize>) -> Option<(Range<usize>, String)> {
    let run = run_around(text, hit)?;
    let decoded = String::from_utf8(decode(&text[run.clone()])?).ok()?;
    let is_text = |character: char| !character.is_control() || matches!(character, '\n' | '\r' | '\t');
    decoded.chars().all(is_text).then_some((run, decoded))
}

fn run_around(text: &[u8], hit: &Range<usize>) -> Option<Range<usize>> {
    let floor = hit.start.saturating_sub(LONGEST);
    let is_outside = |byte: &u8| sextet(*byte).is_none();
    let start = floor + text[floor..hit.start].iter().rposition(is_outside).map_or(0, |at| at + 1);
    let rest = &text[hit.end..text.len().min(hit.end + LONGEST)];
    let length = rest.iter().position(is_outside).unwrap_or(rest.len());
    let padding = rest[length..].iter().take(2).take_while(|byte| **byte == b'=').count();
    let run = start..hit.end + length + padding;
    (SHORTEST..LONGEST).contains(&run.len()).then_some(run)
}

/// Decodes base64 in the standard or the URL-safe alphabet, with or without padding. `None` if the value
/// contains a character that is in neither alphabet.
pub(crate) fn decode(value: &[u8]) -> Option<Vec<u8>> {
    let mut bits = 0u32;
    let mut num_bits = 0;
    let mut decoded = Vec::with_capacity(value.len() * 3 / 4);
    for byte in value.iter().filter(|byte| **byte != b'=') {
        bits = bits << 6 | sextet(*byte)?;
        num_bits += 6;
        if num_bits >= 8 {
            num_bits -= 8;
            decoded.push((bits >> num_bits) as u8);
            bits &= (1 << num_bits) - 1;
        }
    }
    Some(decoded)
}

fn sextet(byte: u8) -> Option<u32> {
    let value = match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    };
    Some(u32::from(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthesis::base64;

    #[test]
    fn keywords_match_words_at_every_alignment() {
        for word in ["password", "-----BEGIN", "github_pat_", "postgres://", "secret", "api_key", "AccountKey"] {
            for before in ["", "a", "ab"] {
                let encoded = base64(&format!("{before}{word} and more"));
                let hit = KEYWORDS.iter().find_map(|keyword| encoded.find(keyword).map(|at| at..at + keyword.len()));
                let hit = hit.unwrap_or_else(|| panic!("{word} after {before:?}: {encoded}"));
                let text = format!("k: {encoded}\n");
                let (run, decoded) = text_around(text.as_bytes(), &(hit.start + 3..hit.end + 3)).expect("a text");
                assert_eq!((&text[run], decoded), (encoded.as_str(), format!("{before}{word} and more")));
            }
        }
    }

    #[test]
    fn binary_data_is_not_decoded() {
        assert_eq!(text_around(b"cGFzc3dvcmQ", &(0..10)), None);
        let bytes = [b"cGFzc3dvcm".as_slice(), b"//////////////////"].concat();
        assert_eq!(text_around(&bytes, &(0..10)), None);
    }
}
