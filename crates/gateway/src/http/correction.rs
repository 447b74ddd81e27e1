//! Corrects requests that cannot be read: wrong names of fields, values of the wrong type, and paths that do
//! not exist. The error of such a request contains the corrected request, if the corrected request was tried
//! and has an answer.

use serde_json::{Map, Value};

use super::error::HttpError;
use super::query::{fields_of, is};
use super::service::{CallerAgent, Service};
use crate::advice;
use crate::mcp::{field_of, nearest_word};
use crate::questions::{self, GuideQuestion, Question};

/// A request that cannot be read as a question.
pub(super) struct Refused {
    pub path: String,
    /// The JSON of the question, as the caller sent it.
    pub body: Vec<u8>,
    pub error: HttpError,
}

/// A corrected request, and what was corrected.
struct Correction {
    path: &'static str,
    body: Map<String, Value>,
    /// The first field with a wrong name or value, and the name that the caller probably meant.
    fault: Option<(String, &'static str)>,
}

/// The error of a refused request, with the corrected request or with the guide.
pub(super) async fn corrected(service: &Service, agent: &CallerAgent, refused: Refused) -> HttpError {
    let Refused { path, body, mut error } = refused;
    let correction = correct(&path, &body);
    if let Some((field, meant)) = correction.as_ref().and_then(|correction| correction.fault.as_ref()) {
        error = error.in_field(field).explain(field, meant);
    }
    let time = service.config.time_for(false);
    let corrected = correction.and_then(|correction| {
        let text = Value::Object(correction.body).to_string();
        Question::parse(correction.path, text.as_bytes())?.ok()
    });
    let topic = Some("recovering".to_owned());
    let guide = ("explains what to do when calls fail", Question::Guide(GuideQuestion { topic }));
    let candidates = corrected.map(|question| ("the corrected request", question)).into_iter().chain([guide]);
    let mut suggestions = Vec::new();
    for (reason, question) in candidates {
        // A request that changes the index is suggested, but not tried.
        let changes = matches!(question, Question::Index(_) | Question::Cancel(_));
        let works = changes || {
            let answer = tokio::time::timeout(time, questions::answer(agent, &question)).await;
            matches!(answer, Ok(Ok(answer)) if !answer.is_empty())
        };
        if works {
            suggestions.push(advice::call(reason, &question, suggestions.len() + 1));
        }
    }
    error.suggest(suggestions)
}

/// The request that the caller probably meant. `None` if the body is not JSON, or if no correction is
/// obvious.
fn correct(path: &str, body: &[u8]) -> Option<Correction> {
    let (name, fields) = match Question::PATHS.iter().find(|known| **known == path) {
        Some(known) => (*known, fields_of(known)?),
        None => {
            let near = nearest_word(path, Question::PATHS)?;
            (near, fields_of(near)?)
        }
    };
    let given: Map<String, Value> =
        if body.is_empty() { Map::new() } else { serde_json::from_slice::<Value>(body).ok()?.as_object()?.clone() };
    let mut correction = Correction { path: name, body: Map::new(), fault: None };
    for (field, value) in given.into_iter().filter(|(_, value)| !value.is_null()) {
        let (meant, schema) = match fields.get_key_value(&field) {
            Some((known, schema)) => (known.as_str(), schema),
            None => {
                let meant = similar_field(name, &field, fields)?;
                correction.fault.get_or_insert((field, meant));
                (meant, fields.get(meant)?)
            }
        };
        correction.body.insert(meant.to_owned(), fitting(schema, value)?);
    }
    Some(correction)
}

/// The field that the caller most likely meant by an unknown name.
fn similar_field(path: &str, name: &str, fields: &'static Map<String, Value>) -> Option<&'static str> {
    let known: Vec<&'static str> = fields.keys().map(String::as_str).collect();
    field_of(path, name).or_else(|| nearest_word(name, &known))
}

/// Converts the value to the type in the schema. A text may become a number or a flag, and a single word may
/// become a list.
fn fitting(schema: &Value, value: Value) -> Option<Value> {
    if is(schema, "array") {
        return match value {
            Value::Array(_) => Some(value),
            Value::String(_) => Some(Value::Array(vec![value])),
            _ => None,
        };
    }
    match value {
        Value::Array(values) => match values.as_slice() {
            [only] => fitting(schema, only.clone()),
            _ => None,
        },
        Value::String(text) if is(schema, "integer") => text.trim().parse::<u64>().ok().map(Value::from),
        Value::String(text) if is(schema, "boolean") => text.trim().parse::<bool>().ok().map(Value::from),
        Value::Number(number) if is(schema, "string") => Some(Value::from(number.to_string())),
        value => Some(value),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn obvious_faults_are_corrected() {
        let check = |path: &str, given: Value, expect: (&str, Value)| {
            let correction = correct(path, given.to_string().as_bytes()).expect("a correction");
            assert_eq!((correction.path, Value::Object(correction.body)), expect, "{given}");
        };
        let search = |body: Value| ("/v1/search", body);
        check("/v1/search", json!({"qurey": "x"}), search(json!({"query": "x"})));
        check("/v1/search", json!({"q": "x", "repo": "a"}), search(json!({"query": "x", "repositories": ["a"]})));
        check("/v1/search", json!({"query": "x", "limit": "5"}), search(json!({"query": "x", "limit": 5})));
        check("/v1/search", json!({"query": ["x"], "cursor": null}), search(json!({"query": "x"})));
        check("/v1/serch", json!({"query": "x"}), search(json!({"query": "x"})));
        check("/v1/read", json!({"filePath": "a.rs"}), ("/v1/read", json!({"path": "a.rs"})));
        let relation = json!({"target": "f", "mode": "callers"});
        check("/v1/graph", json!({"symbol": "f", "relationship": "callers"}), ("/v1/graph", relation));
        check("/v1/coverage", json!({"path": "a.rs"}), ("/v1/coverage", json!({"why": "a.rs"})));
    }

    #[test]
    fn unclear_faults_are_not_corrected() {
        let check = |path: &str, body: &str| assert!(correct(path, body.as_bytes()).is_none(), "{body}");
        check("/v1/search", "{");
        check("/v1/search", "[]");
        check("/v1/search", r#"{"query": "x", "zzz": 1}"#);
        check("/v1/search", r#"{"query": "x", "limit": "many"}"#);
        check("/x", r#"{"query": "x"}"#);
    }
}
