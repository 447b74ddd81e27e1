//! What every request passes before it is routed: a request id, the checks of Host, Origin and headers, then the key and its
//! limits. Who is not let in learns nothing of what there is.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, AUTHORIZATION, CACHE_CONTROL,
    HOST, ORIGIN, VARY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use cairn_search::{Allowed, Caller};
use tracing::Instrument;

use super::error::HttpError;
use super::service::{CallerAgent, Service};
use super::taking::Taking;
use crate::auth::Refused;

const REQUEST_ID: &str = "x-request-id";
const MAX_REQUEST_ID: usize = 64;
const MAX_HEADERS: usize = 64;

/// Numbers of requests that tell nobody how many there were.
pub(super) struct RequestIds {
    key: [u8; 32],
    next: AtomicU64,
}

impl RequestIds {
    pub(super) fn new() -> Self {
        Self { key: rand::random(), next: AtomicU64::new(0) }
    }

    /// The id that the caller gave, if it is one; else a new one.
    fn of(&self, headers: &HeaderMap) -> HeaderValue {
        let is_plain = |id: &&HeaderValue| {
            let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
            (1..=MAX_REQUEST_ID).contains(&id.len()) && id.as_bytes().iter().all(is_plain)
        };
        if let Some(given) = headers.get(REQUEST_ID).filter(is_plain) {
            return given.clone();
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let digest = blake3::keyed_hash(&self.key, &number.to_le_bytes());
        HeaderValue::from_str(&digest.to_hex()[..16]).unwrap_or(HeaderValue::from_static("0"))
    }
}

pub(super) async fn at_the_door(State(service): State<Arc<Service>>, request: Request, next: Next) -> Response {
    let id = service.request_ids.of(request.headers());
    let span = tracing::info_span!("request", request_id = ?id);
    let origin = request.headers().get(ORIGIN).cloned();
    let response = match checked(&service, &request) {
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

/// `origin` is one that may call.
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

/// What a browser asks before a page of another origin may send a key.
fn is_preflight(request: &Request) -> bool {
    let headers = request.headers();
    request.method() == Method::OPTIONS
        && headers.contains_key(ORIGIN)
        && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// What a page may send: MCP asks for the last two since its version of July 2026.
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

fn checked(service: &Service, request: &Request) -> Result<(), HttpError> {
    let headers = request.headers();
    let size_bytes: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if headers.len() > MAX_HEADERS || size_bytes + request.uri().to_string().len() > service.config.header_limit_bytes {
        return Err(HttpError::headers_too_large());
    }
    if headers.get_all(HOST).iter().count() > 1 {
        return Err(HttpError::validation("the request has more than one `Host`"));
    }
    let host = request.uri().authority().map(|authority| authority.as_str());
    let host = host.or_else(|| headers.get(HOST).and_then(|host| host.to_str().ok()));
    if !host.is_some_and(|host| service.config.allows_host(host)) {
        return Err(HttpError::forbidden("the service is not called by this `Host`"));
    }
    for origin in headers.get_all(ORIGIN) {
        if !origin.to_str().is_ok_and(|origin| service.config.allows_origin(origin)) {
            return Err(HttpError::forbidden("pages of this `Origin` may not call the service"));
        }
    }
    Ok(())
}

/// Finds out who calls, and lets them in within the limits of their key, until they have taken the answer.
pub(super) async fn with_key(State(service): State<Arc<Service>>, mut request: Request, next: Next) -> Response {
    let header = request.headers().get(AUTHORIZATION).and_then(|header| header.to_str().ok());
    let known = tokio::time::timeout(service.config.time_for(false), service.authenticator.key_of(header));
    let Ok(known) = known.await else { return HttpError::timeout().into_response() };
    let key = match known {
        Ok(key) => key,
        Err(Refused::Unauthenticated) => return HttpError::unauthenticated().into_response(),
        Err(Refused::Store(error)) => {
            tracing::error!(error = &error as &dyn std::error::Error, "keys cannot be looked up");
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
    next.run(request).await.map(|body| Body::new(Taking::new(body, admission)))
}
