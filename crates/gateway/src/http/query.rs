//! Reads questions that are sent by GET: the query string is converted to the body of a POST request.
//!
//! The schema of the question defines the names and types of the values. For a list, the name is repeated for
//! each value. An invalid query string is refused, because the answer to a question without the invalid part
//! would look correct.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use axum::extract::Query;
use axum::http::Uri;
use serde_json::{Map, Value, json};

use super::error::HttpError;
use crate::questions::Question;

/// For each path of the HTTP interface, the schemas of the fields of its question, by name.
static FIELDS: LazyLock<BTreeMap<&'static str, Map<String, Value>>> = LazyLock::new(|| {
    let fields = |schema: schemars::Schema| schema.get("properties").and_then(Value::as_object).cloned();
    Question::schemas().into_iter().map(|route| (route.path, fields(route.question).unwrap_or_default())).collect()
});

/// The JSON body of the question that `uri` contains in its path and query string.
pub(super) fn body_of(uri: &Uri) -> Result<Vec<u8>, HttpError> {
    let pairs = Query::<Vec<(String, String)>>::try_from_uri(uri);
    let Query(pairs) = pairs.map_err(|_| refused("its encoding is invalid"))?;
    let fields = FIELDS.get(uri.path()).ok_or_else(HttpError::no_route)?;
    let mut body = Map::new();
    for (name, text) in pairs {
        put(&mut body, fields, name, text).map_err(|reason| refused(&reason))?;
    }
    Ok(Value::Object(body).to_string().into_bytes())
}

/// The values of a query string as JSON. Their names and types are not checked.
pub(super) fn as_written(uri: &Uri) -> Vec<u8> {
    let Ok(Query(pairs)) = Query::<Vec<(String, String)>>::try_from_uri(uri) else { return Vec::new() };
    let mut body = Map::new();
    for (name, text) in pairs {
        match body.get_mut(&name) {
            Some(Value::Array(values)) => values.push(Value::from(text)),
            Some(first) => *first = json!([first.clone(), text]),
            None => drop(body.insert(name, Value::from(text))),
        }
    }
    Value::Object(body).to_string().into_bytes()
}

fn refused(reason: &str) -> HttpError {
    HttpError::validation(&format!("the query string cannot be read: {reason}; you can send JSON by POST instead"))
}

fn put(body: &mut Map<String, Value>, fields: &Map<String, Value>, name: String, text: String) -> Result<(), String> {
    let Some(schema) = fields.get(&name) else {
        let known: Vec<&str> = fields.keys().map(String::as_str).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        return Err(format!("it contains an unknown field; the fields of this question are: {known}"));
    };
    if is(schema, "array") {
        if let Value::Array(values) = body.entry(name).or_insert_with(|| json!([])) {
            values.push(Value::from(text));
        }
        return Ok(());
    }
    let value = if is(schema, "integer") {
        text.parse::<u64>().map(Value::from).map_err(|_| format!("`{name}` must be a number"))?
    } else if is(schema, "boolean") {
        text.parse::<bool>().map(Value::from).map_err(|_| format!("`{name}` must be `true` or `false`"))?
    } else {
        Value::from(text)
    };
    match body.insert(name.clone(), value) {
        Some(_) => Err(format!("`{name}` occurs twice")),
        None => Ok(()),
    }
}

/// Whether the schema allows values of the type `kind`.
pub(super) fn is(schema: &Value, kind: &str) -> bool {
    match &schema["type"] {
        Value::Array(kinds) => kinds.iter().any(|known| known == kind),
        only => only == kind,
    }
}

/// The schemas of the fields of a question, by name. `None` if the route does not exist.
pub(super) fn fields_of(path: &str) -> Option<&'static Map<String, Value>> {
    FIELDS.get(path)
}

/// The OpenAPI parameters of a GET request to a route: one for each field of the route's question.
pub(super) fn parameters(path: &str) -> Vec<Value> {
    let fields = FIELDS.get(path).into_iter().flatten();
    let parameter = |(name, schema): (&String, &Value)| json!({ "name": name, "in": "query", "schema": schema });
    fields.map(parameter).collect()
}
