//! Translates the globs of git to regular expressions.
//!
//! A glob has the same meaning as in git: it matches bytes, braces have no special meaning, no wildcard
//! except `**` matches a slash, and a class may contain escapes and names such as `[:digit:]`.

use std::fmt::Write;

/// The characters that have a special meaning in a glob.
pub(crate) const SPECIAL: &[char] = &['*', '?', '[', '\\'];

const ANY_BYTE: &str = "[^/]";

/// The regular expression of a glob. `None` if the glob matches no path: it ends with a backslash, or it has
/// a class that is empty, that does not end, or that contains an unknown name.
pub(crate) fn regex(glob: &str) -> Option<String> {
    let bytes = glob.as_bytes();
    let first_special = glob.find(SPECIAL);
    let mut regex = r"(?s-u)\A".to_owned();
    let mut position = 0;
    while let Some(byte) = bytes.get(position) {
        position = match byte {
            b'*' => add_stars(&mut regex, bytes, position, first_special == Some(position)),
            b'?' => {
                regex.push_str(ANY_BYTE);
                position + 1
            }
            b'[' => {
                let (class, end) = Class::read(bytes, position)?;
                class.add_to(&mut regex)?;
                end
            }
            b'\\' => {
                add_byte(&mut regex, *bytes.get(position + 1)?);
                position + 2
            }
            _ => {
                add_byte(&mut regex, *byte);
                position + 1
            }
        };
    }
    regex.push_str(r"\z");
    Some(regex)
}

/// Adds the stars at this position, and returns the position after them. Several stars match slashes only if
/// they are a whole part of the glob, between slashes or the ends of the glob. Git compares the text before
/// the first wildcard separately, so the stars after this text are treated as the beginning of a part.
fn add_stars(regex: &mut String, glob: &[u8], start: usize, is_first_special: bool) -> usize {
    let num_stars = glob[start..].iter().take_while(|byte| **byte == b'*').count();
    let (before, after) = (&glob[..start], &glob[start + num_stars..]);
    let begins_part = before.is_empty() || before.ends_with(b"/") || is_first_special;
    let ends_part = after.is_empty() || after.starts_with(b"/") || after.starts_with(br"\/");
    if num_stars == 1 || !begins_part || !ends_part {
        regex.push_str("[^/]*");
    } else if after.starts_with(b"/") {
        regex.push_str("(?:.*/)?");
        return start + num_stars + 1;
    } else {
        regex.push_str(".*");
    }
    start + num_stars
}

fn add_byte(regex: &mut String, byte: u8) {
    if byte.is_ascii_alphanumeric() {
        regex.push(char::from(byte));
    } else {
        // Writing to a string cannot fail.
        let _ = write!(regex, r"\x{byte:02x}");
    }
}

/// The bytes that a class matches.
struct Class([bool; 256]);

impl Class {
    /// Reads the class at this position, and returns it with the position after it.
    fn read(glob: &[u8], start: usize) -> Option<(Self, usize)> {
        let mut class = Self([false; 256]);
        let is_negative = matches!(glob.get(start + 1)?, b'!' | b'^');
        let mut position = start + 1 + usize::from(is_negative);
        let mut previous = None;
        loop {
            (previous, position) = class.add_item(glob, position, previous)?;
            if *glob.get(position)? == b']' {
                break;
            }
        }
        if is_negative {
            class.0.iter_mut().for_each(|is_member| *is_member = !*is_member);
        }
        class.0[usize::from(b'/')] = false;
        Some((class, position + 1))
    }

    /// Adds the byte, range or name at this position. Returns the byte with which a range may begin, and the
    /// position after the item.
    fn add_item(&mut self, glob: &[u8], at: usize, previous: Option<u8>) -> Option<(Option<u8>, usize)> {
        let is_range = glob[at..].starts_with(b"-") && glob.get(at + 1).is_some_and(|next| *next != b']');
        if let (Some(first), true) = (previous, is_range) {
            let (last, end) = byte_at(glob, at + 1)?;
            (first..=last).for_each(|byte| self.0[usize::from(byte)] = true);
            return Some((None, end));
        }
        if glob[at..].starts_with(b"[:") {
            let end = at + 2 + glob[at + 2..].iter().position(|byte| *byte == b']')?;
            if let Some(name) = glob[at + 2..end].strip_suffix(b":") {
                let is_member = named_class(name)?;
                (0..=u8::MAX).filter(is_member).for_each(|byte| self.0[usize::from(byte)] = true);
                return Some((None, end + 1));
            }
        }
        let (byte, end) = byte_at(glob, at)?;
        self.0[usize::from(byte)] = true;
        Some((Some(byte), end))
    }

    /// `None` if the class has no bytes.
    fn add_to(&self, regex: &mut String) -> Option<()> {
        let start = regex.len();
        regex.push('[');
        let mut byte = 0;
        while byte < self.0.len() {
            let length = self.0[byte..].iter().take_while(|is_member| **is_member).count();
            if length > 0 {
                let _ = write!(regex, r"\x{byte:02x}-\x{:02x}", byte + length - 1);
            }
            byte += length + 1;
        }
        regex.push(']');
        (regex.len() > start + 2).then_some(())
    }
}

/// The byte at this position, which may be escaped, and the position after it.
fn byte_at(glob: &[u8], position: usize) -> Option<(u8, usize)> {
    match *glob.get(position)? {
        b'\\' => Some((*glob.get(position + 1)?, position + 2)),
        byte => Some((byte, position + 1)),
    }
}

fn named_class(name: &[u8]) -> Option<fn(&u8) -> bool> {
    Some(match name {
        b"alnum" => u8::is_ascii_alphanumeric,
        b"alpha" => u8::is_ascii_alphabetic,
        b"blank" => |byte| matches!(byte, b' ' | b'\t'),
        b"cntrl" => u8::is_ascii_control,
        b"digit" => u8::is_ascii_digit,
        b"graph" => u8::is_ascii_graphic,
        b"lower" => u8::is_ascii_lowercase,
        b"print" => |byte| (b' '..=b'~').contains(byte),
        b"punct" => u8::is_ascii_punctuation,
        b"space" => |byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'),
        b"upper" => u8::is_ascii_uppercase,
        b"xdigit" => u8::is_ascii_hexdigit,
        _ => return None,
    })
}
