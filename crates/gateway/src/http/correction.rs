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

/// The fault of a request, and the corrected request.
struct Correction {
    path: &'static str,
    /// None if no correction is obvious.
    body: Option<Map<String, Value>>,
    fault: Option<Fault>,
}

/// The first field with a wrong name or value.
struct Fault {
    field: String,
    /// The name that was probably meant, if the name is wrong.
    meant: Option<&'static str>,
    value: Value,
}

/// The error of a refused request, with the corrected request or with the guide.
pub(super) async fn corrected(service: &Service, agent: &CallerAgent, refused: Refused) -> HttpError {
    let Refused { path, body, mut error } = refused;
    let correction = correct(&path, &body);
    if let Some(fault) = correction.as_ref().and_then(|correction| correction.fault.as_ref()) {
        error = error.in_field(&fault.field, fault.value.as_i64());
        if let Some(meant) = fault.meant {
            error = error.explain(&fault.field, meant);
        }
    }
    let time = service.config.time_for(false);
    let corrected = correction.and_then(|correction| {
        let text = Value::Object(correction.body?).to_string();
        Question::parse(correction.path, text.as_bytes())?.ok()
    });
    let topic = Some("recovering".to_owned());
    let guide = ("explains what to do when calls fail", Question::Guide(GuideQuestion { topic }));
    let candidates = corrected.map(|question| ("the corrected request", question)).into_iter().chain([guide]);
    let mut suggestions = Vec::new();
    for (reason, question) in candidates {
        // A request that changes something is suggested, but not tried.
        let works = changes(question.path()) || {
            let answer = tokio::time::timeout(time, questions::answer(agent, &question)).await;
            matches!(answer, Ok(Ok(answer)) if !answer.is_empty())
        };
        if works {
            suggestions.push(advice::suggested_call(reason, &question, suggestions.len() + 1));
        }
    }
    error.suggest(suggestions)
}

/// Whether the requests of a route change the state of Cairn: they index a repository or cancel a run.
fn changes(path: &str) -> bool {
    matches!(path, "/v1/index" | "/v1/runs/cancel")
}

/// The request that was probably meant. None if the body is not JSON, or if the route is unknown.
fn correct(path: &str, body: &[u8]) -> Option<Correction> {
    let name = match Question::PATHS.iter().find(|known| **known == path) {
        Some(known) => *known,
        None => nearest_word(path, Question::PATHS)?,
    };
    let fields = fields_of(name)?;
    let given: Map<String, Value> =
        if body.is_empty() { Map::new() } else { serde_json::from_slice::<Value>(body).ok()?.as_object()?.clone() };
    let (mut corrected, mut fault, mut is_clear) = (Map::new(), None, true);
    for (field, value) in given.into_iter().filter(|(_, value)| !value.is_null()) {
        let known = fields.get_key_value(&field).map(|(known, _)| known.as_str());
        let meant = known.or_else(|| similar_field(name, &field, fields));
        let fitting = meant.and_then(|meant| Some((meant, fitting(fields.get(meant)?, value.clone())?)));
        let fitting = fitting.filter(|(meant, value)| is_valid(name, meant, value));
        if known.is_none() || fitting.is_none() {
            let meant = meant.filter(|_| known.is_none());
            fault.get_or_insert(Fault { field, meant, value });
        }
        match fitting {
            Some((meant, value)) => drop(corrected.insert(meant.to_owned(), value)),
            // A request that indexes or cancels is not corrected by omitting a field, because it could then
            // make a different change.
            None => is_clear &= !changes(name),
        }
    }
    Some(Correction { path: name, body: is_clear.then_some(corrected), fault })
}

/// Whether the field may have this value. An error about a different field that is missing is ignored.
fn is_valid(path: &str, field: &str, value: &Value) -> bool {
    let body = serde_json::json!({ field: value }).to_string();
    match Question::parse(path, body.as_bytes()) {
        Some(Err(error)) => error.to_string().starts_with("missing field"),
        read => read.is_some(),
    }
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
            let body = correction.body.unwrap_or_else(|| panic!("{given} has no correction"));
            assert_eq!((correction.path, Value::Object(body)), expect, "{given}");
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
    fn uncorrectable_fields_are_omitted_from_the_corrected_request() {
        let check = |given: Value, field: &str, meant: Option<&str>| {
            let correction = correct("/v1/search", given.to_string().as_bytes()).expect("a correction");
            assert_eq!(correction.body.map(Value::Object), Some(json!({"query": "x"})), "{given}");
            let fault = correction.fault.expect("a fault");
            assert_eq!((fault.field.as_str(), fault.meant), (field, meant), "{given}");
        };
        check(json!({"query": "x", "limit": "many"}), "limit", None);
        check(json!({"query": "x", "limit": -1}), "limit", None);
        check(json!({"query": "x", "tests": "no"}), "tests", None);
        check(json!({"query": "x", "explain": [1, 2]}), "explain", None);
        check(json!({"query": "x", "zzz": 1}), "zzz", None);
        check(json!({"query": "x", "top_k": "many"}), "top_k", Some("limit"));
    }

    #[test]
    fn unclear_faults_are_not_corrected() {
        let check = |path: &str, body: &str| {
            assert!(correct(path, body.as_bytes()).is_none_or(|correction| correction.body.is_none()), "{body}");
        };
        check("/v1/search", "{");
        check("/v1/search", "[]");
        check("/v1/index", r#"{"target": "x", "zzz": 1}"#);
        check("/v1/index", r#"{"target": "x", "max_file_size": "many"}"#);
        check("/x", r#"{"query": "x"}"#);
    }
}
