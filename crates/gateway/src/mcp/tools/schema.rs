//! Converts a tool to the form that clients receive, with the schemas of its input and output.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use super::spec::{Default, Kind, Parameter, ToolSpec};

impl ToolSpec {
    pub(crate) fn to_tool(&self) -> Tool {
        let annotations = ToolAnnotations::new().read_only(self.read_only).open_world(!self.read_only);
        let annotations = if self.read_only { annotations } else { annotations.destructive(false).idempotent(true) };
        let tool = Tool::new(self.name, self.description, Arc::new(self.schema()));
        tool.with_annotations(annotations).with_raw_output_schema(Arc::new((self.output)()))
    }

    pub(super) fn schema(&self) -> JsonObject {
        let mut properties = Map::new();
        for parameter in self.parameters {
            properties.insert(parameter.name.to_owned(), Value::Object(parameter.schema()));
            if let Some(alias) = parameter.alias {
                let alias_of = json!({ "type": "string", "description": format!("same as `{}`", parameter.name) });
                properties.insert(alias.to_owned(), alias_of);
            }
        }
        let required = self.parameters.iter().filter(|parameter| parameter.required && parameter.alias.is_none());
        let required: Vec<&str> = required.map(|parameter| parameter.name).collect();
        let mut schema = Map::new();
        schema.insert("type".to_owned(), json!("object"));
        schema.insert("properties".to_owned(), Value::Object(properties));
        if !required.is_empty() {
            schema.insert("required".to_owned(), json!(required));
        }
        schema.insert("additionalProperties".to_owned(), json!(false));
        schema
    }
}

impl Parameter {
    fn schema(&self) -> JsonObject {
        let mut schema = match self.kind {
            Kind::Text => json!({ "type": "string" }),
            Kind::List => json!({ "type": "array", "items": { "type": "string" } }),
            Kind::Number { min, max } if self.default.is_some() => {
                json!({ "type": "integer", "minimum": min, "maximum": max })
            }
            Kind::Number { .. } => json!({ "type": "integer" }),
            Kind::Flag => json!({ "type": "boolean" }),
            Kind::Choice(words) => json!({ "type": "string", "enum": words }),
            Kind::Choices(words) => json!({ "type": "array", "items": { "type": "string", "enum": words } }),
        };
        let required = if self.required && self.alias.is_some() { "required; " } else { "" };
        if !self.description.is_empty() || !required.is_empty() {
            schema["description"] = json!(format!("{required}{}", self.description).trim_end_matches("; "));
        }
        if self.not_empty {
            schema["minLength"] = json!(1);
        }
        match self.default {
            Some(Default::Number(number)) => schema["default"] = json!(number),
            Some(Default::EmptyList) => schema["default"] = json!([]),
            None => {}
        }
        match schema {
            Value::Object(schema) => schema,
            _ => Map::new(),
        }
    }
}
