//! Serves liveness, readiness and metrics over HTTP. The liveness endpoint does not check stores, because a
//! restart of this process would not repair a store.

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
use crate::topology::TopologyGate;

/// Returns the reasons why the process cannot work, each on one line. The list is empty if the process can
/// work.
pub type Check = Arc<dyn Fn() -> Vec<String> + Send + Sync>;

/// The state that the endpoints report. The endpoints reply until the process ends. They also reply while the
/// process drains, because monitoring is then most important.
#[derive(Clone)]
pub struct Health {
    /// For `/healthz`: faults that only a restart of the process can repair.
    alive: Check,
    /// For `/readyz`: reasons why the process should not receive work now.
    ready: Check,
    is_draining: Arc<AtomicBool>,
}

impl Health {
    pub fn new(alive: Check, ready: Check) -> Self {
        Self { alive, ready, is_draining: Arc::default() }
    }

    /// The health of a process that depends only on its stores.
    pub fn of_stores(probes: &Probes) -> Self {
        let probes = probes.clone();
        // This process counts as alive if it can reply. A restart would not repair a store.
        Self::new(Arc::new(Vec::new), Arc::new(move || probes.reasons()))
    }

    /// The health of a process that processes jobs. The process depends on its broker, its stores, and the
    /// dependencies of its stages.
    pub(crate) fn of(
        broker: &Arc<RabbitMqBroker>,
        runner: &Arc<Runner<Metastore>>,
        gate: &TopologyGate,
        probes: &Probes,
    ) -> Self {
        let (broker, runner, gate, probes) = (Arc::clone(broker), Arc::clone(runner), gate.clone(), probes.clone());
        export_broker_state(&broker);
        let alive: Check = {
            let broker = Arc::clone(&broker);
            Arc::new(move || if broker.health().is_alive() { Vec::new() } else { faults(&broker) })
        };
        let ready: Check = Arc::new(move || {
            let mut reasons = if broker.health().is_ready() { Vec::new() } else { faults(&broker) };
            reasons.extend(gate.reasons());
            reasons.extend(probes.reasons());
            reasons.extend(runner.waits());
            reasons
        });
        Self::new(alive, ready)
    }

    /// From now on, `/readyz` reports that the process should receive no more work. The process ends when its
    /// jobs have ended.
    pub fn drain(&self) {
        self.is_draining.store(true, Ordering::Relaxed);
    }

    /// Reports no faults while the process drains, because it has then closed its connections intentionally.
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

    /// Serves the endpoints until the process ends.
    pub async fn serve(self, address: SocketAddr) -> anyhow::Result<()> {
        let listener = tokio::net::TcpListener::bind(address)
            .await
            .with_context(|| format!("cannot listen on {address} for health and metrics"))?;
        tracing::info!(address = %listener.local_addr()?, "serving health and metrics");
        Ok(axum::serve(listener, self.router()).await?)
    }
}

/// Exports the state of the connection to the broker as metrics of this process. After the broker has been
/// dropped, all these metrics are 0.
fn export_broker_state(broker: &Arc<RabbitMqBroker>) {
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

/// The faults of the connections to RabbitMQ, in the form in which the endpoints report them.
fn faults(broker: &RabbitMqBroker) -> Vec<String> {
    let faults = broker.health().faults;
    if faults.is_empty() {
        return vec!["RabbitMQ: the task that monitors the connections is not running".to_owned()];
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
