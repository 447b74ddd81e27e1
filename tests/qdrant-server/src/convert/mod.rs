//! Converts between the protocol's messages and the engine's types.
//!
//! The engine's types can be deserialised from Qdrant's documented REST format, which is JSON. So conditions,
//! indexes and settings are converted to this JSON, not field by field.

pub mod config;
pub mod filter;
pub mod points;
pub mod query;

use qdrant_edge::OperationError;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tonic::Status;

/// Reads a value of an engine's type from JSON.
pub fn from_json<T: DeserializeOwned>(what: &str, json: Value) -> Result<T, Status> {
    serde_json::from_value(json).map_err(|error| wrong(format!("{what}: {error}")))
}

pub fn wrong(message: impl std::fmt::Display) -> Status {
    Status::invalid_argument(format!("Wrong input: {message}"))
}

pub fn unimplemented(what: &str) -> Status {
    Status::unimplemented(format!("the test server does not know {what}"))
}

/// Converts an error of the engine to the status that Qdrant returns for it.
pub fn status(error: OperationError) -> Status {
    match error {
        OperationError::ServiceError { .. }
        | OperationError::InconsistentStorage { .. }
        | OperationError::OutOfMemory { .. } => Status::internal(error.to_string()),
        OperationError::Cancelled { .. } => Status::cancelled(error.to_string()),
        OperationError::Timeout { .. } => Status::deadline_exceeded(error.to_string()),
        OperationError::PointIdError { .. } => Status::not_found(format!("Not found: {error}")),
        _ => wrong(error),
    }
}
