//! Represents YAML and TOML by the same kind of tree. Each node has its line number.

use std::fmt;

use cairn_redaction::Message;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;
use toml::de::{DeTable, DeValue};

use crate::Fault;
use crate::fault::{Key, quoted};

/// The maximum size of the text of settings.
const MAX_BYTES: usize = 256 * 1024;

/// A value, and the line where it begins. Values from the environment have no line.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) line: Option<u32>,
    pub(crate) value: Value,
}

#[derive(Clone, Debug)]
pub(crate) enum Value {
    Null,
    Flag(bool),
    Integer(i64),
    Number(f64),
    Text(String),
    List(Vec<Node>),
    /// The keys with their lines, in the order of the file.
    Mapping(Vec<(String, Option<u32>, Node)>),
}

impl Node {
    pub(crate) fn text(text: &str) -> Self {
        Self { line: None, value: Value::Text(text.to_owned()) }
    }

    /// An empty document becomes `Null`. Readers treat `Null` as an empty mapping.
    pub(crate) fn from_yaml(text: &str) -> Result<Self, Fault> {
        check_size(text)?;
        let options = serde_saphyr::options! { with_snippet: false, strict_booleans: true };
        serde_saphyr::from_str_with_options(text, options).map_err(|error| Fault {
            line: error.location().and_then(|location| line_number(location.line())),
            key: Key::default(),
            message: yaml_fault(&error),
        })
    }

    pub(crate) fn from_toml(text: &str) -> Result<Self, Fault> {
        check_size(text)?;
        let line_of = |offset: usize| {
            let before = text.as_bytes().get(..offset).unwrap_or_default();
            u32::try_from(before.iter().filter(|byte| **byte == b'\n').count() + 1).ok()
        };
        let table = DeTable::parse(text).map_err(|error| Fault {
            line: error.span().and_then(|span| line_of(span.start)),
            key: Key::default(),
            message: Message::from("not TOML: ").and(quoted(first_line(error.message()))),
        })?;
        let line = line_of(table.span().start);
        Ok(Node { line, value: table_value(table.get_ref(), &line_of) })
    }
}

/// The fault of a text that cannot be read as YAML. The parser limits the number of values, so that aliases
/// of aliases cannot fill the memory.
fn yaml_fault(error: &serde_saphyr::Error) -> Message {
    use serde_saphyr::Error;
    match error {
        Error::WithSnippet { error, .. } | Error::AliasError { error, .. } => yaml_fault(error),
        Error::Budget { .. }
        | Error::AliasReplayCounterOverflow { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => {
            "the YAML contains too many or too deeply nested values: write fewer values, and no aliases (`*name`)"
                .into()
        }
        error => Message::from("not YAML: ").and(quoted(first_line(&error.to_string()))),
    }
}

fn check_size(text: &str) -> Result<(), Fault> {
    if text.len() <= MAX_BYTES {
        return Ok(());
    }
    let message = Message::default().and(text.len()).and(" bytes are too long for settings; at most ");
    Err(Fault { line: None, key: Key::default(), message: message.and(MAX_BYTES) })
}

fn line_number(line: u64) -> Option<u32> {
    u32::try_from(line).ok().filter(|line| *line > 0)
}

fn first_line(message: &str) -> &str {
    message.lines().next().unwrap_or_default()
}

fn table_value(table: &DeTable<'_>, line_of: &dyn Fn(usize) -> Option<u32>) -> Value {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    let entry = |(key, value): &(&toml::Spanned<_>, &toml::Spanned<DeValue<'_>>)| {
        let key: &toml::Spanned<std::borrow::Cow<'_, str>> = key;
        (key.get_ref().to_string(), line_of(key.span().start), toml_node(value, line_of))
    };
    Value::Mapping(entries.iter().map(entry).collect())
}

fn toml_node(node: &toml::Spanned<DeValue<'_>>, line_of: &dyn Fn(usize) -> Option<u32>) -> Node {
    let value = match node.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Boolean(flag) => Value::Flag(*flag),
        DeValue::Integer(integer) => match i64::from_str_radix(integer.as_str(), integer.radix()) {
            Ok(integer) => Value::Integer(integer),
            Err(_) => Value::Text(integer.to_string()),
        },
        DeValue::Float(number) => number.as_str().parse().map_or(Value::Null, Value::Number),
        DeValue::Datetime(datetime) => Value::Text(datetime.to_string()),
        DeValue::Array(items) => Value::List(items.iter().map(|item| toml_node(item, line_of)).collect()),
        DeValue::Table(table) => table_value(table, line_of),
    };
    Node { line: line_of(node.span().start), value }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<Value>::deserialize(deserializer)?;
        Ok(Self { line: line_number(spanned.referenced.line()), value: spanned.value })
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Flag(flag))
    }

    fn visit_i64<E>(self, integer: i64) -> Result<Value, E> {
        Ok(Value::Integer(integer))
    }

    fn visit_u64<E>(self, integer: u64) -> Result<Value, E> {
        Ok(i64::try_from(integer).map_or_else(|_| Value::Text(integer.to_string()), Value::Integer))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Number(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element::<Node>()? {
            list.push(item);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut mapping = Vec::new();
        while let Some(key) = entries.next_key::<Spanned<String>>()? {
            let line = line_number(key.referenced.line());
            mapping.push((key.value, line, entries.next_value::<Node>()?));
        }
        Ok(Value::Mapping(mapping))
    }
}
