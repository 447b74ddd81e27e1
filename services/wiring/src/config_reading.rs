//! Reads settings from TOML and from environment variables.

use serde::de::DeserializeOwned;
use toml::{Table, Value};

use crate::config_secrets::Secrets;

/// The prefix of the environment variables.
const VARIABLE: &str = "CAIRN__";

/// The setting with the addresses of the broker, which may be a list or one string.
const ADDRESSES: &str = "urls";

/// Settings whose values are always strings. A password that consists of digits must not be read as a number,
/// because the type error would contain the password.
const SECRETS: [&str; 3] = ["password", "api_key", "value"];

/// Reads settings from the values of a file and from environment variables. Errors never contain a value.
pub(crate) fn read_table<T: DeserializeOwned>(
    mut table: Table,
    variables: impl Iterator<Item = (String, String)>,
) -> anyhow::Result<T> {
    for (name, value) in variables {
        if let Some(path) = name.strip_prefix(VARIABLE) {
            let keys: Vec<String> = path.split("__").map(str::to_lowercase).collect();
            let value = match keys.last().map(String::as_str) {
                Some(key) if SECRETS.contains(&key) => Value::String(value),
                Some(ADDRESSES) => addresses(value),
                _ => scalar(value),
            };
            set(&mut table, &keys, value).map_err(|fault| anyhow::anyhow!("the variable `{name}` {fault}"))?;
        }
    }
    let secrets = Secrets::of(&Value::Table(table.clone()));
    table.try_into().map_err(|error: toml::de::Error| anyhow::anyhow!(secrets.removed_from(&error.to_string())))
}

/// The error for settings that are not TOML. It contains the number of the faulty line, but not the line
/// itself, because the line may contain a password.
pub(crate) fn not_toml(text: &str, error: &toml::de::Error) -> anyhow::Error {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    anyhow::anyhow!("the settings are not TOML: line {line}: {}", error.message())
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
