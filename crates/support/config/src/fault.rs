//! The faults in settings, as they are shown to users.
//!
//! Settings come from repositories, so their keys and values are untrusted. A fault may contain keys and
//! values of settings only as [`Untrusted`] text. A [`FaultMessage`] consists of Cairn's own words, numbers
//! and quoted text. A [`Key`] records whether a part of its text comes from the file.

use std::fmt;

use cairn_inventory::{InvalidRules, PatternFault};
use cairn_redaction::{InvalidPattern as InvalidSensitiveName, InvalidRule, Untrusted};

/// The maximum number of faults that one message lists. A message gives only the number of further faults.
const MAX_FAULTS: usize = 10;
/// The maximum number of characters of untrusted text in one message.
const MAX_UNTRUSTED_CHARS: usize = 300;
/// The maximum number of characters of one key or value. With this limit, one message has room for two such
/// texts and the explanation of an invalid pattern.
const MAX_QUOTED_CHARS: usize = 80;

/// Untrusted text from the settings, shortened for a message.
pub(crate) fn quoted(text: &str) -> Untrusted {
    Untrusted::new(text).shortened(MAX_QUOTED_CHARS)
}

/// The text of a fault. The text consists of Cairn's own words, numbers and quoted text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct FaultMessage {
    text: String,
    num_untrusted_chars: usize,
}

/// A part of a message. This trait is not implemented for `String` or a borrowed `str`, because a text of
/// these types may come from a repository.
pub trait Words {
    fn add_to(self, message: &mut FaultMessage);
}

impl FaultMessage {
    #[must_use]
    pub fn and(mut self, words: impl Words) -> Self {
        words.add_to(&mut self);
        self
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl From<&'static str> for FaultMessage {
    fn from(text: &'static str) -> Self {
        Self::default().and(text)
    }
}

impl Words for &'static str {
    fn add_to(self, message: &mut FaultMessage) {
        message.text.push_str(self);
    }
}

impl Words for Untrusted {
    fn add_to(self, message: &mut FaultMessage) {
        let shown = self.shortened(MAX_QUOTED_CHARS);
        message.num_untrusted_chars += shown.as_str().chars().count();
        message.text.push_str(&shown.to_string());
    }
}

impl Words for FaultMessage {
    fn add_to(self, message: &mut FaultMessage) {
        message.num_untrusted_chars += self.num_untrusted_chars;
        message.text.push_str(&self.text);
    }
}

impl Words for PatternFault {
    fn add_to(self, message: &mut FaultMessage) {
        let text = self.to_string();
        message.num_untrusted_chars += text.chars().count();
        message.text.push_str(&text);
    }
}

/// Errors with bounded messages that quote every text from a repository.
macro_rules! errors {
    ($($error:ty),*) => {
        $(
            impl Words for $error {
                fn add_to(self, message: &mut FaultMessage) {
                    message.text.push_str(&self.to_string());
                }
            }

            impl From<$error> for FaultMessage {
                fn from(error: $error) -> Self {
                    Self::default().and(error)
                }
            }
        )*
    };
}

errors!(InvalidSettings, InvalidRules, InvalidRule, InvalidSensitiveName);

macro_rules! numbers {
    ($($number:ty),*) => {
        $(impl Words for $number {
            fn add_to(self, message: &mut FaultMessage) {
                message.text.push_str(&self.to_string());
            }
        })*
    };
}

numbers!(i64, u64, usize);

/// A dotted key, for example `pattern_detection.min_cluster_size`, or the name of an environment variable.
/// The key may be empty.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Key {
    text: String,
    /// Whether a part of the key comes from the file.
    is_untrusted: bool,
}

impl Key {
    pub(crate) fn known(key: &'static str) -> Self {
        Self { text: key.to_owned(), is_untrusted: false }
    }

    pub(crate) fn untrusted(key: &str) -> Self {
        Self::default().untrusted_child(key)
    }

    pub(crate) fn child(&self, key: &'static str) -> Self {
        Self { text: self.joined(key), is_untrusted: self.is_untrusted }
    }

    pub(crate) fn untrusted_child(&self, key: &str) -> Self {
        Self { text: self.joined(key), is_untrusted: true }
    }

    pub(crate) fn item(&self, index: usize) -> Self {
        Self { text: format!("{}[{index}]", self.text), is_untrusted: self.is_untrusted }
    }

    fn joined(&self, key: &str) -> String {
        if self.text.is_empty() { key.to_owned() } else { format!("{}.{key}", self.text) }
    }

    /// The key as it is written in the file, for comparison with known keys. This text must never appear in a
    /// message.
    pub(crate) fn as_written(&self) -> &str {
        &self.text
    }

    fn message(&self) -> FaultMessage {
        let message = FaultMessage::default();
        match (self.text.as_str(), self.is_untrusted) {
            ("", _) => message,
            (text, true) => message.and(quoted(text)).and(": "),
            (text, false) => FaultMessage { text: format!("`{text}`: "), ..message },
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.message().as_str())
    }
}

/// One fault and its place in the settings.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Fault {
    /// The line, counted from 1. None for a fault in the environment or in the file as a whole.
    pub line: Option<u32>,
    pub key: Key,
    pub message: FaultMessage,
}

impl Fault {
    fn whole(&self) -> FaultMessage {
        let place = match self.line {
            Some(line) => FaultMessage::from("line ").and(u64::from(line)).and(": "),
            None => FaultMessage::default(),
        };
        place.and(self.key.message()).and(self.message.clone())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.whole().as_str())
    }
}

/// Settings that cannot be used, with all their faults in the order of the lines. A run with such settings
/// fails with `invalid_settings`, and the published generation stays published.
///
/// The message lists the first faults and gives the number of further faults. The message contains at most
/// 300 characters of untrusted text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InvalidSettings {
    /// The name of the settings file, for example `.cairn.yaml`.
    pub file: String,
    pub faults: Vec<Fault>,
}

impl std::error::Error for InvalidSettings {}

impl fmt::Display for InvalidSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "invalid settings in {}", self.file)?;
        let (mut num_shown, mut num_untrusted_chars) = (0, 0);
        for fault in self.faults.iter().map(Fault::whole).take(MAX_FAULTS) {
            num_untrusted_chars += fault.num_untrusted_chars;
            if num_shown > 0 && num_untrusted_chars > MAX_UNTRUSTED_CHARS {
                break;
            }
            write!(formatter, "{} {}", if num_shown == 0 { ":" } else { ";" }, fault.as_str())?;
            num_shown += 1;
        }
        match self.faults.len() - num_shown {
            0 => Ok(()),
            num_others => write!(formatter, "; and {num_others} more"),
        }
    }
}
