//! Completes the schemas of questions: adds the aliases and the default values of fields.

use schemars::Schema;
use serde_json::{Value, json};

/// Other accepted names of fields: the route, the field, and the alias of the field. The list must match the
/// `serde(alias)` attributes of the questions.
pub(crate) const ALIASES: [(&str, &str, &str); 6] = [
    ("/v1/search", "query", "target"),
    ("/v1/search", "target_type", "type"),
    ("/v1/grep", "query", "target"),
    ("/v1/graph", "target", "name"),
    ("/v1/graph", "mode", "relation"),
    ("/v1/index", "target", "path"),
];

/// The default values of fields in the schema of a route. They apply to new repositories.
fn defaults(path: &str) -> Vec<(&'static str, Value)> {
    match path {
        "/v1/index" => vec![
            ("include_patterns", json!([])),
            ("exclude_patterns", json!([])),
            ("max_file_size", json!(cairn_inventory::FileSizeLimit::DEFAULT_BYTES)),
        ],
        _ => Vec::new(),
    }
}

/// The schema of the question of a route. A client that checks its questions against the schema can use every
/// accepted name of a field. Therefore the schema does not require a field that has an alias.
pub(super) fn completed(path: &str, question: Schema) -> Schema {
    let mut question = question.to_value();
    for (field, default) in defaults(path) {
        question["properties"][field]["default"] = default;
    }
    for (_, field, alias) in ALIASES.iter().filter(|(route, _, _)| *route == path) {
        let mut other = question["properties"][*field].clone();
        other["description"] = json!(format!("same as `{field}`"));
        question["properties"][*alias] = other;
        let is_required = without_required(&mut question, field);
        let described = question["properties"][*field]["description"].as_str().unwrap_or_default().to_owned();
        if is_required {
            question["properties"][*field]["description"] = json!(format!("Required. {described}").trim_end());
        }
    }
    Schema::try_from(question).unwrap_or_default()
}

/// Removes a field from the list of required fields. Returns whether the list contained the field.
fn without_required(question: &mut Value, field: &str) -> bool {
    let Some(Value::Array(required)) = question.get_mut("required") else { return false };
    let num_before = required.len();
    required.retain(|name| name.as_str() != Some(field));
    required.len() < num_before
}
