//! Runs the work that depends on the ownership of a key. A key has only one owner at a time. Only the owner
//! of a provider's key processes jobs of the stages that call the provider. Only the owner of the
//! coordinator's key publishes generations and runs the coordinator's steps. The other replicas are on
//! standby: they are connected to the broker, but have no consumers for these stages and do not call the
//! provider.
//!
//! Invariant: a process has consumers for these stages only while it owns the key. When the process loses the
//! key, its handlers stop at once and their jobs return to the queue. The process removes the consumers
//! before it requests the key again. The broker gives the key to the next owner only after the earlier owner
//! has disconnected or released the key.

use std::sync::Arc;

use anyhow::Context;
use cairn_embedding_http::{HttpEmbedder, Share};
use cairn_metastore::Metastore;
use cairn_pipeline::{Runner, Worker};
use cairn_ports::Embedder;
use cairn_rabbitmq::{Ownership, RabbitMqBroker};
use cairn_telemetry::metrics::OWNED_KEYS;
use tokio::sync::watch;

use crate::embedding::over_http;
use crate::isolation::{self, ParentEmbedder};
use crate::{Coordinator, EmbeddingConfig, Signals, embedder};

/// The tasks that the owner of a key has besides running its workers.
#[derive(Clone)]
pub enum Owning {
    /// The owner of the key calls the provider and uses the quota of the provider.
    Provider(Arc<HttpEmbedder>),
    /// This process is a child for suspect jobs. Its parent owns the key and calls the provider.
    Parent(Arc<ParentEmbedder>),
    Coordinator(Arc<Coordinator>),
}

/// The work that only the owner of a key may do.
pub struct OwnersWork {
    /// One of `topology.owned_keys`, or the key of the coordinator.
    pub key: String,
    pub owning: Owning,
    pub workers: Vec<Worker>,
}

impl OwnersWork {
    /// Waits for the key, and works while this process owns the key. After the key was lost, waits for the
    /// key again. Returns when the broker connection is closed, or when the process drains while it is on
    /// standby.
    pub async fn run(
        self,
        broker: Arc<RabbitMqBroker>,
        runner: Arc<Runner<Metastore>>,
        mut signals: Signals,
    ) -> anyhow::Result<()> {
        // The time series is created here, because it must exist from the start, even if this process never
        // owns the key.
        OWNED_KEYS.add(0);
        loop {
            tracing::info!(key = self.key, "on standby");
            let ownership = tokio::select! {
                ownership = broker.own(&self.key) => ownership,
                () = wait_for_signal(&mut signals.draining) => return Ok(()),
            };
            let ownership = ownership.with_context(|| {
                format!("waiting for the key `{}`; check that `rabbitmq.topology.owned_keys` contains it", self.key)
            })?;
            if self.work(ownership, &runner, signals.leaving.clone()).await? == Ended::Closed {
                return Ok(());
            }
            for worker in &self.workers {
                broker.release(worker.stage());
            }
        }
    }

    async fn work(
        &self,
        ownership: Ownership,
        runner: &Arc<Runner<Metastore>>,
        mut leaving: watch::Receiver<bool>,
    ) -> anyhow::Result<Ended> {
        let _owned = Owned::new(&self.key);
        let ownership = Arc::new(ownership);
        if let Owning::Provider(embedder) = &self.owning {
            // The embedder checks the ownership before each call. The embedder has only a weak reference to
            // the ownership, so it does not keep the key after this work has ended.
            let held = Arc::downgrade(&ownership);
            embedder.take_over(move || held.upgrade().is_some_and(|ownership| ownership.is_held()));
        }
        let (leave, is_time) = watch::channel(false);
        let mut working = tokio::spawn(Arc::clone(runner).run_until(self.workers.clone(), is_time));
        tokio::select! {
            ended = &mut working => {
                ended??;
                Ok(Ended::Closed)
            }
            () = self.owning.coordinate() => Ok(Ended::Closed),
            () = ownership.lost() => {
                leave.send_replace(true);
                working.await??;
                Ok(Ended::Lost)
            }
            () = wait_for_signal(&mut leaving) => {
                leave.send_replace(true);
                working.await??;
                Ok(Ended::Closed)
            }
        }
    }
}

impl Owning {
    /// The embedder that calls the provider for this process and its child.
    pub(crate) fn embedder(&self) -> Option<Arc<dyn Embedder>> {
        match self {
            Owning::Provider(embedder) => Some(embedder.clone()),
            Owning::Parent(_) | Owning::Coordinator(_) => None,
        }
    }

    /// The embedder that sends its texts to the parent process.
    pub(crate) fn parent(&self) -> Option<Arc<ParentEmbedder>> {
        match self {
            Owning::Parent(embedder) => Some(Arc::clone(embedder)),
            Owning::Provider(_) | Owning::Coordinator(_) => None,
        }
    }

    /// Never returns. The coordinator is stopped by dropping this future, which is permitted at any point.
    async fn coordinate(&self) {
        if let Owning::Coordinator(coordinator) = self {
            coordinator.run().await;
        }
        std::future::pending::<()>().await;
    }
}

/// Returns when the signal becomes true. Never returns if the sender of the signal is dropped.
async fn wait_for_signal(signal: &mut watch::Receiver<bool>) {
    if signal.wait_for(|is_time| *is_time).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// The reason why the work of the owner ended.
#[derive(PartialEq, Eq)]
enum Ended {
    Closed,
    Lost,
}

/// Counts and logs a key while this process owns it.
struct Owned<'a>(&'a str);

impl<'a> Owned<'a> {
    fn new(key: &'a str) -> Self {
        OWNED_KEYS.inc();
        tracing::info!(key, "this process owns the key");
        Self(key)
    }
}

impl Drop for Owned<'_> {
    fn drop(&mut self) {
        OWNED_KEYS.dec();
        tracing::info!(key = self.0, "this process no longer owns the key");
    }
}

/// The name of a key, and the tasks of the owner of this key.
type OwnedKey = (String, Owning);

/// The embedder for passages, and the key that the process must own to use this embedder.
pub fn passages(config: &EmbeddingConfig) -> anyhow::Result<(Arc<dyn Embedder>, Option<OwnedKey>)> {
    let EmbeddingConfig::Http { provider, key_name: Some(name) } = config else {
        return Ok((embedder(config, Share::Passages)?, None));
    };
    if isolation::is_child() {
        let embedder = Arc::new(ParentEmbedder::new(provider.model_id()));
        return Ok((embedder.clone(), Some((name.clone(), Owning::Parent(embedder)))));
    }
    let embedder = over_http(provider, Share::Passages)?;
    Ok((embedder.clone(), Some((name.clone(), Owning::Provider(embedder)))))
}
