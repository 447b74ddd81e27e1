//! Rate, errors and duration of questions, as metrics.

use std::time::Instant;

use axum::extract::{MatchedPath, Request};
use axum::middleware::Next;
use axum::response::Response;
use cairn_telemetry::metrics::{REQUEST_SECONDS, REQUESTS};

/// Counts a request under its route: paths that are none stand under one label, whatever callers make up.
pub async fn count(request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
    let started = Instant::now();
    let response = next.run(request).await;
    REQUESTS.with_label_values(&[&route, response.status().as_str()]).inc();
    REQUEST_SECONDS.with_label_values(&[&route]).observe(started.elapsed().as_secs_f64());
    response
}
