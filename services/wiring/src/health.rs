//! Liveness, readiness and metrics over HTTP. Liveness asks no dependency: restarting this process would not bring
//! another one back.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context;
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use cairn_catalogue::Runs;
use cairn_pipeline::Runner;
use cairn_rabbitmq::RabbitMqBroker;

use crate::topology::Lacking;

/// Says what keeps the process from working: one line each, empty if nothing does.
pub type Check = Arc<dyn Fn() -> Vec<String> + Send + Sync>;

/// What the endpoints answer from.
#[derive(Clone)]
pub struct Health {
    /// `/healthz`: faults that only a restart mends.
    pub alive: Check,
    /// `/readyz`: reasons why no work should come here now.
    pub ready: Check,
}

impl Health {
    /// Of a process that works on jobs: it needs its broker, and what its stages wait for.
    pub(crate) fn of(broker: &Arc<RabbitMqBroker>, runner: &Arc<Runner<Runs>>, lacking: &Lacking) -> Self {
        let (broker, runner, lacking) = (Arc::clone(broker), Arc::clone(runner), lacking.clone());
        let alive: Check = {
            let broker = Arc::clone(&broker);
            Arc::new(move || if broker.health().is_alive() { Vec::new() } else { faults(&broker) })
        };
        let ready: Check = Arc::new(move || {
            let mut reasons = if broker.health().is_ready() { Vec::new() } else { faults(&broker) };
            reasons.extend(lacking.reasons());
            reasons.extend(runner.waits());
            reasons
        });
        Self { alive, ready }
    }

    pub fn router(self) -> Router {
        Router::new()
            .route("/healthz", get(|State(health): State<Health>| async move { answer(&health.alive) }))
            .route("/readyz", get(|State(health): State<Health>| async move { answer(&health.ready) }))
            .route("/metrics", get(|| async { cairn_telemetry::metrics::text() }))
            .with_state(self)
    }

    /// Answers until the process ends.
    pub async fn serve(self, address: SocketAddr) -> anyhow::Result<()> {
        let listener = tokio::net::TcpListener::bind(address)
            .await
            .with_context(|| format!("cannot listen on {address} for health and metrics"))?;
        tracing::info!(address = %listener.local_addr()?, "health and metrics");
        Ok(axum::serve(listener, self.router()).await?)
    }
}

/// What is wrong with the connections to RabbitMQ, if something is.
fn faults(broker: &RabbitMqBroker) -> Vec<String> {
    let faults = broker.health().faults;
    if faults.is_empty() {
        return vec!["RabbitMQ: what watches over its connections does not run".to_owned()];
    }
    faults.into_iter().map(|fault| format!("RabbitMQ: {fault}")).collect()
}

fn answer(check: &Check) -> (StatusCode, String) {
    let faults = check();
    if faults.is_empty() {
        (StatusCode::OK, "ok\n".to_owned())
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, faults.join("\n") + "\n")
    }
}
