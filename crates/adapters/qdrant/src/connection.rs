//! The connection: generated clients over one channel, a key with each request, a deadline around each.
//!
//! The clients are those that `qdrant-client` generates; its own wrapper is left out because it tries requests again by
//! itself, and whether that is right is the pipeline's to say.

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

/// Idle connections are probed, so that a peer that vanished is noticed.
const KEEP_ALIVE: Duration = Duration::from_secs(30);

type Service = InterceptedService<Channel, ApiKey>;

#[derive(Clone)]
pub(crate) struct Connection {
    channel: Channel,
    api_key: ApiKey,
    timeout: Duration,
}

impl Connection {
    /// Connects when the first request is sent, and again after a connection broke.
    pub(crate) fn new(config: &QdrantConfig) -> Result<Self, InvalidQdrantConfig> {
        config.validate()?;
        let invalid = |fault: String| InvalidQdrantConfig { faults: vec![fault] };
        let endpoint = Endpoint::from_shared(config.url.clone())
            .map_err(|_| invalid("`url` cannot be read: write it as `http://HOST:6334`".to_owned()))?
            .connect_timeout(Duration::from_millis(config.connect_timeout_ms))
            .http2_keep_alive_interval(KEEP_ALIVE)
            .keep_alive_while_idle(true);
        let endpoint = match config.url.starts_with("https:") {
            true => endpoint.tls_config(ClientTlsConfig::new().with_native_roots()),
            false => Ok(endpoint),
        };
        let endpoint = endpoint.map_err(|error| invalid(format!("TLS cannot be set up: {error}")))?;
        let api_key = ApiKey::new(config.api_key.expose_secret())
            .ok_or_else(|| invalid("`api_key` holds signs that no header can carry".to_owned()))?;
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

    /// Waits for an answer until the deadline, which the server is told too.
    pub(crate) async fn call<Q, A, F>(&self, message: Q, send: impl FnOnce(Request<Q>) -> F) -> Result<A, Fault>
    where
        F: Future<Output = Result<Response<A>, Status>>,
    {
        let mut request = Request::new(message);
        request.set_timeout(self.timeout);
        match tokio::time::timeout(self.timeout, send(request)).await {
            Ok(answer) => Ok(answer?.into_inner()),
            Err(_) => {
                Err(Status::deadline_exceeded(format!("no answer within {} ms", self.timeout.as_millis())).into())
            }
        }
    }

    /// The server's name for itself and its version.
    pub(crate) async fn health(&self) -> Result<HealthCheckReply, Fault> {
        let mut client = QdrantClient::with_interceptor(self.channel.clone(), self.api_key.clone());
        self.call(HealthCheckRequest {}, async |request| client.health_check(request).await).await
    }

    /// Writes go through the highest replica that is alive; `Strong` waits for the highest one, dead or not.
    pub(crate) fn ordering(&self) -> Option<WriteOrdering> {
        Some(WriteOrdering { r#type: WriteOrderingType::Medium.into() })
    }
}

/// Adds the key to each request. Its value is marked as sensitive, so that nothing prints it.
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
