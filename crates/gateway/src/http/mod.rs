//! The query service over HTTP: questions under `/v1`, the Model Context Protocol at `/mcp`.
//!
//! No request leaves anything behind but what its key was used for: any replica answers any request, also the next page of
//! another's answer, if they have the same cursor key. What a caller may see is part of their `Searcher`, so it acts in
//! every port and not here.

mod config;
mod error;
mod guard;
mod mcp;
mod openapi;
mod query;
mod service;
mod taking;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use axum::Extension;
use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{ALLOW, CONTENT_TYPE};
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::{from_fn_with_state, map_response};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};

pub use config::GatewayConfig;
use error::HttpError;
use guard::{at_the_door, with_key};
pub use service::GatewayState;
use service::{CallerAgent, Service};

use crate::questions::{self, Question};

/// Where the document stands that describes the routes. The only one that needs no key.
const OPENAPI: &str = "/v1/openapi.json";
const MCP: &str = "/mcp";

/// The whole front door. `config` has been validated.
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
        .layer(from_fn_with_state(Arc::clone(&service), with_key))
        .route(OPENAPI, get(async || ([(CONTENT_TYPE, "application/json")], openapi::DOCUMENT.as_str())))
        .layer(map_response(with_form))
        .layer(from_fn_with_state(Arc::clone(&service), at_the_door))
        .with_state(service)
}

/// What a request can be counted under: every route that there is.
pub fn routes() -> impl Iterator<Item = &'static str> {
    Question::PATHS.iter().copied().chain([MCP, OPENAPI])
}

/// Questions that need no arguments and change nothing can be asked by GET.
fn is_read_by_get(path: &str) -> bool {
    let question = Question::parse(path, b"{}");
    question.is_some_and(|question| question.is_ok_and(|question| !matches!(question, Question::Cancel(_))))
}

/// The router refuses methods by itself, with a bare status.
async fn with_form(response: Response) -> Response {
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

/// What is asked stands in one place: in the body, or by GET in the query string.
fn question_of(is_get: bool, uri: &Uri, body: &[u8]) -> Result<Question, HttpError> {
    let (read, body) = match (uri.query().unwrap_or_default(), body) {
        ("", []) => ("body", b"{}".to_vec()),
        ("", body) => ("body", body.to_vec()),
        (_, []) if is_get => ("query string", query::body_of(uri)?),
        _ => {
            let message = "send the question as JSON by POST; query strings are read of GET without a body alone";
            return Err(HttpError::validation(message));
        }
    };
    let question = Question::parse(uri.path(), &body).ok_or_else(HttpError::no_route)?;
    question.map_err(|error| HttpError::validation(&format!("the {read} is not as it should be: {error}")))
}

/// A body that comes too slowly is given up: it holds a connection and one of the caller's places.
async fn body_of(service: &Service, body: Body, limit_bytes: usize) -> Result<Bytes, HttpError> {
    let body = tokio::time::timeout(service.config.time_for(false), to_bytes(body, limit_bytes)).await;
    body.map_err(|_| HttpError::too_slow())?.map_err(|_| HttpError::too_large(limit_bytes))
}
