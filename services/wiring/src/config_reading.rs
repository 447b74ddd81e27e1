//! Reads settings from TOML and from environment variables.

use cairn_config::{is_typing_error, unknown_key};
use serde::de::Deserialize;
use toml::{Table, Value};

use crate::config_tree::{Fault, Misfit, Node, Step};
use crate::invalid_config::InvalidConfig;

/// The prefix of the environment variables.
const VARIABLE: &str = "CAIRN__";

/// The name of the setting with the addresses of the broker. Its value may be a list or one string.
const ADDRESSES: &str = "urls";

/// Settings whose values are always strings. A password that consists of digits must not be read as a number.
const SECRETS: [&str; 3] = ["password", "api_key", "value"];

/// Settings whose keys and values may be secrets. The place of a fault inside such a setting is not shown.
const HIDDEN: [&str; 10] = [
    // The operator also chooses the keys of this table, so the keys may contain secrets.
    "stage_prefetch",
    "urls",
    "management_url",
    "password",
    "api_key",
    "value",
    "access_key_id",
    "secret_access_key",
    "session_token",
    "token",
];

/// Maximum number of faults that are collected.
const MAX_FAULTS: usize = 100;

/// The settings that were read. Settings with a fault have placeholders as values.
pub(crate) struct Read<T> {
    /// `None` if the other settings cannot be read because of the faults.
    pub settings: Option<T>,
    pub faults: Vec<String>,
    /// The sections that have a fault.
    pub faulty: Vec<String>,
}

/// Reads settings from the values of a file and from environment variables, and collects all faults. Faults
/// never contain a value.
pub(crate) fn read_table<T: for<'de> Deserialize<'de>>(
    mut table: Table,
    variables: impl Iterator<Item = (String, String)>,
) -> Read<T> {
    let mut read = Read { settings: None, faults: Vec::new(), faulty: Vec::new() };
    for (name, value) in variables {
        if let Some(path) = name.strip_prefix(VARIABLE) {
            let keys: Vec<String> = path.split("__").map(str::to_lowercase).collect();
            let value = match keys.last().map(String::as_str) {
                Some(key) if SECRETS.contains(&key) => Value::String(value),
                Some(ADDRESSES) => addresses(value),
                _ => scalar(value),
            };
            if let Err(fault) = set(&mut table, &keys, value) {
                read.faults.push(format!("the variable `{name}` {fault}"));
            }
        }
    }
    let mut root = Node::from(Value::Table(table));
    while read.faults.len() < MAX_FAULTS {
        let misfit = match T::deserialize(&root) {
            Ok(settings) => return Read { settings: Some(settings), ..read },
            Err(misfit) => misfit,
        };
        let is_new = replace(&mut root, &misfit);
        // A second fault at the same place is caused by the placeholder. Therefore the section is removed.
        if !is_new && !remove_section(&mut root, &misfit) {
            break;
        }
        if is_new {
            read.faults.push(shown(&misfit));
        }
        read.faulty.extend(section(&misfit).map(str::to_owned));
    }
    read
}

/// The first fault of settings that are not TOML. It contains the number of the faulty line, but not the line
/// itself, because the line may contain a password.
pub(crate) fn not_toml(text: &str, error: &toml::de::Error) -> InvalidConfig {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    InvalidConfig::of_syntax(format!("line {line}: not TOML: {}", error.message()))
}

/// Replaces the value that has the fault with a placeholder, and removes an unknown key. Returns false if the
/// value is already a placeholder.
fn replace(root: &mut Node, misfit: &Misfit) -> bool {
    let mut node = root;
    for step in &misfit.place {
        let next = match (node, step) {
            (Node::Section(entries), Step::Key(key)) => entries.get_mut(key),
            (Node::List(items), Step::Item(position)) => items.get_mut(*position),
            _ => None,
        };
        match next {
            Some(next) => node = next,
            None => return false,
        }
    }
    match (&misfit.fault, node) {
        (Fault::UnknownKey { key, .. }, Node::Section(entries)) => entries.remove(key).is_some(),
        (Fault::MissingKey(key), Node::Section(entries)) => {
            entries.insert((*key).to_owned(), Node::Placeholder).is_none()
        }
        (_, Node::Placeholder) => false,
        (_, node) => {
            *node = Node::Placeholder;
            true
        }
    }
}

/// Removes the section with the fault. Returns false if there is no such section.
fn remove_section(root: &mut Node, misfit: &Misfit) -> bool {
    let (Node::Section(sections), Some(name)) = (root, section(misfit)) else { return false };
    sections.remove(name).is_some()
}

fn section(misfit: &Misfit) -> Option<&str> {
    match misfit.place.first() {
        Some(Step::Key(key)) => Some(key),
        _ => None,
    }
}

/// The fault with its place: ``[neo4j] `url` is missing``.
fn shown(misfit: &Misfit) -> String {
    let (section, name, is_hidden) = place_of(misfit);
    let of_key = |key: &str| if name.is_empty() { key.to_owned() } else { format!("{name}.{key}") };
    match &misfit.fault {
        Fault::UnknownKey { .. } if is_hidden => format!("{section}`{name}`: unknown key"),
        Fault::UnknownKey { key, known } => {
            let place = if is_typing_error(known, key) { of_key(key) } else { name };
            let place = if place.is_empty() { place } else { format!("`{place}`: ") };
            format!("{section}{place}{}", unknown_key(known, key).as_str())
        }
        Fault::MissingKey(key) => format!("{section}`{}` is missing", of_key(key)),
        Fault::Value(reason) if name.is_empty() => format!("{section}{reason}"),
        Fault::Value(reason) => format!("{section}`{name}`: {reason}"),
    }
}

/// The section in brackets, and the name of the setting in this section. The last value is true if a part of
/// the place is left out, because it may contain a secret.
fn place_of(misfit: &Misfit) -> (String, String, bool) {
    let hidden_from = misfit.place.iter().position(|step| matches!(step, Step::Key(key) if HIDDEN.contains(&&**key)));
    let place = hidden_from.map_or(&misfit.place[..], |position| &misfit.place[..=position]);
    let is_hidden = hidden_from.is_some();
    match place {
        // The fault of a setting outside of all sections names the setting, not a section.
        [Step::Key(name)] if matches!(misfit.fault, Fault::Value(_)) => (String::new(), name.clone(), is_hidden),
        [Step::Key(section), Step::Item(position), rest @ ..] => {
            (format!("[[{section}]] {}: ", position + 1), dotted(rest), is_hidden)
        }
        [Step::Key(section), rest @ ..] => (format!("[{section}] "), dotted(rest), is_hidden),
        _ => (String::new(), dotted(place), is_hidden),
    }
}

fn dotted(place: &[Step]) -> String {
    let mut name = String::new();
    for step in place {
        match step {
            Step::Key(key) if name.is_empty() => name.push_str(key),
            Step::Key(key) => name.extend([".", key]),
            Step::Item(position) => name.extend(["[", &position.to_string(), "]"]),
        }
    }
    name
}

/// The addresses of the broker: a list, or a string in which commas separate the addresses.
fn addresses(text: String) -> Value {
    match scalar(text) {
        Value::String(text) => Value::Array(text.split(',').map(|address| Value::from(address.trim())).collect()),
        other => other,
    }
}

fn scalar(text: String) -> Value {
    // The text is read as TOML only if all of it is one TOML value. For example, a URL that begins like a
    // number is a string.
    format!("value = {text}")
        .parse::<Table>()
        .ok()
        .and_then(|mut table| table.remove("value"))
        .unwrap_or(Value::String(text))
}

fn set(table: &mut Table, keys: &[String], value: Value) -> Result<(), String> {
    match keys {
        [] => Err("names no setting".to_owned()),
        [key] => {
            table.insert(key.clone(), value);
            Ok(())
        }
        [key, rest @ ..] => match table.entry(key.clone()).or_insert_with(|| Value::Table(Table::new())) {
            Value::Table(inner) => set(inner, rest, value),
            _ => Err(format!("sets a key in `{key}`, which is not a section")),
        },
    }
}
