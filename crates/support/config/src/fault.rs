//! The faults in settings, as they are shown to users.
//!
//! Settings come from repositories, so their keys and values are untrusted. A fault may contain keys and
//! values of settings only as [`Untrusted`] text. A [`Message`] consists of Cairn's own words, numbers and
//! quoted text. A [`Key`] records whether a part of its text comes from the file.

use std::fmt;

use cairn_redaction::{MAX_QUOTED_CHARS, MAX_UNTRUSTED_CHARS, Message, Own, Untrusted, Words};

/// The maximum number of faults that one message lists. A message gives only the number of further faults.
const MAX_FAULTS: usize = 10;

/// Untrusted text from the settings, shortened for a message.
pub(crate) fn quoted(text: &str) -> Untrusted {
    Untrusted::new(text).shortened(MAX_QUOTED_CHARS)
}

impl Words for InvalidSettings {
    fn add_to(self, message: &mut Message) {
        Own(self.to_string()).add_to(message);
    }
}

impl From<InvalidSettings> for Message {
    fn from(error: InvalidSettings) -> Self {
        Self::default().and(error)
    }
}

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

    fn message(&self) -> Message {
        let message = Message::default();
        match (self.text.as_str(), self.is_untrusted) {
            ("", _) => message,
            (text, true) => message.and(quoted(text)).and(": "),
            (text, false) => message.and(Own(format!("`{text}`: "))),
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
    pub message: Message,
}

impl Fault {
    fn whole(&self) -> Message {
        let place = match self.line {
            Some(line) => Message::from("line ").and(u64::from(line)).and(": "),
            None => Message::default(),
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
            num_untrusted_chars += fault.num_untrusted_chars();
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
