//! Walks a tree of settings and collects the faults.

use std::ops::RangeInclusive;

use cairn_inventory::{MAX_PATTERNS, Patterns};
use cairn_redaction::{Message, Untrusted, Words};

use crate::fault::{Key, quoted};
use crate::tree::{Node, Value};
use crate::{Fault, InvalidSettings};

/// A node of the tree, with its dotted key.
#[derive(Clone)]
pub(crate) struct At<'n> {
    pub(crate) key: Key,
    pub(crate) line: Option<u32>,
    pub(crate) node: &'n Node,
}

impl<'n> At<'n> {
    pub(crate) fn root(node: &'n Node) -> Self {
        Self { key: Key::default(), line: node.line, node }
    }

    fn items(&self, items: &'n [Node]) -> Vec<At<'n>> {
        let item = |(index, node): (usize, &'n Node)| At { key: self.key.item(index), line: node.line, node };
        items.iter().enumerate().map(item).collect()
    }
}

/// Reads values and collects faults. If a value is invalid, a method records the fault, and returns `None` or
/// a list without the invalid items.
#[derive(Default)]
pub(crate) struct Reader {
    faults: Vec<Fault>,
    hides_values: bool,
    /// Whether faults contain invalid patterns, even if `hides_values` excludes all other values.
    shows_patterns: bool,
}

/// A setting: its key in the file, its environment variable, and its reader.
pub(crate) struct Setting<T: 'static> {
    pub key: &'static str,
    pub variable: &'static str,
    pub apply: fn(&mut Reader, &At<'_>, &mut T),
}

pub(crate) fn set<T>(field: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *field = value;
    }
}

impl Reader {
    /// A reader whose faults never contain a value. Any value in the operator's settings may be a misplaced
    /// secret, and the key is enough for the operator to find the value.
    pub(crate) fn without_values() -> Self {
        Self { hides_values: true, ..Self::default() }
    }

    /// A reader whose faults contain invalid patterns, but no other value. A list of repositories is read in
    /// this way: its addresses may contain passwords, and its patterns are names of files.
    pub(crate) fn with_patterns_only() -> Self {
        Self { shows_patterns: true, ..Self::without_values() }
    }

    pub(crate) fn fault(&mut self, at: &At<'_>, message: impl Into<Message>) {
        self.add(Fault { line: at.line, key: at.key.clone(), message: message.into() });
    }

    pub(crate) fn add(&mut self, fault: Fault) {
        self.faults.push(fault);
    }

    pub(crate) fn finish<T>(self, file: &str, value: T) -> Result<T, InvalidSettings> {
        if self.faults.is_empty() {
            return Ok(value);
        }
        let mut faults = self.faults;
        faults.sort_by_key(|fault| fault.line.unwrap_or(0));
        Err(InvalidSettings { file: file.to_owned(), faults })
    }

    /// Returns the entries of a mapping that permits only known keys. For an unknown key, the fault names the
    /// nearest known key.
    pub(crate) fn mapping<'n>(&mut self, at: &At<'n>, known: &[&'static str]) -> Vec<(&'static str, At<'n>)> {
        let mut entries = Vec::new();
        for (key, child) in self.entries(at) {
            match known.iter().find(|name| **name == key) {
                Some(name) => entries.push((*name, At { key: at.key.child(name), ..child })),
                None => self.fault(&child, unknown_key(known, key)),
            }
        }
        entries
    }

    /// The entries of a mapping that permits any key.
    pub(crate) fn entries<'n>(&mut self, at: &At<'n>) -> Vec<(&'n str, At<'n>)> {
        match &at.node.value {
            Value::Null => Vec::new(),
            Value::Mapping(entries) => {
                let child = |(key, line, node): &'n (String, Option<u32>, Node)| {
                    (key.as_str(), At { key: at.key.untrusted_child(key), line: line.or(node.line), node })
                };
                entries.iter().map(child).collect()
            }
            other => {
                self.expected(at, "a mapping of keys to values", other);
                Vec::new()
            }
        }
    }

    /// The elements of a list. An empty value is an empty list.
    pub(crate) fn list<'n>(&mut self, at: &At<'n>) -> Vec<At<'n>> {
        match &at.node.value {
            Value::Null => Vec::new(),
            Value::List(items) => at.items(items),
            other => {
                self.expected(at, "a list", other);
                Vec::new()
            }
        }
    }

    pub(crate) fn text(&mut self, at: &At<'_>) -> Option<String> {
        match &at.node.value {
            Value::Text(text) if !text.trim().is_empty() => Some(text.clone()),
            Value::Text(_) => {
                self.fault(at, "is empty");
                None
            }
            other => {
                let found = self.describe(other);
                self.fault(at, Message::from("expected text, found ").and(found).and(" (put it in quotes)"));
                None
            }
        }
    }

    /// A list of texts. A single text is read as a list with one element.
    pub(crate) fn texts<'n>(&mut self, at: &At<'n>) -> Vec<(String, At<'n>)> {
        let items = match &at.node.value {
            Value::Text(_) => vec![at.clone()],
            _ => self.list(at),
        };
        items.into_iter().filter_map(|item| Some((self.text(&item)?, item))).collect()
    }

    /// A list of globs, without the invalid globs.
    pub(crate) fn globs(&mut self, at: &At<'_>) -> Vec<String> {
        let mut globs = Vec::new();
        let texts = self.texts(at);
        if texts.len() > MAX_PATTERNS {
            let message = Message::from("the list has more than ").and(MAX_PATTERNS).and(" patterns");
            self.fault(at, message);
            return globs;
        }
        for (glob, item) in texts {
            match Patterns::check(&glob) {
                Ok(()) => globs.push(glob),
                Err(fault) => {
                    let is_shown = self.shows_patterns || !self.hides_values;
                    let pattern = Message::from(if is_shown { "invalid pattern " } else { "invalid pattern" });
                    let pattern = if is_shown { pattern.and(quoted(&glob)) } else { pattern };
                    self.fault(&item, pattern.and(": ").and(fault));
                }
            }
        }
        globs
    }

    pub(crate) fn flag(&mut self, at: &At<'_>) -> Option<bool> {
        match &at.node.value {
            Value::Flag(flag) => return Some(*flag),
            // In the environment, every value is a text.
            Value::Text(text) if at.node.line.is_none() => match text.to_ascii_lowercase().as_str() {
                "1" | "true" | "yes" | "on" => return Some(true),
                "0" | "false" | "no" | "off" => return Some(false),
                _ => {}
            },
            _ => {}
        }
        self.expected(at, "true or false", &at.node.value);
        None
    }

    pub(crate) fn integer(&mut self, at: &At<'_>, range: RangeInclusive<i64>) -> Option<u64> {
        let integer = match &at.node.value {
            Value::Integer(integer) => Some(*integer),
            Value::Text(text) if at.node.line.is_none() => text.trim().parse().ok(),
            _ => None,
        };
        if let Some(integer) = integer.filter(|integer| range.contains(integer)) {
            return u64::try_from(integer).ok();
        }
        let range = Message::from("a whole number from ").and(*range.start()).and(" to ").and(*range.end());
        self.expected(at, range, &at.node.value);
        None
    }

    /// A number greater than 0 and at most 1.
    pub(crate) fn share(&mut self, at: &At<'_>) -> Option<f64> {
        let number = match &at.node.value {
            Value::Integer(1) => Some(1.0),
            Value::Number(number) => Some(*number),
            _ => None,
        };
        if let Some(number) = number.filter(|number| *number > 0.0 && *number <= 1.0) {
            return Some(number);
        }
        self.expected(at, "a number above 0 and at most 1", &at.node.value);
        None
    }

    /// A number of bytes, or a text with a unit, such as `500 kB` or `1 MiB`.
    pub(crate) fn bytes(&mut self, at: &At<'_>) -> Option<u64> {
        let bytes = match &at.node.value {
            Value::Integer(integer) => u64::try_from(*integer).ok(),
            Value::Text(text) => parse_bytes(text),
            _ => None,
        };
        if bytes.is_none() {
            self.expected(at, "a number of bytes (1048576) or a size (1 MiB)", &at.node.value);
        }
        bytes
    }

    fn expected(&mut self, at: &At<'_>, expected: impl Words, found: &Value) {
        let found = self.describe(found);
        self.fault(at, Message::from("expected ").and(expected).and(", found ").and(found));
    }

    fn describe(&self, value: &Value) -> Message {
        let (kind, text) = match value {
            Value::Null => ("nothing", None),
            Value::List(_) => ("a list", None),
            Value::Mapping(_) => ("a mapping", None),
            Value::Flag(flag) => ("a flag", Some(flag.to_string())),
            Value::Integer(integer) => ("a whole number", Some(integer.to_string())),
            Value::Number(number) => ("a number", Some(number.to_string())),
            Value::Text(text) => ("text", Some(text.clone())),
        };
        let shown = text.map(|text| self.value(quoted(&text)));
        shown.map_or(kind.into(), |shown| Message::from(kind).and(shown))
    }

    /// A space and the value, or an empty text if faults must not contain values.
    pub(crate) fn value(&self, value: Untrusted) -> Message {
        match self.hides_values {
            true => Message::default(),
            false => Message::from(" ").and(value),
        }
    }
}

fn parse_bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    let factor = match text[digits..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        _ => return None,
    };
    text[..digits].parse::<u64>().ok()?.checked_mul(factor)
}

/// The message about an unknown key. The message names the nearest known key. The unknown key itself is the
/// key of the fault.
pub fn unknown_key(known: &[&'static str], key: &str) -> Message {
    let message = Message::from("unknown key");
    match nearest(known, key) {
        Some((name, _)) => message.and("; the nearest known key is `").and(name).and("`"),
        None => message,
    }
}

/// If the similarity of an unknown key to every known key is below this value, the key is not treated as a
/// misspelled key.
const SIMILAR: f64 = 0.5;

/// Whether an unknown key is a misspelled key. Any other unknown key may be a misplaced secret, so it is not
/// shown.
pub fn is_typing_error(known: &[&'static str], key: &str) -> bool {
    nearest(known, key).is_some_and(|(_, likeness)| likeness >= SIMILAR)
}

/// The most similar known key, and its similarity from 0 to 1.
fn nearest(known: &[&'static str], key: &str) -> Option<(&'static str, f64)> {
    // The key is shortened, because computing the distance takes quadratic time. A key that is longer than
    // this number of characters is not similar to any known key.
    let key_in_lower_case: String = key.chars().take(80).collect::<String>().to_ascii_lowercase();
    let likeness = |name: &'static str| (name, strsim::normalized_damerau_levenshtein(&key_in_lower_case, name));
    known.iter().map(|name| likeness(name)).max_by(|left, right| left.1.total_cmp(&right.1))
}
