//! Liveness, readiness and metrics over HTTP. Liveness asks no dependency: restarting this process would not bring
//! another one back.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use cairn_metastore::Metastore;
use cairn_pipeline::Runner;
use cairn_rabbitmq::RabbitMqBroker;
use cairn_telemetry::metrics::{BROKER_GAUGES, export};

use crate::Probes;
use crate::topology::Lacking;

/// Says what keeps the process from working: one line each, empty if nothing does.
pub type Check = Arc<dyn Fn() -> Vec<String> + Send + Sync>;

/// What the endpoints answer from. They answer until the process ends, also while it drains: whoever watches a process
/// wants to see that most of all.
#[derive(Clone)]
pub struct Health {
    /// `/healthz`: faults that only a restart mends.
    alive: Check,
    /// `/readyz`: reasons why no work should come here now.
    ready: Check,
    is_draining: Arc<AtomicBool>,
}

impl Health {
    pub fn new(alive: Check, ready: Check) -> Self {
        Self { alive, ready, is_draining: Arc::default() }
    }

    /// Of a process that needs its stores and nothing else.
    pub fn of_stores(probes: &Probes) -> Self {
        let probes = probes.clone();
        // A process that can listen is alive: starting it again brings no store back.
        Self::new(Arc::new(Vec::new), Arc::new(move || probes.reasons()))
    }

    /// Of a process that works on jobs: it needs its broker, its stores, and what its stages wait for.
    pub(crate) fn of(
        broker: &Arc<RabbitMqBroker>,
        runner: &Arc<Runner<Metastore>>,
        lacking: &Lacking,
        probes: &Probes,
    ) -> Self {
        let (broker, runner, lacking, probes) =
            (Arc::clone(broker), Arc::clone(runner), lacking.clone(), probes.clone());
        export_standing(&broker);
        let alive: Check = {
            let broker = Arc::clone(&broker);
            Arc::new(move || if broker.health().is_alive() { Vec::new() } else { faults(&broker) })
        };
        let ready: Check = Arc::new(move || {
            let mut reasons = if broker.health().is_ready() { Vec::new() } else { faults(&broker) };
            reasons.extend(lacking.reasons());
            reasons.extend(probes.reasons());
            reasons.extend(runner.waits());
            reasons
        });
        Self::new(alive, ready)
    }

    /// From now on no work should come here: the process ends when what it has in hand is done.
    pub fn drain(&self) {
        self.is_draining.store(true, Ordering::Relaxed);
    }

    /// What a process has let go of because it ends is no fault.
    fn liveness(&self) -> Vec<String> {
        if self.is_draining.load(Ordering::Relaxed) { Vec::new() } else { (self.alive)() }
    }

    fn readiness(&self) -> Vec<String> {
        if self.is_draining.load(Ordering::Relaxed) { vec!["draining".to_owned()] } else { (self.ready)() }
    }

    pub fn router(self) -> Router {
        Router::new()
            .route("/healthz", get(|State(health): State<Health>| async move { answer(&health.liveness()) }))
            .route("/readyz", get(|State(health): State<Health>| async move { answer(&health.readiness()) }))
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

/// How this process stands with the broker, among its metrics. A broker that is gone has nothing.
fn export_standing(broker: &Arc<RabbitMqBroker>) {
    let broker = Arc::downgrade(broker);
    export(&BROKER_GAUGES, move || {
        let Some(broker) = broker.upgrade() else { return vec![0; BROKER_GAUGES.len()] };
        let health = broker.health();
        vec![
            health.connected_since.is_some().into(),
            health.is_blocked.into(),
            health.num_consumers_attached as u64,
            health.num_consumers_wanted as u64,
        ]
    });
}

/// What is wrong with the connections to RabbitMQ, if something is.
fn faults(broker: &RabbitMqBroker) -> Vec<String> {
    let faults = broker.health().faults;
    if faults.is_empty() {
        return vec!["RabbitMQ: what watches over its connections does not run".to_owned()];
    }
    faults.into_iter().map(|fault| format!("RabbitMQ: {fault}")).collect()
}

fn answer(faults: &[String]) -> (StatusCode, String) {
    if faults.is_empty() {
        (StatusCode::OK, "ok\n".to_owned())
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, faults.join("\n") + "\n")
    }
}
