//! JSON schemas of answers.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};

/// The schema of an answer as it is sent: fields that are always sent are required.
pub fn schema_of<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>()
}
