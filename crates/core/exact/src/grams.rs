//! The trigrams of a text: every sequence of three bytes of the folded text within a line.

use crate::fold::fold;

/// Increase this number when a change of the code gives different trigrams for the same text.
pub const GRAMS_VERSION: u64 = 1;

/// Three bytes of folded text, as a number: the first byte is the most significant one.
pub type Gram = u32;

pub(crate) const GRAM_BYTES: usize = 3;
const NUM_GRAMS: usize = 1 << 24;
const MASK: u32 = 0xff_ffff;

/// Collects the distinct trigrams of texts. A reader is large, because it has a bit for each possible
/// trigram, so one reader is used for many texts.
pub struct GramReader {
    seen: Vec<u64>,
    found: Vec<Gram>,
}

impl Default for GramReader {
    fn default() -> Self {
        Self { seen: vec![0; NUM_GRAMS / 64], found: Vec::new() }
    }
}

impl GramReader {
    /// Returns the distinct trigrams of the text, in the order of their first occurrence.
    pub fn read(&mut self, text: &str) -> &[Gram] {
        for gram in std::mem::take(&mut self.found) {
            self.seen[gram as usize / 64] = 0;
        }
        let mut window = Window::default();
        let mut buffer = [0; 4];
        for character in text.chars() {
            if character.is_ascii() {
                self.push(&mut window, (character as u8).to_ascii_lowercase());
            } else {
                for byte in fold(character).encode_utf8(&mut buffer).bytes() {
                    self.push(&mut window, byte);
                }
            }
        }
        &self.found
    }

    fn push(&mut self, window: &mut Window, byte: u8) {
        let Some(gram) = window.push(byte) else { return };
        let (word, bit) = (&mut self.seen[gram as usize / 64], 1 << (gram % 64));
        if *word & bit == 0 {
            *word |= bit;
            self.found.push(gram);
        }
    }
}

/// The last three bytes that were read from the current line.
#[derive(Default)]
struct Window {
    bytes: u32,
    num_bytes: usize,
}

impl Window {
    /// Adds a byte. Returns the trigram that ends with this byte, if the line has at least three bytes so
    /// far.
    fn push(&mut self, byte: u8) -> Option<Gram> {
        if byte == b'\n' {
            self.num_bytes = 0;
            return None;
        }
        self.bytes = (self.bytes << 8 | u32::from(byte)) & MASK;
        self.num_bytes += 1;
        (self.num_bytes >= GRAM_BYTES).then_some(self.bytes)
    }
}

/// The trigrams of a folded text, with repetitions.
pub(crate) fn grams_of(folded: &[u8]) -> impl Iterator<Item = Gram> {
    let mut window = Window::default();
    folded.iter().filter_map(move |byte| window.push(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gram(text: &str) -> Gram {
        text.bytes().fold(0, |gram, byte| gram << 8 | u32::from(byte))
    }

    #[test]
    fn trigrams_are_folded_and_stay_within_lines() {
        let mut reader = GramReader::default();
        let mut check = |text: &str, expect: &[&str]| {
            let expect: Vec<Gram> = expect.iter().map(|text| gram(text)).collect();
            assert_eq!(reader.read(text), expect, "{text}");
        };
        check("abcd", &["abc", "bcd"]);
        check("ABC\u{212a}", &["abc", "bck"]);
        check("ab\ncd", &[]);
        check("aaaa", &["aaa"]);
        check("", &[]);
        check("abc\r\nabc", &["abc", "bc\r"]);
    }
}
