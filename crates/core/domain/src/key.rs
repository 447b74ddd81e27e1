//! The 128-bit key that every derived id contains.

use std::fmt;

/// A 128-bit key: the hash of the fields that identify an object. Keys are ordered, but the order has no
/// meaning.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key128(pub [u8; 16]);

impl fmt::Display for Key128 {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.0 {
            write!(formatter, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Key128 {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl Key128 {
    /// Parses the 32 hexadecimal digits that `Display` writes.
    pub fn parse(text: &str) -> Option<Key128> {
        if text.len() != 32 || !text.is_ascii() {
            return None;
        }
        let mut bytes = [0; 16];
        for (index, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * index..2 * index + 2], 16).ok()?;
        }
        Some(Key128(bytes))
    }
}
