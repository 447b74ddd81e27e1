//! Walks a tree of settings and collects its faults.

use std::ops::RangeInclusive;

use cairn_inventory::Patterns;

use crate::tree::{Node, Value};
use crate::{Fault, InvalidSettings};

/// A node with its dotted key.
#[derive(Clone)]
pub(crate) struct At<'n> {
    pub(crate) key: String,
    pub(crate) line: Option<u32>,
    pub(crate) node: &'n Node,
}

impl<'n> At<'n> {
    pub(crate) fn root(node: &'n Node) -> Self {
        Self { key: String::new(), line: node.line, node }
    }

    fn child(&self, key: &str, line: Option<u32>, node: &'n Node) -> Self {
        let key = if self.key.is_empty() { key.to_owned() } else { format!("{}.{key}", self.key) };
        Self { key, line: line.or(node.line), node }
    }

    fn items(&self, items: &'n [Node]) -> Vec<At<'n>> {
        let item =
            |(index, node): (usize, &'n Node)| At { key: format!("{}[{index}]", self.key), line: node.line, node };
        items.iter().enumerate().map(item).collect()
    }
}

/// Each method returns `None`, or fewer items, for a wrong value, and records the fault.
#[derive(Default)]
pub(crate) struct Reader {
    faults: Vec<Fault>,
}

/// A setting with its key in the file, its variable in the environment, and its reader.
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
    pub(crate) fn fault(&mut self, at: &At<'_>, message: impl Into<String>) {
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

    /// The entries of a mapping with known keys. An unknown key is a fault that names the nearest known key.
    pub(crate) fn mapping<'n>(&mut self, at: &At<'n>, known: &[&'static str]) -> Vec<(&'static str, At<'n>)> {
        let mut entries = Vec::new();
        for (key, child) in self.entries(at) {
            match known.iter().find(|name| **name == key) {
                Some(name) => entries.push((*name, child)),
                None => self.fault(&child, unknown_key(key, known)),
            }
        }
        entries
    }

    /// The entries of a mapping with free keys.
    pub(crate) fn entries<'n>(&mut self, at: &At<'n>) -> Vec<(&'n str, At<'n>)> {
        match &at.node.value {
            Value::Null => Vec::new(),
            Value::Mapping(entries) => {
                entries.iter().map(|(key, line, node)| (key.as_str(), at.child(key, *line, node))).collect()
            }
            other => {
                self.fault(at, format!("expected a mapping of keys to values, found {}", describe(other)));
                Vec::new()
            }
        }
    }

    /// The elements of a list. An empty value has none.
    pub(crate) fn list<'n>(&mut self, at: &At<'n>) -> Vec<At<'n>> {
        match &at.node.value {
            Value::Null => Vec::new(),
            Value::List(items) => at.items(items),
            other => {
                self.fault(at, format!("expected a list, found {}", describe(other)));
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
                self.fault(at, format!("expected text, found {} (put it in quotes)", describe(other)));
                None
            }
        }
    }

    /// A list of texts. A single text is a list of one.
    pub(crate) fn texts<'n>(&mut self, at: &At<'n>) -> Vec<(String, At<'n>)> {
        let items = match &at.node.value {
            Value::Text(_) => vec![at.clone()],
            _ => self.list(at),
        };
        items.into_iter().filter_map(|item| Some((self.text(&item)?, item))).collect()
    }

    /// A list of valid globs.
    pub(crate) fn globs(&mut self, at: &At<'_>) -> Vec<String> {
        let mut globs = Vec::new();
        for (glob, item) in self.texts(at) {
            match Patterns::compile(&at.key, std::slice::from_ref(&glob)) {
                Ok(_) => globs.push(glob),
                Err(faults) => faults.iter().for_each(|fault| {
                    self.fault(&item, format!("invalid pattern {}: {}", fault.pattern, fault.message));
                }),
            }
        }
        globs
    }

    pub(crate) fn flag(&mut self, at: &At<'_>) -> Option<bool> {
        match &at.node.value {
            Value::Flag(flag) => return Some(*flag),
            // The environment contains only text.
            Value::Text(text) if at.node.line.is_none() => match text.to_ascii_lowercase().as_str() {
                "1" | "true" | "yes" | "on" => return Some(true),
                "0" | "false" | "no" | "off" => return Some(false),
                _ => {}
            },
            _ => {}
        }
        self.fault(at, format!("expected true or false, found {}", describe(&at.node.value)));
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
        let found = describe(&at.node.value);
        self.fault(at, format!("expected a whole number from {} to {}, found {found}", range.start(), range.end()));
        None
    }

    /// A number above 0 and at most 1.
    pub(crate) fn share(&mut self, at: &At<'_>) -> Option<f64> {
        let number = match &at.node.value {
            Value::Integer(1) => Some(1.0),
            Value::Number(number) => Some(*number),
            _ => None,
        };
        if let Some(number) = number.filter(|number| *number > 0.0 && *number <= 1.0) {
            return Some(number);
        }
        self.fault(at, format!("expected a number above 0 and at most 1, found {}", describe(&at.node.value)));
        None
    }

    /// A number of bytes, or a text with a unit: `500 kB`, `1 MiB`.
    pub(crate) fn bytes(&mut self, at: &At<'_>) -> Option<u64> {
        let bytes = match &at.node.value {
            Value::Integer(integer) => u64::try_from(*integer).ok(),
            Value::Text(text) => parse_bytes(text),
            _ => None,
        };
        if bytes.is_none() {
            let found = describe(&at.node.value);
            self.fault(at, format!("expected a number of bytes (1048576) or a size (1 MiB), found {found}"));
        }
        bytes
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

/// The message about an unknown key, with the nearest known key.
pub(crate) fn unknown_key(key: &str, known: &[&'static str]) -> String {
    let key_in_lower_case = key.to_ascii_lowercase();
    let likeness = |name: &str| strsim::normalized_damerau_levenshtein(&key_in_lower_case, name);
    match known.iter().max_by(|left, right| likeness(left).total_cmp(&likeness(right))) {
        Some(nearest) => format!("unknown key `{}`; the nearest known key is `{nearest}`", shorten(key)),
        None => format!("unknown key `{}`", shorten(key)),
    }
}

fn describe(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Flag(flag) => format!("`{flag}`"),
        Value::Integer(integer) => format!("`{integer}`"),
        Value::Number(number) => format!("`{number}`"),
        Value::Text(text) => format!("`{}`", shorten(text)),
        Value::List(_) => "a list".to_owned(),
        Value::Mapping(_) => "a mapping".to_owned(),
    }
}

fn shorten(text: &str) -> String {
    text.chars().take(80).collect()
}
