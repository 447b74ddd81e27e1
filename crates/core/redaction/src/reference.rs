//! Recognises values that are references and not secrets: paths, URLs, files, patterns, addresses and public
//! keys.

use crate::{expression, random};

/// Whether the value is a reference: a path, a URL, a selector, a variable, a file name or a public key.
pub(crate) fn is_reference(value: &[u8]) -> bool {
    if value.len() >= 24 && value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(byte)) {
        // Base64 may contain slashes like a path. In random base64, one in 64 characters is a slash. In a
        // path, about one in five characters is a slash.
        let slashes = value.iter().filter(|byte| **byte == b'/').count();
        return is_public_key(value) || (slashes > 0 && !(slashes * 6 <= value.len() && random::is_random(value)));
    }
    let holds = |needle: &[u8]| value.windows(needle.len()).any(|window| window == needle);
    begins_path(value)
        || holds(b"://")
        || ((holds(b"::") || holds(b"->")) && expression::is_expression(value))
        || value.starts_with(b"arn:")
        || value.starts_with(b"data:")
        || value.starts_with(b"vault:")
        || value.iter().filter(|byte| **byte == b'/').count() * 4 > value.len()
        || value.windows(3).filter(|part| part.eq_ignore_ascii_case(b"%2f")).count() >= 3
        || is_public_key(value)
        || is_file_name(value)
}

/// Whether the value is a path or a selector. A path or selector contains only names and the characters that
/// join names, as in `/etc/x`, `./x`, `~/x`, `#id`, `.class`.
fn begins_path(value: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-~#:$*@+, ".contains(byte) || !byte.is_ascii();
    matches!(value, [b'/' | b'.' | b'#' | b'~', next, ..] if *next != b':')
        && value.iter().all(is_part)
        && value.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_').all(expression::is_name)
}

/// Whether the value begins like a public key in base64. The list contains the beginnings of SSH keys and of
/// X.509 keys (EC and RSA).
pub(crate) fn is_public_key(value: &[u8]) -> bool {
    [
        b"MFkwEwYHKoZIzj0".as_slice(),
        b"MIIBIjANBgkqhkiG9w0BAQEFAAOC",
        b"MIICIjANBgkqhkiG9w0BAQEFAAOC",
        b"AAAAB3Nza",
        b"AAAAC3Nza",
        b"AAAAE2Vj",
        b"AAAAG",
        b"AAAAI",
    ]
    .iter()
    .any(|start| value.starts_with(start))
}

fn is_file_name(value: &[u8]) -> bool {
    const ENDINGS: [&[u8]; 22] = [
        b".pem", b".key", b".json", b".yml", b".yaml", b".txt", b".crt", b".cer", b".pub", b".c", b".go", b".py",
        b".js", b".ts", b".rs", b".java", b".xml", b".toml", b".conf", b".html", b".png", b".h",
    ];
    ENDINGS.iter().any(|ending| value.ends_with(ending))
}

/// Whether the value is a regular expression or a description of allowed characters, such as `a-zA-Z0-9`.
pub(crate) fn is_pattern(value: &[u8]) -> bool {
    const CERTAIN: [&[u8]; 11] =
        [b"\\x", b"[a-z", b"[A-Z", b"[0-9", b"\\d", b"\\w", b"\\s", b"a-zA-Z", b"A-Za-z", b"0-9A-Z", b"0-9a-z"];
    /// A generated password may contain one of these sequences by chance, so one is not enough in a value
    /// with digits.
    const LIKELY: [&[u8]; 4] = [b"(?", b".*", b".+", b"[^"];
    let num = |marks: &[&[u8]]| -> usize {
        marks.iter().map(|mark| value.windows(mark.len()).filter(|window| window == mark).count()).sum()
    };
    let has_digits = value.iter().any(u8::is_ascii_digit);
    num(&CERTAIN) > 0 || num(&LIKELY) > usize::from(has_digits)
}

/// Whether the value is an email address, such as `user@host.org`.
pub(crate) fn is_address(value: &[u8]) -> bool {
    let Some(at) = value.iter().position(|byte| *byte == b'@') else { return false };
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b'+');
    let (user, host) = (&value[..at], &value[at + 1..]);
    !user.is_empty() && user.iter().all(is_part) && host.iter().all(is_part) && host.contains(&b'.') && {
        let last = host.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
        (2..=6).contains(&last.len()) && last.iter().all(u8::is_ascii_lowercase)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_differ_from_passwords() {
        for reference in ["/run/secrets/db", "https://h/x", "a::b", "arn:aws:x", "server.key", "#id", "~/.ssh/id"] {
            assert!(is_reference(reference.as_bytes()), "{reference}");
        }
        for password in ["k3J9xQ7w", "/k3J9!xQ7w", "#aB3$x9Qz"] {
            assert!(!is_reference(password.as_bytes()), "{password}");
        }
    }

    #[test]
    fn patterns_and_addresses_are_recognised() {
        assert!(is_pattern(b"[a-z0-9]+!") && is_pattern(b"\\d{8}") && !is_pattern(b"k3.*J9xQ"));
        assert!(is_address(b"bob@acme.org") && !is_address(b"p@ssW0rd") && !is_address(b"@acme.org"));
    }
}
