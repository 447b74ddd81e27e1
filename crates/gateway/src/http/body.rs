//! Reads the body of a request.

use axum::body::{Body, Bytes, to_bytes};

use super::error::HttpError;
use super::service::Service;

/// Reads a body, with limits for its size and time. A slow body occupies a connection and one of the caller's
/// concurrent requests.
pub(super) async fn body_of(service: &Service, body: Body, limit_bytes: usize) -> Result<Bytes, HttpError> {
    let body = tokio::time::timeout(service.config.time_for(false), to_bytes(body, limit_bytes)).await;
    body.map_err(|_| HttpError::too_slow())?.map_err(|_| HttpError::too_large(limit_bytes))
}
