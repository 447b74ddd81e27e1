//! Paths within a repository.

use std::fmt;

/// A path relative to the root of a repository, with `/` between its parts.
///
/// Git stores names as bytes. The text form escapes bytes that are not UTF-8, control characters and the
/// backslash (`\xFF`, `\x0A`, `\\`). So every name has exactly one text form, different names have different
/// text forms, and a path fits on one line.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepoPath(String);

/// A text that is not a path within a repository.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InvalidPath {
    #[error("the path is empty")]
    Empty,
    #[error("the path `{0}` is absolute; paths are relative to the repository's root")]
    Absolute(String),
    #[error("the path `{0}` has an empty, `.` or `..` part")]
    BadPart(String),
    #[error("the path `{0}` has a malformed escape (expected `\\\\` or `\\xHH`)")]
    BadEscape(String),
}

impl RepoPath {
    /// Creates a path from the bytes of a name in git or in the file system.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, InvalidPath> {
        if let Some(text) = plain(bytes) {
            return Self::checked(text.to_owned());
        }
        let mut text = String::with_capacity(bytes.len());
        for chunk in bytes.utf8_chunks() {
            for character in chunk.valid().chars() {
                match character {
                    '\\' => text.push_str("\\\\"),
                    control if control.is_control() => {
                        let mut buffer = [0; 4];
                        for byte in control.encode_utf8(&mut buffer).bytes() {
                            text.push_str(&format!("\\x{byte:02X}"));
                        }
                    }
                    other => text.push(other),
                }
            }
            for byte in chunk.invalid() {
                text.push_str(&format!("\\x{byte:02X}"));
            }
        }
        Self::checked(text)
    }

    /// Parses the text form that `as_str` returns. Users type this form, and stores contain it.
    pub fn parse(text: &str) -> Result<Self, InvalidPath> {
        let path = Self::checked(text.to_owned())?;
        if plain(text.as_bytes()).is_some() {
            return Ok(path);
        }
        let bytes = path.to_bytes().ok_or_else(|| InvalidPath::BadEscape(text.to_owned()))?;
        // Unnecessary escapes are removed, because each name has only one text form.
        Self::from_bytes(&bytes)
    }

    fn checked(text: String) -> Result<Self, InvalidPath> {
        if text.is_empty() {
            return Err(InvalidPath::Empty);
        }
        if text.starts_with('/') {
            return Err(InvalidPath::Absolute(text));
        }
        if text.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return Err(InvalidPath::BadPart(text));
        }
        Ok(Self(text))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The bytes of the name. `None` if an escape is malformed; the constructors accept no such path.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        let mut bytes = Vec::with_capacity(self.0.len());
        let mut rest = self.0.as_bytes();
        while let Some((first, after)) = rest.split_first() {
            rest = match (first, after) {
                (b'\\', [b'\\', after @ ..]) => {
                    bytes.push(b'\\');
                    after
                }
                (b'\\', [b'x', high, low, after @ ..]) => {
                    let digit = |byte: u8| (byte as char).to_digit(16);
                    bytes.push((digit(*high)? * 16 + digit(*low)?) as u8);
                    after
                }
                (b'\\', _) => return None,
                (byte, after) => {
                    bytes.push(*byte);
                    after
                }
            };
        }
        Some(bytes)
    }

    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// The directory part; empty for a file in the root.
    pub fn directory(&self) -> &str {
        self.0.rsplit_once('/').map_or("", |(directory, _)| directory)
    }

    /// The extension in lower case: the part of the file name after its last dot. The extension is empty if
    /// the name has none, for example `.gitignore`.
    pub fn extension(&self) -> String {
        match self.file_name().rsplit_once('.') {
            Some((stem, extension)) if !stem.is_empty() => extension.to_lowercase(),
            _ => String::new(),
        }
    }

    /// The file name without its extension.
    pub fn stem(&self) -> &str {
        match self.file_name().rsplit_once('.') {
            Some((stem, _)) if !stem.is_empty() => stem,
            _ => self.file_name(),
        }
    }
}

/// Returns the text if it is printable ASCII without a backslash, because such a text needs no escapes.
/// Nearly all names need no escapes.
fn plain(bytes: &[u8]) -> Option<&str> {
    let is_plain = bytes.iter().all(|byte| matches!(byte, b' '..=b'~') && *byte != b'\\');
    is_plain.then(|| std::str::from_utf8(bytes).ok()).flatten()
}

impl fmt::Display for RepoPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl fmt::Debug for RepoPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(bytes: &[u8], text: &str) {
        let path = RepoPath::from_bytes(bytes).expect("valid");
        assert_eq!(path.as_str(), text);
        assert_eq!(path.to_bytes().as_deref(), Some(bytes));
    }

    #[test]
    fn names_are_escaped_reversibly() {
        check(b"src/lib.rs", "src/lib.rs");
        check("größe.txt".as_bytes(), "größe.txt");
        check(b"a\xffb", "a\\xFFb");
        check(b"a\\xFFb", "a\\\\xFFb");
        check(b"a\nb", "a\\x0Ab");
    }

    #[test]
    fn paths_stay_inside_the_root() {
        for bad in ["", "/etc/passwd", "../x", "a/../b", "a//b", "a/./b", "a/"] {
            assert!(RepoPath::parse(bad).is_err(), "{bad}");
        }
        assert!(RepoPath::parse("a\\q").is_err());
    }

    proptest! {
        #[test]
        fn every_name_has_one_text_form(bytes in prop::collection::vec(any::<u8>(), 1..40)) {
            if let Ok(path) = RepoPath::from_bytes(&bytes) {
                prop_assert_eq!(path.to_bytes(), Some(bytes));
                prop_assert_eq!(RepoPath::parse(path.as_str()), Ok(path));
            }
        }
    }
}
