//! The settings as a tree, and the reader that turns a tree into settings.
//!
//! Every error names the place of its fault. No error contains a value, because any value may be a misplaced
//! secret, for example a password with a wrong type.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error, Expected, IntoDeserializer, MapAccess, SeqAccess};
use serde::de::{Unexpected, Visitor};
use serde::forward_to_deserialize_any;

/// A value of the settings.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Node {
    /// Replaces a value that has a fault, so that the reader finds the other faults.
    Placeholder,
    Flag(bool),
    Integer(i64),
    Number(f64),
    Text(String),
    List(Vec<Node>),
    Section(BTreeMap<String, Node>),
}

/// The text of a placeholder. Settings for addresses and settings for other texts accept this text.
const PLACEHOLDER: &str = "127.0.0.1:1";

impl From<toml::Value> for Node {
    fn from(value: toml::Value) -> Self {
        match value {
            toml::Value::Boolean(flag) => Self::Flag(flag),
            toml::Value::Integer(integer) => Self::Integer(integer),
            toml::Value::Float(number) => Self::Number(number),
            toml::Value::String(text) => Self::Text(text),
            toml::Value::Datetime(datetime) => Self::Text(datetime.to_string()),
            toml::Value::Array(items) => Self::List(items.into_iter().map(Self::from).collect()),
            toml::Value::Table(table) => {
                Self::Section(table.into_iter().map(|(key, value)| (key, Self::from(value))).collect())
            }
        }
    }
}

/// A fault in the settings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Misfit {
    /// The keys and positions from the root of the settings to the section or value that has the fault.
    pub place: Vec<Step>,
    pub fault: Fault,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    Key(String),
    /// The position in a list, counted from 0.
    Item(usize),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    UnknownKey {
        key: String,
        known: &'static [&'static str],
    },
    MissingKey(&'static str),
    /// The value cannot be used, for this reason.
    Value(String),
}

impl Misfit {
    fn new(fault: Fault) -> Self {
        Self { place: Vec::new(), fault }
    }

    fn inside(mut self, step: Step) -> Self {
        self.place.insert(0, step);
        self
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.fault {
            Fault::UnknownKey { .. } => formatter.write_str("unknown key"),
            Fault::MissingKey(key) => write!(formatter, "`{key}` is missing"),
            Fault::Value(reason) => formatter.write_str(reason),
        }
    }
}

impl std::error::Error for Misfit {}

impl Error for Misfit {
    fn custom<T: fmt::Display>(reason: T) -> Self {
        Self::new(Fault::Value(reason.to_string()))
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::custom(format!("expected {}, found {}", plain(&expected.to_string()), kind(&found)))
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::custom(format!("expected {}", plain(&expected.to_string())))
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        Self::custom(format!("expected {}, found {length} entries", plain(&expected.to_string())))
    }

    fn unknown_variant(_: &str, known: &'static [&'static str]) -> Self {
        let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
        Self::custom(format!("expected {}", known.join(" or ")))
    }

    fn unknown_field(key: &str, known: &'static [&'static str]) -> Self {
        Self::new(Fault::UnknownKey { key: key.to_owned(), known })
    }

    fn missing_field(key: &'static str) -> Self {
        Self::new(Fault::MissingKey(key))
    }
}

/// The words for an expected type. Serde uses the names that types have in Rust.
fn plain(expected: &str) -> String {
    let range = |max: u64| format!("a whole number from 0 to {max}");
    match expected {
        "u8" => range(u8::MAX.into()),
        "u16" => range(u16::MAX.into()),
        "u32" => range(u32::MAX.into()),
        "u64" | "usize" => "a whole number from 0".to_owned(),
        "i8" | "i16" | "i32" | "i64" => "a whole number".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a string" | "path string" => "a text".to_owned(),
        "a sequence" => "a list".to_owned(),
        "a map" => "a section".to_owned(),
        other if other.starts_with("struct ") => "a section".to_owned(),
        other => other.to_owned(),
    }
}

fn kind(found: &Unexpected<'_>) -> &'static str {
    match found {
        Unexpected::Bool(_) => "true or false",
        Unexpected::Unsigned(_) | Unexpected::Signed(_) => "a whole number",
        Unexpected::Float(_) => "a number",
        Unexpected::Char(_) | Unexpected::Str(_) => "a text",
        Unexpected::Seq => "a list",
        Unexpected::Map => "a section",
        _ => "a value of another type",
    }
}

macro_rules! placeholders {
    ($($method:ident => $visit:ident($value:expr)),* $(,)?) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
            match self {
                Node::Placeholder => visitor.$visit($value),
                other => other.deserialize_any(visitor),
            }
        })*
    };
}

impl<'de> Deserializer<'de> for &'de Node {
    type Error = Misfit;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self {
            // The expected type is not known here, for example for a reference to a secret.
            Node::Placeholder => visitor.visit_map(Entries::new([("env", &Node::Placeholder)])),
            Node::Flag(flag) => visitor.visit_bool(*flag),
            Node::Integer(integer) => visitor.visit_i64(*integer),
            Node::Number(number) => visitor.visit_f64(*number),
            Node::Text(text) => visitor.visit_borrowed_str(text),
            Node::List(items) => visitor.visit_seq(Items { items: items.iter(), position: 0 }),
            Node::Section(entries) => {
                visitor.visit_map(Entries::new(entries.iter().map(|(key, node)| (key.as_str(), node))))
            }
        }
    }

    placeholders! {
        deserialize_bool => visit_bool(false),
        deserialize_i64 => visit_i64(1),
        deserialize_u8 => visit_u64(1),
        deserialize_u16 => visit_u64(1),
        deserialize_u32 => visit_u64(1),
        deserialize_u64 => visit_u64(1),
        deserialize_f64 => visit_f64(1.0),
        deserialize_str => visit_borrowed_str(PLACEHOLDER),
        deserialize_string => visit_borrowed_str(PLACEHOLDER),
        deserialize_seq => visit_seq(Items { items: [].iter(), position: 0 }),
        deserialize_map => visit_map(Entries::new([])),
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self {
            Node::Placeholder => visitor.visit_none(),
            other => visitor.visit_some(other),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        keys: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        match self {
            Node::Placeholder => visitor.visit_map(Entries::new(keys.iter().map(|key| (*key, &Node::Placeholder)))),
            other => other.deserialize_any(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        let name = match (self, names) {
            (Node::Text(text), _) => text.as_str(),
            (Node::Placeholder, [first, ..]) => first,
            _ => return Err(Misfit::unknown_variant("", names)),
        };
        let name: StrDeserializer<'de, Misfit> = name.into_deserializer();
        visitor.visit_enum(name)
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i128 u128 f32 char bytes byte_buf unit unit_struct tuple tuple_struct identifier ignored_any
    }
}

/// The entries of a section.
struct Entries<'de, I> {
    entries: I,
    current: Option<(&'de str, &'de Node)>,
}

impl<'de, I: Iterator<Item = (&'de str, &'de Node)>> Entries<'de, I> {
    fn new(entries: impl IntoIterator<IntoIter = I>) -> Self {
        Self { entries: entries.into_iter(), current: None }
    }
}

impl<'de, I: Iterator<Item = (&'de str, &'de Node)>> MapAccess<'de> for Entries<'de, I> {
    type Error = Misfit;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Misfit> {
        self.current = self.entries.next();
        let Some((key, _)) = self.current else { return Ok(None) };
        let key: StrDeserializer<'de, Misfit> = key.into_deserializer();
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Misfit> {
        let (key, node) = self.current.take().unwrap_or(("", &Node::Placeholder));
        seed.deserialize(node).map_err(|misfit| misfit.inside(Step::Key(key.to_owned())))
    }
}

/// The items of a list.
struct Items<'de> {
    items: std::slice::Iter<'de, Node>,
    position: usize,
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Misfit;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Misfit> {
        let Some(node) = self.items.next() else { return Ok(None) };
        let position = self.position;
        self.position += 1;
        seed.deserialize(node).map(Some).map_err(|misfit| misfit.inside(Step::Item(position)))
    }
}
