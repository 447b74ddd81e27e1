//! Metrics of HTTP requests: their rate, errors and duration, and the number in progress.

use std::time::Instant;

use axum::extract::{MatchedPath, Request};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::Response;
use cairn_telemetry::metrics::{CONNECTIONS, IntGauge, REQUEST_SECONDS, REQUESTS, REQUESTS_IN_HAND};

/// The label under which requests for paths without a route are counted.
const NO_ROUTE: &str = "none";

/// Creates the time series of every route before the first request.
pub fn begin() {
    for gauge in [&*REQUESTS_IN_HAND, &*CONNECTIONS] {
        gauge.add(0);
    }
    for route in cairn_gateway::http::routes().chain([NO_ROUTE]) {
        REQUESTS.with_label_values(&[route, StatusCode::OK.as_str()]);
        REQUEST_SECONDS.with_label_values(&[route]);
    }
}

/// Increments a gauge on creation, and decrements it when dropped.
pub struct Counted(&'static IntGauge);

impl Counted {
    pub fn new(gauge: &'static IntGauge) -> Self {
        gauge.inc();
        Self(gauge)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// Counts a request under its route. All paths without a route share one label, so that callers cannot create
/// new time series.
pub async fn count(request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().map_or(NO_ROUTE, MatchedPath::as_str).to_owned();
    let (started, _in_hand) = (Instant::now(), Counted::new(&REQUESTS_IN_HAND));
    let response = next.run(request).await;
    REQUESTS.with_label_values(&[&route, response.status().as_str()]).inc();
    REQUEST_SECONDS.with_label_values(&[&route]).observe(started.elapsed().as_secs_f64());
    response
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use axum::Router;
    use axum::body::Body;
    use axum::middleware::from_fn;
    use axum::routing::get;
    use cairn_telemetry::metrics;
    use tokio::sync::Notify;
    use tower::ServiceExt;

    use super::*;

    #[test]
    fn all_series_exist_before_the_first_request() {
        begin();
        let shown = metrics::text();
        for series in [
            "cairn_requests_total{route=\"/v1/search\",status=\"200\"}",
            "cairn_requests_total{route=\"/mcp\",status=\"200\"}",
            "cairn_request_seconds_count{route=\"/v1/guide\"}",
            "cairn_request_seconds_count{route=\"none\"}",
            "cairn_requests_in_hand",
            "cairn_connections",
        ] {
            assert!(shown.lines().any(|line| line.starts_with(series)), "{series} is missing: {shown}");
        }
    }

    #[tokio::test]
    async fn request_counts_as_in_progress_until_answered() {
        let (begun, answer) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (says, waits) = (Arc::clone(&begun), Arc::clone(&answer));
        let slow = async move || {
            says.notify_one();
            waits.notified().await;
        };
        let app = Router::new().route("/slow", get(slow)).layer(from_fn(count));
        let request = Request::builder().uri("/slow").body(Body::empty()).expect("a request");
        let asked = tokio::spawn(app.oneshot(request));
        begun.notified().await;
        assert_eq!(REQUESTS_IN_HAND.get(), 1);
        answer.notify_one();
        asked.await.expect("an end").expect("an answer");
        assert_eq!(REQUESTS_IN_HAND.get(), 0);
    }
}
