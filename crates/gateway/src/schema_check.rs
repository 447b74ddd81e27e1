//! Checks JSON values against JSON schemas, for tests. The check supports the keywords that Cairn's schemas
//! use, and panics on any other keyword. The check is stricter than the standard: a property that the schema
//! does not describe is a fault.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// Returns the faults of the value. `root` is the schema with the definitions to which `$ref` refers.
pub(crate) fn faults(root: &Value, schema: &Value, value: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    let check = Check { root };
    check.value(schema, value, "$", &mut faults);
    check.described(schema, value, "$", &mut faults);
    faults
}

struct Check<'a> {
    root: &'a Value,
}

impl<'a> Check<'a> {
    fn resolve(&self, reference: &Value) -> &'a Value {
        let pointer = reference.as_str().and_then(|text| text.strip_prefix('#')).expect("a local reference");
        self.root.pointer(pointer).unwrap_or_else(|| panic!("the reference {reference} has no target"))
    }

    fn fits(&self, schema: &Value, value: &Value) -> bool {
        let mut faults = Vec::new();
        self.value(schema, value, "", &mut faults);
        faults.is_empty()
    }

    fn value(&self, schema: &Value, value: &Value, at: &str, faults: &mut Vec<String>) {
        let Value::Object(keywords) = schema else {
            if *schema != Value::Bool(true) {
                faults.push(format!("{at}: the schema allows no value"));
            }
            return;
        };
        for (keyword, rule) in keywords {
            match keyword.as_str() {
                "$ref" => self.value(self.resolve(rule), value, at, faults),
                "properties" => self.properties(rule, value, at, faults),
                "items" => self.items(rule, value, at, faults),
                "additionalProperties" => self.other_properties(keywords, value, at, faults),
                "$defs" | "$schema" | "title" | "description" | "format" | "default" => {}
                keyword if self.satisfies(keyword, rule, value, at) => {}
                _ => faults.push(format!("{at}: `{keyword}` is {rule}, but the value is {value}")),
            }
        }
    }

    /// Whether the value satisfies a keyword that restricts the value itself.
    fn satisfies(&self, keyword: &str, rule: &Value, value: &Value, at: &str) -> bool {
        match keyword {
            "type" => match rule {
                Value::Array(kinds) => kinds.iter().any(|kind| is_of(kind, value)),
                kind => is_of(kind, value),
            },
            "enum" => rule.as_array().expect("a list").contains(value),
            "const" => rule == value,
            "anyOf" | "oneOf" => rule.as_array().expect("a list").iter().any(|any| self.fits(any, value)),
            "minimum" => value.as_f64().is_none_or(|number| Some(number) >= rule.as_f64()),
            "maximum" => value.as_f64().is_none_or(|number| Some(number) <= rule.as_f64()),
            "minLength" => value.as_str().is_none_or(|text| Some(text.chars().count() as u64) >= rule.as_u64()),
            "required" => rule.as_array().expect("a list").iter().all(|name| {
                let name = name.as_str().expect("a name");
                value.as_object().is_none_or(|fields| fields.contains_key(name))
            }),
            other => panic!("{at}: the keyword `{other}` is not checked"),
        }
    }

    fn properties(&self, properties: &Value, value: &Value, at: &str, faults: &mut Vec<String>) {
        for (name, property) in properties.as_object().expect("properties") {
            if let Some(field) = value.get(name) {
                self.value(property, field, &format!("{at}.{name}"), faults);
            }
        }
    }

    fn items(&self, rule: &Value, value: &Value, at: &str, faults: &mut Vec<String>) {
        for (number, item) in value.as_array().into_iter().flatten().enumerate() {
            self.value(rule, item, &format!("{at}[{number}]"), faults);
            self.described(rule, item, &format!("{at}[{number}]"), faults);
        }
    }

    /// Checks the fields that the keyword `properties` does not name.
    fn other_properties(&self, keywords: &Map<String, Value>, value: &Value, at: &str, faults: &mut Vec<String>) {
        let named = keywords.get("properties").and_then(Value::as_object);
        let more = value.as_object().into_iter().flatten();
        for (name, field) in more.filter(|(name, _)| named.is_none_or(|named| !named.contains_key(*name))) {
            self.value(&keywords["additionalProperties"], field, &format!("{at}.{name}"), faults);
        }
    }

    /// Checks that the schema describes every field of an object, at any depth.
    fn described(&self, schema: &Value, value: &Value, at: &str, faults: &mut Vec<String>) {
        let Value::Object(fields) = value else { return };
        let mut known = Map::new();
        let mut is_open = false;
        self.collect(schema, value, &mut known, &mut is_open);
        let names: BTreeSet<&String> = known.keys().collect();
        for (name, field) in fields {
            match known.get(name) {
                Some(property) => self.described(property, field, &format!("{at}.{name}"), faults),
                None if is_open => {}
                None => faults.push(format!("{at}.{name} is not described; the schema describes {names:?}")),
            }
        }
    }

    /// Collects the properties of a schema, including those of the alternatives (`anyOf`, `oneOf`) that the
    /// value satisfies. Sets `is_open` if the schema allows other properties.
    fn collect(&self, schema: &Value, value: &Value, known: &mut Map<String, Value>, is_open: &mut bool) {
        let Value::Object(keywords) = schema else { return };
        const DESCRIBES: [&str; 4] = ["properties", "$ref", "anyOf", "oneOf"];
        *is_open |= !DESCRIBES.iter().any(|keyword| keywords.contains_key(*keyword));
        *is_open |= keywords.get("additionalProperties").is_some_and(|rule| *rule != Value::Bool(false));
        known.extend(keywords.get("properties").and_then(Value::as_object).cloned().unwrap_or_default());
        if let Some(reference) = keywords.get("$ref") {
            self.collect(self.resolve(reference), value, known, is_open);
        }
        for alternatives in [keywords.get("anyOf"), keywords.get("oneOf")].into_iter().flatten() {
            let alternatives = alternatives.as_array().expect("a list").iter();
            alternatives.filter(|any| self.fits(any, value)).for_each(|any| self.collect(any, value, known, is_open));
        }
    }
}

fn is_of(kind: &Value, value: &Value) -> bool {
    match kind.as_str().expect("a type") {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("the type `{other}` does not exist"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_that_do_not_fit_are_reported() {
        let root = json!({
            "$defs": { "Line": { "type": "object", "properties": { "line": { "type": "integer" } }, "required": ["line"] } },
            "type": "object",
            "properties": { "at": { "anyOf": [{ "$ref": "#/$defs/Line" }, { "type": "null" }] }, "by": { "enum": ["a"] } },
            "required": ["at"],
        });
        let check = |value: Value, expect: bool| {
            let faults = faults(&root, &root, &value);
            assert_eq!(faults.is_empty(), expect, "{value}: {faults:?}");
        };
        check(json!({ "at": null }), true);
        check(json!({ "at": { "line": 3 }, "by": "a" }), true);
        check(json!({}), false);
        check(json!({ "at": { "line": "3" } }), false);
        check(json!({ "at": { "line": 3, "column": 1 } }), false);
        check(json!({ "at": null, "by": "b" }), false);
        check(json!({ "at": null, "more": 1 }), false);
        check(json!([]), false);
    }
}
