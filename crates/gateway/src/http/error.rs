//! Errors as HTTP responses: a status, and the error form that all front ends share.

use std::time::Duration;

use axum::http::header::{RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use cairn_search::{QueryError, QueryErrorCode};

use crate::agent::TOO_SLOW;
use crate::answers::{ErrorReport, SuggestedCall};

/// The value of `Retry-After` if the embedding provider reports no waiting time.
const WHEN_BUSY: Duration = Duration::from_secs(5);

/// The response to a request that failed.
#[derive(Debug)]
pub(super) struct HttpError {
    pub status: StatusCode,
    body: Box<ErrorReport>,
    retry_after: Option<Duration>,
}

impl HttpError {
    /// Adds suggested calls to this error.
    pub(super) fn suggest(mut self, suggestions: Vec<SuggestedCall>) -> Self {
        if !suggestions.is_empty() {
            self.body.details.tool_suggestions = suggestions;
        }
        self
    }

    /// Names the field that has an invalid value, and the value if it is a number.
    pub(super) fn in_field(mut self, field: &str, provided: Option<i64>) -> Self {
        self.body.details.field = Some(field.to_owned());
        self.body.details.provided = provided;
        self
    }

    /// Adds the field that the caller probably meant by an unknown name.
    pub(super) fn explain(mut self, field: &str, meant: &str) -> Self {
        self.body.message.push_str(&format!("; instead of `{field}`, did you mean `{meant}`?"));
        self
    }

    fn new(status: StatusCode, code: &str, message: &str) -> Self {
        Self { status, body: Box::new(ErrorReport::new(code, message)), retry_after: None }
    }

    pub(super) fn validation(message: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "validation_error", message)
    }

    pub(super) fn unauthenticated() -> Self {
        let message = "send a valid API key: `Authorization: Bearer cairn_…`";
        Self::new(StatusCode::UNAUTHORIZED, "unauthenticated", message)
    }

    pub(super) fn forbidden(message: &str) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", message)
    }

    pub(super) fn no_route() -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            "not_found",
            "the route does not exist; `GET /v1/openapi.json` lists all routes",
        )
    }

    pub(super) fn method() -> Self {
        let message = "the route does not support this method; `GET /v1/openapi.json` lists the methods";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message)
    }

    pub(super) fn too_large(limit_bytes: usize) -> Self {
        let message = format!("the body is larger than {limit_bytes} bytes");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", &message)
    }

    pub(super) fn too_slow() -> Self {
        Self::new(StatusCode::REQUEST_TIMEOUT, "request_timeout", "the body arrived too slowly")
    }

    pub(super) fn headers_too_large() -> Self {
        let message = "the headers are too large";
        Self::new(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "too_large", message)
    }

    pub(super) fn rate_limited(retry_after: Duration) -> Self {
        Self::wait("too many requests with this key; wait for the number of seconds in `Retry-After`", retry_after)
    }

    pub(super) fn busy(retry_after: Duration) -> Self {
        Self::wait(
            "the embedding provider accepts no more calls now; wait for the number of seconds in `Retry-After`",
            retry_after,
        )
    }

    fn wait(message: &str, retry_after: Duration) -> Self {
        let error = Self::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", message);
        Self { retry_after: Some(retry_after), ..error }
    }

    pub(super) fn timeout() -> Self {
        Self::new(StatusCode::GATEWAY_TIMEOUT, "timeout_error", TOO_SLOW)
    }

    /// The cause is logged, but it is not part of the response.
    pub(super) fn internal() -> Self {
        let message = "an internal error; try again, or report the `X-Request-Id` to the operator of this service";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal_error", message)
    }
}

impl From<QueryError> for HttpError {
    fn from(error: QueryError) -> Self {
        let status = match error.code {
            QueryErrorCode::ValidationError | QueryErrorCode::InvalidCursor => StatusCode::BAD_REQUEST,
            QueryErrorCode::NotFound => StatusCode::NOT_FOUND,
            QueryErrorCode::Forbidden => StatusCode::FORBIDDEN,
            QueryErrorCode::ModelMismatch => StatusCode::CONFLICT,
            QueryErrorCode::Timeout => {
                tracing::error!("{}", error.message);
                return Self::timeout();
            }
            QueryErrorCode::RateLimited { retry_after } => {
                tracing::error!("{}", error.message);
                return Self::busy(retry_after.unwrap_or(WHEN_BUSY));
            }
            QueryErrorCode::Corrupt | QueryErrorCode::InternalError => {
                tracing::error!(code = error.code.as_str(), "{}", error.message);
                return Self::internal();
            }
        };
        let mut body = Box::new(ErrorReport::of(&error));
        // The calls that the error itself suggests were not tried, so they are removed. The caller of this
        // function adds calls that were tried.
        body.details.tool_suggestions.clear();
        Self { status, body, retry_after: None }
    }
}

impl IntoResponse for HttpError {
    fn into_response(self) -> Response {
        let mut response = (self.status, axum::Json(self.body)).into_response();
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(wait) = self.retry_after {
            let seconds = wait.as_millis().div_ceil(1000).max(1) as u64;
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
