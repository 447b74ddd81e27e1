//! Processes jobs, from the first delivery to the drain.

use std::sync::Arc;
use std::time::Duration;

use cairn_metastore::Metastore;
use cairn_pipeline::{RetryLadder, Runner, RunnerConfig, Worker};
use cairn_ports::Broker;
use cairn_rabbitmq::RabbitMqBroker;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::isolation::{self, ChildProcess};
use crate::topology::TopologyGate;
use crate::{Cluster, Health, OwnersWork, PipelineConfig, Signals, Stop};

/// The time limit for stopped handlers to return their jobs.
const GIVE_BACK: Duration = Duration::from_secs(5);

impl Cluster {
    /// Processes jobs until the process must stop. Then takes no more jobs, and finishes the jobs in
    /// progress.
    pub async fn work(&self, broker: Arc<RabbitMqBroker>, workers: Vec<Worker>, stop: Stop) -> anyhow::Result<()> {
        self.work_and_own(broker, workers, None, stop).await
    }

    /// Like `work`. While this process owns a key, it also does the work of the owner.
    pub async fn work_and_own(
        &self,
        broker: Arc<RabbitMqBroker>,
        workers: Vec<Worker>,
        owners: Option<OwnersWork>,
        mut stop: Stop,
    ) -> anyhow::Result<()> {
        let config = runner_config(&self.config.pipeline);
        let outbox = self.runs.clone();
        let runner = Runner::new(broker.clone(), Arc::clone(&self.runs), Some(outbox), Arc::clone(&self.clock), config);
        if isolation::is_child() {
            return serve_parent(&runner, workers, owners).await;
        }
        let embedder = owners.as_ref().and_then(|owners| owners.owning.embedder());
        runner.isolate(Arc::new(ChildProcess::of_this_program(embedder)?));
        let gate = TopologyGate::new();
        let health = Health::of(&broker, &runner, &gate, &self.probes);
        let mut serving = std::pin::pin!(health.clone().serve(self.config.http.listen));
        let (drain, draining) = watch::channel(false);
        let (leave, leaving) = watch::channel(false);
        let signals = Signals { draining, leaving };
        let work = everything(Arc::clone(&broker), Arc::clone(&runner), workers, owners, signals);
        let mut working = tokio::spawn(when_complete(gate.clone(), Arc::clone(&broker), work));
        tokio::select! {
            ended = &mut working => return ended?,
            served = &mut serving => return served,
            () = stop.asked() => tracing::info!("draining"),
        }
        health.drain();
        drain.send_replace(true);
        let drained = async {
            broker.close().await;
            runner.stop_waiting();
            if gate.reasons().is_empty() { self.ended(working, leave).await } else { Ok(()) }
        };
        tokio::select! {
            ended = drained => ended,
            served = serving => served,
        }
    }

    /// Waits for a limited time until the jobs in progress have ended.
    async fn ended(
        &self,
        mut working: JoinHandle<anyhow::Result<()>>,
        leave: watch::Sender<bool>,
    ) -> anyhow::Result<()> {
        let patience = Duration::from_secs(self.config.pipeline.drain_seconds);
        if let Ok(ended) = tokio::time::timeout(patience, &mut working).await {
            return ended?;
        }
        tracing::warn!("not all jobs ended within {} s: the unfinished jobs return to the queue", patience.as_secs());
        leave.send_replace(true);
        match tokio::time::timeout(GIVE_BACK, working).await {
            Ok(ended) => ended?,
            // Jobs that were not acknowledged return to the queue, and are counted as unanswered.
            Err(_) => Ok(()),
        }
    }
}

/// Runs suspect jobs for the parent of this process.
async fn serve_parent(
    runner: &Arc<Runner<Metastore>>,
    workers: Vec<Worker>,
    owners: Option<OwnersWork>,
) -> anyhow::Result<()> {
    let embedder = owners.as_ref().and_then(|owners| owners.owning.parent());
    let of_owner = owners.map_or_else(Vec::new, |owners| owners.workers);
    isolation::serve(runner, &[workers, of_owner].concat(), embedder).await
}

/// Does the work when the broker has all parts of the topology.
async fn when_complete<T>(gate: TopologyGate, broker: Arc<RabbitMqBroker>, work: impl Future<Output = T>) -> T {
    gate.until_complete(&broker).await;
    work.await
}

async fn everything(
    broker: Arc<RabbitMqBroker>,
    runner: Arc<Runner<Metastore>>,
    workers: Vec<Worker>,
    owners: Option<OwnersWork>,
    signals: Signals,
) -> anyhow::Result<()> {
    let working = Arc::clone(&runner).run_until(workers, signals.leaving.clone());
    let working = async { Ok(working.await?) };
    match owners {
        Some(owners) => tokio::try_join!(working, owners.run(broker, runner, signals)).map(drop),
        None => working.await,
    }
}

fn runner_config(config: &PipelineConfig) -> RunnerConfig {
    let delays = config.retry_delays_ms.iter().copied().map(Duration::from_millis).collect();
    RunnerConfig {
        concurrency: config.concurrency,
        deadline: Duration::from_secs(config.deadline_seconds),
        longest: Duration::from_secs(config.longest_seconds),
        ladder: RetryLadder { delays, ..RetryLadder::cluster() },
    }
}
