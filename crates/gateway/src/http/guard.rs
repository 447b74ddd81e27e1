//! Assigns an id to every request, and checks the request before it is routed: first `Host`, `Origin` and the
//! headers, then the key and its limits. A refusal reveals nothing about the service.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, AUTHORIZATION, CACHE_CONTROL,
    HOST, ORIGIN, VARY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use cairn_search::{Allowed, Caller};
use tracing::Instrument;

use super::admission_body::AdmissionBody;
use super::error::HttpError;
use super::request_ids::REQUEST_ID;
use super::service::{CallerAgent, Service};
use crate::auth::Refused;

const MAX_HEADERS: usize = 64;

pub(super) async fn check_request(State(service): State<Arc<Service>>, request: Request, next: Next) -> Response {
    let id = service.request_ids.of(request.headers());
    let span = tracing::info_span!("request", request_id = ?id);
    let origin = request.headers().get(ORIGIN).cloned();
    let response = match check_headers(&service, &request) {
        Ok(()) if is_preflight(&request) => preflight(),
        Ok(()) => next.run(request).instrument(span.clone()).await,
        Err(refused) => return with_headers(refused.into_response(), id, None),
    };
    if response.status().is_server_error() {
        let _entered = span.enter();
        tracing::error!(status = response.status().as_u16(), "a request failed");
    }
    with_headers(response, id, origin)
}

/// Adds the headers of every response. `origin` is set if the origin of the request is allowed.
fn with_headers(mut response: Response, id: HeaderValue, origin: Option<HeaderValue>) -> Response {
    let headers = response.headers_mut();
    if let Some(origin) = origin {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("x-request-id, retry-after"));
    }
    headers.insert(VARY, HeaderValue::from_static("origin"));
    headers.insert(REQUEST_ID, id);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Whether the request is a preflight request. A browser sends a preflight request before a page of another
/// origin may send a key.
fn is_preflight(request: &Request) -> bool {
    let headers = request.headers();
    request.method() == Method::OPTIONS
        && headers.contains_key(ORIGIN)
        && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// The headers that a page may send. MCP requires the last two headers since its version of July 2026.
const PAGE_HEADERS: &str =
    "authorization, content-type, accept, x-request-id, mcp-protocol-version, mcp-method, mcp-name";

fn preflight() -> Response {
    let allowed = [
        (ACCESS_CONTROL_ALLOW_METHODS, "GET, POST"),
        (ACCESS_CONTROL_ALLOW_HEADERS, PAGE_HEADERS),
        (ACCESS_CONTROL_MAX_AGE, "600"),
    ];
    (StatusCode::NO_CONTENT, allowed).into_response()
}

fn check_headers(service: &Service, request: &Request) -> Result<(), HttpError> {
    let headers = request.headers();
    let size_bytes: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if headers.len() > MAX_HEADERS || size_bytes + request.uri().to_string().len() > service.config.header_limit_bytes {
        return Err(HttpError::headers_too_large());
    }
    if headers.get_all(HOST).iter().count() > 1 {
        return Err(HttpError::validation("the request has more than one `Host` header"));
    }
    let host = request.uri().authority().map(|authority| authority.as_str());
    let host = host.or_else(|| headers.get(HOST).and_then(|host| host.to_str().ok()));
    if !host.is_some_and(|host| service.config.allows_host(host)) {
        return Err(HttpError::forbidden("the `Host` header does not contain an allowed name of this service"));
    }
    for origin in headers.get_all(ORIGIN) {
        if !origin.to_str().is_ok_and(|origin| service.config.allows_origin(origin)) {
            return Err(HttpError::forbidden("web pages of this `Origin` may not call the service"));
        }
    }
    Ok(())
}

/// Identifies the caller by the key and admits the request if the limits of the key allow it. The admission
/// is held until the answer is sent.
pub(super) async fn check_key(State(service): State<Arc<Service>>, mut request: Request, next: Next) -> Response {
    let header = request.headers().get(AUTHORIZATION).and_then(|header| header.to_str().ok());
    let known = tokio::time::timeout(service.config.time_for(false), service.authenticator.key_of(header));
    let Ok(known) = known.await else { return HttpError::timeout().into_response() };
    let key = match known {
        Ok(key) => key,
        Err(Refused::Unauthenticated) => return HttpError::unauthenticated().into_response(),
        Err(Refused::Store(error)) => {
            tracing::error!(error = &error as &dyn std::error::Error, "the key store failed");
            return HttpError::internal().into_response();
        }
    };
    let admission = match service.limits.admit(&key.id) {
        Ok(admission) => admission,
        Err(wait) => return HttpError::rate_limited(wait).into_response(),
    };
    let allowed = key.repositories.clone().map_or(Allowed::All, Allowed::Only);
    let caller = Caller { tenant: key.tenant.clone(), allowed, name: key.id.clone() };
    request.extensions_mut().insert(CallerAgent::new(&service, caller, key.may_index));
    next.run(request).await.map(|body| Body::new(AdmissionBody::new(body, admission)))
}
