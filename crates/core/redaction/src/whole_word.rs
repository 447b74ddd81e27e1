//! Extends a secret to the end of its word. Some rules limit the length of a value. The rest of a longer
//! secret must not remain visible.

use std::ops::Range;

/// Maximum number of bytes by which a secret is extended.
const REACH: usize = 1 << 14;

/// Extends secrets to the ends of their words. Rules may find several secrets in one long word. Therefore the
/// range of the last word is stored, and each word is read only once.
#[derive(Default)]
pub(crate) struct WholeWords {
    last: Range<usize>,
}

impl WholeWords {
    /// The end of the word or base64 text in which the value ends, or the end of the value if it does not end
    /// inside a word.
    pub(crate) fn end(&mut self, text: &[u8], value: &Range<usize>) -> usize {
        if value.is_empty() || !is_inside_word(text, value.end) {
            return value.end;
        }
        if !self.last.contains(&value.end) {
            let rest = &text[value.end..text.len().min(value.end + REACH)];
            let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+/=_-".contains(byte);
            self.last = value.end..value.end + rest.iter().take_while(is_part).count();
        }
        self.last.end
    }
}

/// Whether `at` is inside a word.
fn is_inside_word(text: &[u8], at: usize) -> bool {
    at > 0 && text[at - 1].is_ascii_alphanumeric() && text.get(at).is_some_and(u8::is_ascii_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_ends_at_the_end_of_its_word() {
        let mut words = WholeWords::default();
        let text = b"k3J9xQ/7wZ2p-L= b \"c\" d,e";
        assert_eq!(words.end(text, &(0..4)), 15);
        assert_eq!(words.end(text, &(1..5)), 15);
        for end in [15, 17, 20, 23, 25] {
            assert_eq!(words.end(text, &(0..end)), end, "{end}");
        }
        assert_eq!(words.end(&[b'a'; 20_000], &(0..100)), 100 + REACH);
    }
}
