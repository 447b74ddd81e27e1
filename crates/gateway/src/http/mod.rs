//! The query service over HTTP: questions under `/v1`, the Model Context Protocol at `/mcp`.
//!
//! The service is stateless, except that it counts the requests of each key. Replicas that share the cursor
//! key can answer any request. This includes a request for the next page of an answer that another replica
//! gave. The `Searcher` of a caller contains the caller's permissions, so every port applies them. No code in
//! this module checks which repositories a caller may see.

mod admission_body;
mod body;
mod config;
mod error;
mod guard;
mod mcp;
mod openapi;
mod query;
mod request_ids;
mod routes;
mod service;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use axum::Extension;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{ALLOW, CONTENT_TYPE};
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::{from_fn_with_state, map_response};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};

use body::body_of;
pub use config::GatewayConfig;
use error::HttpError;
use guard::{check_key, check_request};
pub use routes::routes;
use routes::{MCP, OPENAPI, is_read_by_get};
pub use service::GatewayState;
use service::{CallerAgent, Service};

use crate::questions::{self, Question};

/// All routes with their checks. `config` must be valid.
pub fn router(state: GatewayState, config: GatewayConfig) -> Router {
    let service = Arc::new(Service::new(state, config));
    let mut routes = Router::new();
    for path in Question::PATHS {
        let methods = if is_read_by_get(path) { post(ask).get(ask) } else { post(ask) };
        routes = routes.route(path, methods);
    }
    routes
        .route(MCP, any(mcp::serve))
        .fallback(async || HttpError::no_route())
        .layer(from_fn_with_state(Arc::clone(&service), check_key))
        .route(OPENAPI, get(async || ([(CONTENT_TYPE, "application/json")], openapi::DOCUMENT.as_str())))
        .layer(map_response(with_error_body))
        .layer(from_fn_with_state(Arc::clone(&service), check_request))
        .with_state(service)
}

/// Adds an error body if the router refused the method of a request, because the router sends an empty body.
async fn with_error_body(response: Response) -> Response {
    let is_bare = response.headers().get(CONTENT_TYPE).is_none();
    if response.status() != StatusCode::METHOD_NOT_ALLOWED || !is_bare {
        return response;
    }
    let mut formed = HttpError::method().into_response();
    if let Some(allow) = response.headers().get(ALLOW) {
        formed.headers_mut().insert(ALLOW, allow.clone());
    }
    formed
}

async fn ask(
    State(service): State<Arc<Service>>,
    Extension(agent): Extension<CallerAgent>,
    uri: Uri,
    request: Request,
) -> Result<Response, HttpError> {
    let is_get = request.method() == Method::GET;
    let body = body_of(&service, request.into_body(), service.config.body_limit_bytes).await?;
    let question = question_of(is_get, &uri, &body)?;
    let time = service.config.time_for(question.is_long());
    let answer = tokio::time::timeout(time, questions::answer(&agent, &question));
    let answer = answer.await.map_err(|_| HttpError::timeout())??;
    Ok(axum::Json(answer).into_response())
}

/// The question is in the body, or in the query string of a GET request, but not in both.
fn question_of(is_get: bool, uri: &Uri, body: &[u8]) -> Result<Question, HttpError> {
    let (read, body) = match (uri.query().unwrap_or_default(), body) {
        ("", []) => ("body", b"{}".to_vec()),
        ("", body) => ("body", body.to_vec()),
        (_, []) if is_get => ("query string", query::body_of(uri)?),
        _ => {
            let message =
                "send the question as JSON by POST; a query string is read only in GET requests without a body";
            return Err(HttpError::validation(message));
        }
    };
    let question = Question::parse(uri.path(), &body).ok_or_else(HttpError::no_route)?;
    question.map_err(|error| HttpError::validation(&format!("the {read} is invalid: {error}")))
}
