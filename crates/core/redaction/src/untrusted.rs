//! Makes text from repositories, remotes and hosting APIs safe for a message.
//!
//! A message may quote text from these sources, such as a pattern in a settings file, the error output of
//! git, or a description. The message is stored with a run, printed in terminals and returned to agents.
//! [`Untrusted`] is the only form in which such text may be part of a message:
//! - Every secret is redacted, even on lines with a marker such as `cairn:ignore-secret`.
//! - Line breaks, control characters and invisible characters are escaped.
//! - The text has at most [`MAX_UNTRUSTED_CHARS`] characters.
//! - The text is displayed between `«` and `»`. The text itself cannot contain these characters. These
//!   quotation marks are part of the message even when the message is stored as plain text, so
//!   [`message_parts`] can find the quoted parts of any message.

use std::fmt;

use crate::replace;

/// Maximum length of quoted text, in characters after escaping. The quotation marks are not counted.
pub const MAX_UNTRUSTED_CHARS: usize = 300;

/// The quotation marks around untrusted text in a message.
const OPEN: char = '«';
const CLOSE: char = '»';

/// The character that replaces the omitted part of a text that is too long.
const ELLIPSIS: char = '…';

/// A longer text is cut to this number of bytes before it is redacted.
const MAX_REDACTED_BYTES: usize = 16 * 1024;

/// If the cut divides a secret, no rule finds the secret. Therefore, this number of bytes before the cut is
/// not shown. No rule that matches within one line reads more than this number of bytes.
const HIDDEN_BEFORE_CUT_BYTES: usize = 2048;

/// Untrusted text that is safe in a message. `Display` adds the quotation marks. [`Untrusted::as_str`]
/// returns the text without the quotation marks.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Untrusted(String);

impl Untrusted {
    /// Redacts, escapes and shortens the text.
    pub fn new(text: &str) -> Self {
        let cut = text.floor_char_boundary(MAX_REDACTED_BYTES);
        let redacted = replace::redact(&text[..cut], replace::find_all).text;
        let hidden = if cut < text.len() { HIDDEN_BEFORE_CUT_BYTES } else { 0 };
        let shown = &redacted[..redacted.floor_char_boundary(redacted.len().saturating_sub(hidden))];
        Self(escaped(shown.trim_end_matches(['\r', '\n']), hidden > 0))
    }

    /// The same as `new`, for bytes. Invalid UTF-8 is replaced by `U+FFFD`.
    pub fn from_bytes(text: &[u8]) -> Self {
        let cut = text.len().min(MAX_REDACTED_BYTES + 4);
        Self::new(&String::from_utf8_lossy(&text[..cut]))
    }

    /// The beginning of the text, with at most this many characters. If the text is longer, an ellipsis
    /// replaces the part after this limit.
    #[must_use]
    pub fn shortened(mut self, max_chars: usize) -> Self {
        if self.0.chars().count() > max_chars {
            let kept: String = self.0.chars().take(max_chars.saturating_sub(1)).collect();
            self.0 = format!("{kept}{ELLIPSIS}");
        }
        self
    }

    /// The text with at most this many characters. If the text is longer, an ellipsis replaces its middle.
    /// The end is longer than the beginning, because a path ends with the file name, and a qualified name
    /// ends with the name of the symbol.
    #[must_use]
    pub fn without_middle(mut self, max_chars: usize) -> Self {
        let num_chars = self.0.chars().count();
        if num_chars > max_chars {
            let num_kept = max_chars.saturating_sub(1);
            let num_first = num_kept / 3;
            let first: String = self.0.chars().take(num_first).collect();
            let last: String = self.0.chars().skip(num_chars - (num_kept - num_first)).collect();
            self.0 = format!("{first}{ELLIPSIS}{last}");
        }
        self
    }

    /// The text without the quotation marks.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Untrusted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{OPEN}{}{CLOSE}", self.0)
    }
}

/// A short form of [`Untrusted::new`] for format strings: `format!("{} is no pattern", quoted(pattern))`.
pub fn quoted(text: &str) -> Untrusted {
    Untrusted::new(text)
}

/// A part of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MessagePart<'message> {
    /// Text that Cairn wrote.
    Own(&'message str),
    /// Text that [`Untrusted`] quoted, without the quotation marks.
    Untrusted(&'message str),
}

/// The parts of a message, in order, without empty parts. If a closing quotation mark is missing, all text
/// after the opening mark is treated as untrusted.
pub fn message_parts(message: &str) -> impl Iterator<Item = MessagePart<'_>> {
    let mut rest = message;
    let mut is_quote = false;
    std::iter::from_fn(move || {
        loop {
            if rest.is_empty() {
                return None;
            }
            let mark = if is_quote { CLOSE } else { OPEN };
            let (part, after) = rest.split_once(mark).unwrap_or((rest, ""));
            let was_quote = is_quote;
            is_quote = !is_quote;
            rest = after;
            if !part.is_empty() {
                return Some(if was_quote { MessagePart::Untrusted(part) } else { MessagePart::Own(part) });
            }
        }
    })
}

/// The escaped text, with at most [`MAX_UNTRUSTED_CHARS`] characters. `is_cut` is true if the text is only
/// the beginning of a longer text.
fn escaped(text: &str, is_cut: bool) -> String {
    let mut out = String::new();
    let mut num_chars = 0;
    // The position at which the text must be cut if an ellipsis has to follow.
    let mut end_before_ellipsis = 0;
    let mut is_cut = is_cut;
    for character in text.chars() {
        let start = out.len();
        if needs_escape(character) {
            out.extend(character.escape_default());
        } else {
            out.push(character);
        }
        num_chars += out[start..].chars().count();
        if num_chars > MAX_UNTRUSTED_CHARS {
            is_cut = true;
            break;
        }
        if num_chars < MAX_UNTRUSTED_CHARS {
            end_before_ellipsis = out.len();
        }
    }
    if is_cut {
        out.truncate(end_before_ellipsis);
        out.push(ELLIPSIS);
    }
    out
}

/// Whether a character must be escaped: control characters, invisible characters, characters that change the
/// direction of text, and the quotation marks.
fn needs_escape(character: char) -> bool {
    character.is_control()
        || matches!(character, OPEN | CLOSE)
        || matches!(
            character,
            '\u{ad}'
                | '\u{34f}'
                | '\u{600}'..='\u{605}'
                | '\u{61c}'
                | '\u{6dd}'
                | '\u{70f}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn token() -> String {
        format!("gh{}_{}", "p", "k3J9xQ7wZ2pLm8Nc5Vb1TgR4yH6uE0aSdF2g")
    }

    #[test]
    fn secrets_in_untrusted_text_are_redacted() {
        assert_eq!(quoted(&format!("[{}", token())).to_string(), "«[[REDACTED:github-pat]»");
        let marked = format!("{} cairn:ignore-secret", token());
        assert_eq!(quoted(&marked).as_str(), "[REDACTED:github-pat] cairn:ignore-secret");
        let stderr = "fatal: unable to access 'https://bob:k3J9xQ7w@example.org/x.git/'\n";
        assert_eq!(
            Untrusted::from_bytes(stderr.as_bytes()).as_str(),
            "fatal: unable to access 'https://[REDACTED]@example.org/x.git/'"
        );
    }

    #[test]
    fn invisible_characters_and_marks_are_escaped() {
        let text = "a\r\nb\t\u{1b}[31m\u{202e}c\u{200b}\u{e0041}«d» \\ é 本";
        let expect = "a\\r\\nb\\t\\u{1b}[31m\\u{202e}c\\u{200b}\\u{e0041}\\u{ab}d\\u{bb} \\ é 本";
        assert_eq!(quoted(text).as_str(), expect);
        assert_eq!(Untrusted::from_bytes(b"a\xffb\n").as_str(), "a\u{fffd}b");
    }

    #[test]
    fn long_text_is_shortened() {
        let exact = "x".repeat(MAX_UNTRUSTED_CHARS);
        assert_eq!(quoted(&exact).as_str(), exact);
        let shortened = format!("{}…", "x".repeat(MAX_UNTRUSTED_CHARS - 1));
        assert_eq!(quoted(&"x".repeat(9_600)).as_str(), shortened);
        assert_eq!(quoted(&"x".repeat(1 << 20)).as_str(), shortened);
        assert_eq!(quoted(&"\u{1b}".repeat(100)).as_str(), format!("{}…", "\\u{1b}".repeat(49)));
    }

    #[test]
    fn middle_of_a_long_text_is_removed() {
        let path = "modules/payment/src/main/java/com/example/platform/SettlementService.java";
        let check = |max_chars: usize, expect: &str| {
            let shown = quoted(path).without_middle(max_chars);
            assert_eq!(shown.as_str(), expect);
            assert!(shown.as_str().chars().count() <= max_chars.max(1));
        };
        check(73, path);
        check(40, "modules/payme…orm/SettlementService.java");
        check(2, "…a");
        check(1, "…");
        check(0, "…");
        assert_eq!(quoted("größe/größe").without_middle(7).as_str(), "gr…röße");
    }

    #[test]
    fn secret_halved_by_the_cut_is_not_shown() {
        // `encoded` precedes the token. Redaction replaces nearly all of `encoded` with one marker.
        let encoded = "cGFzc3dvcmQ9azNKOXhRN3daMnBMCg".repeat(1 << 10);
        for length in MAX_REDACTED_BYTES - 60..MAX_REDACTED_BYTES {
            let text = format!("{} {} x", &encoded[..length], token());
            assert!(!quoted(&text).as_str().contains("ghp_"), "{length}");
        }
    }

    #[test]
    fn parts_of_a_message_are_found_again() {
        let message = format!("line 3: {} is no pattern ({})", quoted("do « this » now"), quoted(""));
        let parts: Vec<MessagePart<'_>> = message_parts(&message).collect();
        assert_eq!(
            parts,
            [
                MessagePart::Own("line 3: "),
                MessagePart::Untrusted("do \\u{ab} this \\u{bb} now"),
                MessagePart::Own(" is no pattern ("),
                MessagePart::Own(")"),
            ]
        );
        assert_eq!(message_parts("a «b").collect::<Vec<_>>(), [MessagePart::Own("a "), MessagePart::Untrusted("b")]);
        assert_eq!(message_parts("").count(), 0);
    }

    proptest! {
        #[test]
        fn any_text_is_one_bounded_part(text in any::<String>(), times in 1usize..200) {
            let untrusted = quoted(&text.repeat(times));
            prop_assert!(untrusted.as_str().chars().count() <= MAX_UNTRUSTED_CHARS);
            prop_assert!(!untrusted.as_str().chars().any(needs_escape));
            let message = untrusted.to_string();
            prop_assert!(message_parts(&message).count() <= 1);
            prop_assert!(message_parts(&message).all(|part| part == MessagePart::Untrusted(untrusted.as_str())));
        }
    }
}
