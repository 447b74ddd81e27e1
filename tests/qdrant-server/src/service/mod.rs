//! Implements Qdrant's gRPC services with the store.

mod collections;
mod points;

use std::sync::Arc;
use std::time::Instant;

use qdrant_client::qdrant::qdrant_server::Qdrant;
use qdrant_client::qdrant::{HealthCheckReply, HealthCheckRequest};
use tonic::{Request, Response, Status};

use crate::store::Store;

/// The Qdrant version whose behaviour the tests expect.
const VERSION: &str = "1.19.0";

#[derive(Clone)]
pub struct Service {
    store: Arc<Store>,
}

impl Service {
    pub fn new(store: Arc<Store>) -> Self {
        Self { store }
    }

    /// Runs `work` on a thread that may block. Returns its result and its time in seconds.
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Store) -> Result<T, Status> + Send + 'static,
    ) -> Result<(T, f64), Status> {
        let (store, start) = (Arc::clone(&self.store), Instant::now());
        let result = tokio::task::spawn_blocking(move || work(&store)).await;
        let value = result.map_err(|error| Status::internal(format!("Service internal error: {error}")))??;
        Ok((value, start.elapsed().as_secs_f64()))
    }
}

#[tonic::async_trait]
impl Qdrant for Service {
    async fn health_check(&self, _: Request<HealthCheckRequest>) -> Result<Response<HealthCheckReply>, Status> {
        let title = "qdrant test server on Qdrant's embedded engine".to_owned();
        Ok(Response::new(HealthCheckReply { title, version: VERSION.to_owned(), commit: None }))
    }
}
