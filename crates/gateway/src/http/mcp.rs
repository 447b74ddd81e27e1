//! The Model Context Protocol over streamable HTTP: the tools of `cairn mcp`, without sessions.

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};

use super::body::body_of;
use super::error::HttpError;
use super::service::{CallerAgent, Service};
use crate::agent::Agent;
use crate::mcp::Server;

/// The time limit of a request exceeds the time limit of a tool call by this duration. So the service can
/// return the error of a call that timed out.
const GRACE: Duration = Duration::from_millis(500);

pub(super) async fn serve(
    State(service): State<Arc<Service>>,
    Extension(agent): Extension<CallerAgent>,
    request: Request,
) -> Result<Response, HttpError> {
    let (parts, body) = request.into_parts();
    let body = body_of(&service, body, service.config.mcp_body_limit_bytes).await?;
    let agent: Arc<dyn Agent> = Arc::new(agent);
    let limit = service.config.time_for(false);
    // This server handles one request of one caller and ends when the answer is complete.
    let server = StreamableHttpService::new(
        move || Ok(Server::new(Arc::clone(&agent), Some(limit))),
        Arc::new(NeverSessionManager::default()),
        protocol(&service),
    );
    let answer = server.handle(Request::from_parts(parts, Body::from(body)));
    // A tool call reports its own timeout. This timeout applies to all other methods.
    let answer = tokio::time::timeout(limit + GRACE, answer).await;
    answer.map(|response| response.map(Body::new).into_response()).map_err(|_| HttpError::timeout())
}

fn protocol(service: &Service) -> StreamableHttpServerConfig {
    StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(service.config.mcp_body_limit_bytes)
        .with_allowed_hosts(service.config.allowed_hosts.clone())
        .with_allowed_origins(service.config.allowed_origins.clone())
        .enforce_origin_validation()
}
