//! The connection: generated clients over one channel; each request has the API key and a deadline.
//!
//! The clients are those that `qdrant-client` generates. Its wrapper is not used, because it retries
//! requests, and only the pipeline may decide about retries.

use std::future::Future;
use std::time::Duration;

use qdrant_client::qdrant::collections_client::CollectionsClient;
use qdrant_client::qdrant::points_client::PointsClient;
use qdrant_client::qdrant::qdrant_client::QdrantClient;
use qdrant_client::qdrant::{HealthCheckReply, HealthCheckRequest, WriteOrdering, WriteOrderingType};
use secrecy::ExposeSecret;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, ClientTlsConfig, Endpoint};
use tonic::{Request, Response, Status};

use crate::config::{InvalidQdrantConfig, QdrantConfig};
use crate::error::Fault;

/// Idle connections are probed, so that a lost peer is noticed.
const KEEP_ALIVE: Duration = Duration::from_secs(30);

type Service = InterceptedService<Channel, ApiKey>;

#[derive(Clone)]
pub(crate) struct Connection {
    channel: Channel,
    api_key: ApiKey,
    timeout: Duration,
}

impl Connection {
    /// The first request connects; a request after a lost connection connects again.
    pub(crate) fn new(config: &QdrantConfig) -> Result<Self, InvalidQdrantConfig> {
        config.validate()?;
        let invalid = |fault: String| InvalidQdrantConfig { faults: vec![fault] };
        let endpoint = Endpoint::from_shared(config.url.clone())
            .map_err(|_| invalid("`url` is not a URL: set `http://HOST:6334`".to_owned()))?
            .connect_timeout(Duration::from_millis(config.connect_timeout_ms))
            .http2_keep_alive_interval(KEEP_ALIVE)
            .keep_alive_while_idle(true);
        let endpoint = match config.url.starts_with("https:") {
            true => endpoint.tls_config(ClientTlsConfig::new().with_native_roots()),
            false => Ok(endpoint),
        };
        let endpoint = endpoint.map_err(|error| invalid(format!("TLS cannot be set up: {error}")))?;
        let api_key = ApiKey::new(config.api_key.expose_secret())
            .ok_or_else(|| invalid("`api_key` contains characters that a header cannot contain".to_owned()))?;
        let timeout = Duration::from_millis(config.timeout_ms);
        Ok(Self { channel: endpoint.connect_lazy(), api_key, timeout })
    }

    pub(crate) fn points(&self) -> PointsClient<Service> {
        let client = PointsClient::with_interceptor(self.channel.clone(), self.api_key.clone());
        client.max_decoding_message_size(usize::MAX)
    }

    pub(crate) fn collections(&self) -> CollectionsClient<Service> {
        let client = CollectionsClient::with_interceptor(self.channel.clone(), self.api_key.clone());
        client.max_decoding_message_size(usize::MAX)
    }

    /// Waits for a response until the deadline; the server gets the same deadline.
    pub(crate) async fn call<Q, A, F>(&self, message: Q, send: impl FnOnce(Request<Q>) -> F) -> Result<A, Fault>
    where
        F: Future<Output = Result<Response<A>, Status>>,
    {
        let mut request = Request::new(message);
        request.set_timeout(self.timeout);
        match tokio::time::timeout(self.timeout, send(request)).await {
            Ok(answer) => Ok(answer?.into_inner()),
            Err(_) => {
                Err(Status::deadline_exceeded(format!("no response within {} ms", self.timeout.as_millis())).into())
            }
        }
    }

    /// Name and version of the server.
    pub(crate) async fn health(&self) -> Result<HealthCheckReply, Fault> {
        let mut client = QdrantClient::with_interceptor(self.channel.clone(), self.api_key.clone());
        self.call(HealthCheckRequest {}, async |request| client.health_check(request).await).await
    }

    /// Writes go through the highest available replica; `Strong` would wait for the highest replica even if
    /// it is down.
    pub(crate) fn ordering(&self) -> Option<WriteOrdering> {
        Some(WriteOrdering { r#type: WriteOrderingType::Medium.into() })
    }
}

/// Adds the key to each request. The value is marked as sensitive, so that it is never printed.
#[derive(Clone)]
pub(crate) struct ApiKey(Option<MetadataValue<Ascii>>);

impl ApiKey {
    fn new(key: &str) -> Option<Self> {
        if key.is_empty() {
            return Some(Self(None));
        }
        let mut value: MetadataValue<Ascii> = key.parse().ok()?;
        value.set_sensitive(true);
        Some(Self(Some(value)))
    }
}

impl Interceptor for ApiKey {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(key) = &self.0 {
            request.metadata_mut().insert("api-key", key.clone());
        }
        Ok(request)
    }
}
