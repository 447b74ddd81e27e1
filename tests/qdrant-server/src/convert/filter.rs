//! Converts filters.

use qdrant_client::qdrant::condition::ConditionOneOf;
use qdrant_client::qdrant::r#match::MatchValue;
use qdrant_client::qdrant::{Condition, FieldCondition, Filter, Match};
use serde_json::{Map, Value, json};
use tonic::Status;

use super::points::id_json;
use super::{from_json, unimplemented, wrong};

pub fn filter(filter: &Filter) -> Result<qdrant_edge::Filter, Status> {
    from_json("filter", filter_json(filter)?)
}

pub fn optional(filter: Option<&Filter>) -> Result<Option<qdrant_edge::Filter>, Status> {
    filter.map(self::filter).transpose()
}

fn filter_json(filter: &Filter) -> Result<Value, Status> {
    let mut json = Map::new();
    let lists = [("must", &filter.must), ("should", &filter.should), ("must_not", &filter.must_not)];
    for (name, conditions) in lists.into_iter().filter(|(_, conditions)| !conditions.is_empty()) {
        json.insert(name.into(), conditions_json(conditions)?);
    }
    if let Some(min_should) = &filter.min_should {
        let conditions = conditions_json(&min_should.conditions)?;
        json.insert("min_should".into(), json!({"conditions": conditions, "min_count": min_should.min_count}));
    }
    Ok(Value::Object(json))
}

fn conditions_json(conditions: &[Condition]) -> Result<Value, Status> {
    conditions.iter().map(condition_json).collect::<Result<Vec<_>, _>>().map(Value::Array)
}

fn condition_json(condition: &Condition) -> Result<Value, Status> {
    match condition.condition_one_of.as_ref().ok_or_else(|| wrong("a condition has no content"))? {
        ConditionOneOf::Field(field) => field_json(field),
        ConditionOneOf::IsEmpty(condition) => Ok(json!({"is_empty": {"key": condition.key}})),
        ConditionOneOf::IsNull(condition) => Ok(json!({"is_null": {"key": condition.key}})),
        ConditionOneOf::HasId(condition) => {
            let ids = condition.has_id.iter().map(id_json).collect::<Result<Vec<_>, _>>()?;
            Ok(json!({"has_id": ids}))
        }
        ConditionOneOf::Filter(filter) => filter_json(filter),
        ConditionOneOf::Nested(nested) => {
            let filter =
                filter_json(nested.filter.as_ref().ok_or_else(|| wrong("a nested condition has no filter"))?)?;
            Ok(json!({"nested": {"key": nested.key, "filter": filter}}))
        }
        ConditionOneOf::HasVector(condition) => Ok(json!({"has_vector": condition.has_vector})),
        ConditionOneOf::Slice(_) => Err(unimplemented("slices")),
    }
}

fn field_json(field: &FieldCondition) -> Result<Value, Status> {
    let mut json = Map::from_iter([("key".to_owned(), Value::from(field.key.as_str()))]);
    if field.geo_bounding_box.is_some() || field.geo_radius.is_some() || field.geo_polygon.is_some() {
        return Err(unimplemented("places"));
    }
    if field.datetime_range.is_some() {
        return Err(unimplemented("ranges of times"));
    }
    if let Some(wanted) = &field.r#match {
        json.insert("match".into(), match_json(wanted)?);
    }
    if let Some(range) = &field.range {
        json.insert(
            "range".into(),
            bounds([("lt", range.lt), ("gt", range.gt), ("gte", range.gte), ("lte", range.lte)]),
        );
    }
    if let Some(count) = &field.values_count {
        json.insert(
            "values_count".into(),
            bounds([("lt", count.lt), ("gt", count.gt), ("gte", count.gte), ("lte", count.lte)]),
        );
    }
    for (name, flag) in [("is_empty", field.is_empty), ("is_null", field.is_null)] {
        if let Some(flag) = flag {
            json.insert(name.into(), flag.into());
        }
    }
    Ok(Value::Object(json))
}

fn bounds<T: Into<Value>>(bounds: [(&str, Option<T>); 4]) -> Value {
    let given = bounds.into_iter().filter_map(|(name, bound)| Some((name.to_owned(), bound?.into())));
    Value::Object(given.collect())
}

fn match_json(wanted: &Match) -> Result<Value, Status> {
    Ok(match wanted.match_value.as_ref().ok_or_else(|| wrong("a match has no value"))? {
        MatchValue::Keyword(value) => json!({"value": value}),
        MatchValue::Integer(value) => json!({"value": value}),
        MatchValue::Boolean(value) => json!({"value": value}),
        MatchValue::Keywords(values) => json!({"any": values.strings}),
        MatchValue::Integers(values) => json!({"any": values.integers}),
        MatchValue::ExceptKeywords(values) => json!({"except": values.strings}),
        MatchValue::ExceptIntegers(values) => json!({"except": values.integers}),
        MatchValue::Text(text) => json!({"text": text}),
        MatchValue::TextAny(text) => json!({"text_any": text}),
        MatchValue::Phrase(text) => json!({"phrase": text}),
        MatchValue::Prefix(_) => return Err(unimplemented("matches by prefix")),
        MatchValue::Substring(_) => return Err(unimplemented("matches by substring")),
    })
}
