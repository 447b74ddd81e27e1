//! Checks the value of an argument against the kind of its parameter.

use serde_json::Value;

use super::words::{nearest_word, word_of_other_word};
use crate::mcp::tools::Kind;

/// The fault of a value, and the value that the caller probably meant.
#[derive(Default)]
pub(super) struct Wrong {
    pub(super) what: String,
    pub(super) nearest: Option<Value>,
    pub(super) max_allowed: Option<u64>,
    pub(super) provided: Option<i64>,
}

/// Converts a value to the type in the table. A text may become a number or a flag, and a single word becomes
/// a list.
pub(super) fn checked(kind: &Kind, value: Value) -> Result<Value, Wrong> {
    let wrong = |what: &str| Err(Wrong { what: what.to_owned(), ..Wrong::default() });
    match kind {
        Kind::Text => match value {
            Value::String(text) if !text.trim().is_empty() => Ok(Value::String(text)),
            Value::String(_) => wrong("is empty"),
            Value::Array(values) => match values.as_slice() {
                [Value::String(only)] => {
                    let nearest = Some(Value::from(only.as_str()));
                    Err(Wrong { what: "must be a string".to_owned(), nearest, ..Wrong::default() })
                }
                _ => wrong("must be a string"),
            },
            _ => wrong("must be a string"),
        },
        Kind::Flag => match &value {
            Value::Bool(_) => Ok(value),
            Value::String(text) if text == "true" || text == "false" => Ok(Value::Bool(text == "true")),
            _ => wrong("must be true or false"),
        },
        Kind::Number { min, max } => {
            let number = value.as_u64().or_else(|| value.as_str().and_then(|text| text.trim().parse().ok()));
            bounded(number, &value, *min, *max)
        }
        Kind::List => list(value),
        Kind::Choice(words) => match value {
            Value::String(word) => choice(words, &word),
            _ => wrong(&format!("must be one of {}", words.join(", "))),
        },
        Kind::Choices(words) => {
            let Value::Array(values) = list(value)? else { return wrong("must be a list of strings") };
            let values = values.iter().filter_map(Value::as_str);
            values
                .map(|word| choice(words, word))
                .collect::<Result<Vec<_>, _>>()
                .map(Value::Array)
                .map_err(|wrong| Wrong { nearest: wrong.nearest.map(|word| Value::Array(vec![word])), ..wrong })
        }
    }
}

fn bounded(number: Option<u64>, value: &Value, min: u64, max: u64) -> Result<Value, Wrong> {
    match number {
        Some(number) if (min..=max).contains(&number) => Ok(Value::from(number)),
        Some(number) => Err(Wrong {
            what: format!("must be between {min} and {max} (min_allowed {min}, max_allowed {max}, provided {number})"),
            nearest: Some(Value::from(number.clamp(min, max))),
            max_allowed: Some(max),
            provided: i64::try_from(number).ok(),
        }),
        None if value.is_i64() => Err(Wrong {
            what: format!("must be between {min} and {max} (min_allowed {min}, max_allowed {max}, provided {value})"),
            nearest: None,
            max_allowed: Some(max),
            provided: value.as_i64(),
        }),
        None => Err(Wrong { what: format!("must be a whole number from {min}, not {value}"), ..Wrong::default() }),
    }
}

fn list(value: Value) -> Result<Value, Wrong> {
    match value {
        Value::String(text) => Ok(Value::Array(vec![Value::String(text)])),
        Value::Array(values) if values.iter().all(Value::is_string) => Ok(Value::Array(values)),
        _ => Err(Wrong { what: "must be a list of strings".to_owned(), ..Wrong::default() }),
    }
}

fn choice(words: &[&'static str], given: &str) -> Result<Value, Wrong> {
    let folded = given.trim().to_lowercase();
    if let Some(word) = words.iter().find(|word| **word == folded) {
        return Ok(Value::from(*word));
    }
    let near = word_of_other_word(words, &folded).or_else(|| nearest_word(&folded, words));
    let mean = near.map_or_else(String::new, |word| format!("; did you mean `{word}`?"));
    let what = format!("must be one of {}, but it is `{given}`{mean}", words.join(", "));
    Err(Wrong { what, nearest: near.map(Value::from), ..Wrong::default() })
}
