//! The query service over HTTP: questions under `/v1`, and the Model Context Protocol at `/mcp`.
//!
//! The service is stateless, except that it counts the requests of each key. Replicas that share the cursor
//! key can answer any request. This includes a request for the next page of an answer that another replica
//! returned. The `Searcher` of a caller contains the caller's permissions, so every port applies them. No
//! code in this module checks which repositories a caller may see.

mod admission_body;
mod body;
mod config;
mod correction;
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
use cairn_search::{QueryError, QueryErrorCode};
pub use config::GatewayConfig;
use correction::Refused;
use error::HttpError;
use guard::{check_key, check_request};
pub use routes::routes;
use routes::{MCP, OPENAPI, is_read_by_get};
use serde::Serialize;
pub use service::GatewayState;
use service::{CallerAgent, Service};

use crate::advice::{after_empty, after_error};
use crate::agent::TOO_SLOW;
use crate::answers::SuggestedCall;
use crate::questions::{self, Answer, Question};

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
        .fallback(no_route)
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
    let question = match question_of(is_get, &uri, &body) {
        Ok(question) => question,
        Err(refused) => return Err(correction::corrected(&service, &agent, refused).await),
    };
    let time = service.config.time_for(question.is_long());
    let answer = tokio::time::timeout(time, questions::answer(&agent, &question));
    match answer.await.unwrap_or_else(|_| Err(QueryError::new(QueryErrorCode::Timeout, TOO_SLOW))) {
        Ok(answer) if answer.is_empty() => {
            let suggestions = in_time(&service, after_empty(&agent, &question)).await;
            Ok(axum::Json(WithSuggestions { answer, tool_suggestions: suggestions }).into_response())
        }
        Ok(answer) => Ok(axum::Json(answer).into_response()),
        Err(error) => {
            let suggestions = in_time(&service, after_error(&agent, &question, &error)).await;
            Err(HttpError::from(error).suggest(suggestions))
        }
    }
}

/// Suggestions are optional. If computing them takes too long, the answer or the error contains no
/// suggestions.
async fn in_time(service: &Service, suggestions: impl Future<Output = Vec<SuggestedCall>>) -> Vec<SuggestedCall> {
    tokio::time::timeout(service.config.time_for(false), suggestions).await.unwrap_or_default()
}

/// An empty answer with the suggested next calls.
#[derive(Serialize)]
struct WithSuggestions {
    #[serde(flatten)]
    answer: Answer,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_suggestions: Vec<SuggestedCall>,
}

/// The question is in the body, or in the query string of a GET request, but not in both.
fn question_of(is_get: bool, uri: &Uri, body: &[u8]) -> Result<Question, Refused> {
    let refused = |error: HttpError, body: Vec<u8>| Refused { path: uri.path().to_owned(), body, error };
    let (read, body) = match (uri.query().unwrap_or_default(), body) {
        ("", []) => ("body", b"{}".to_vec()),
        ("", body) => ("body", body.to_vec()),
        (_, []) if is_get => {
            let query = query::body_of(uri).map_err(|error| refused(error, query::as_written(uri)))?;
            ("query string", query)
        }
        _ => {
            let message =
                "send the question as JSON by POST; a query string is read only in GET requests without a body";
            return Err(refused(HttpError::validation(message), body.to_vec()));
        }
    };
    match Question::parse(uri.path(), &body) {
        Some(Ok(question)) => Ok(question),
        Some(Err(error)) => {
            let message = format!("the {read} is invalid: {error}");
            Err(refused(HttpError::validation(&message), body))
        }
        None => Err(refused(HttpError::no_route(), body)),
    }
}

/// A request to a path that does not exist.
async fn no_route(
    State(service): State<Arc<Service>>,
    Extension(agent): Extension<CallerAgent>,
    uri: Uri,
    request: Request,
) -> HttpError {
    let body = match body_of(&service, request.into_body(), service.config.body_limit_bytes).await {
        Ok(body) => body.to_vec(),
        Err(error) => return error,
    };
    let refused = Refused { path: uri.path().to_owned(), body, error: HttpError::no_route() };
    correction::corrected(&service, &agent, refused).await
}
