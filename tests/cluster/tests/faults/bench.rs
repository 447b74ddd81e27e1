//! A cluster under load, with a reader that never stops.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use cairn_cluster::{Checker, Ground, Probe, STANDARD, Servers, Traces, Verdict, Workload};
use cairn_domain::RepositoryId;
use tokio::time::{Instant, sleep};
use toml::{Table, toml};

/// How long a service that is to die may take to come to its point.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);
pub(crate) const POLL: Duration = Duration::from_millis(20);

pub(crate) struct Bench {
    pub(crate) ground: Ground,
    pub(crate) servers: Servers,
    pub(crate) workload: Workload,
    pub(crate) asked: Vec<(RepositoryId, u64)>,
    probe: Option<Probe>,
}

/// Whether the long forms are wanted.
pub(crate) fn is_long() -> bool {
    std::env::var("CAIRN_FAULTS").is_ok_and(|cases| cases == "all")
}

/// Everything that waits, waits shorter than in production.
pub(crate) fn hasty() -> Table {
    toml! {
        [rabbitmq]
        heartbeat_seconds = 5
        backoff_max_ms = 1000
        confirm_timeout_ms = 5000
        [rabbitmq.topology]
        retry_delays_ms = [500, 2000]
        [pipeline]
        tick_ms = 100
        lease_ms = 3000
        sync_again_after_ms = 10000
        stalled_after_ms = 6000
        deadline_seconds = 30
        drain_seconds = 10
        sweep_every_ms = 1000
        retry_delays_ms = [500, 500, 2000, 2000, 2000, 2000, 2000, 2000]
    }
}

impl Bench {
    /// Prepares a cluster without services, and repositories.
    pub(crate) async fn prepare(servers: Servers, settings: &Table, num_repositories: usize) -> Result<Self> {
        let ground = Ground::prepare(&servers, settings).await?;
        let workload = Workload::new(num_repositories, 12);
        Ok(Self { ground, servers, workload, asked: Vec::new(), probe: None })
    }

    /// Starts one of each service, and has everything indexed once.
    pub(crate) async fn begin(&mut self) -> Result<()> {
        self.begin_unread().await?;
        self.probe = Some(Probe::start(self.ground.inside.searcher.clone()));
        Ok(())
    }

    /// The same without a reader: its questions would be embedded as well.
    pub(crate) async fn begin_unread(&mut self) -> Result<()> {
        for service in STANDARD {
            self.start(service, &[]).await?;
        }
        self.ask().await?;
        self.settle().await
    }

    /// Starts a service; it notes the fail points that it passes.
    pub(crate) async fn start(&mut self, replica: &str, faults: &[(&str, String)]) -> Result<()> {
        let log = self.points(replica).display().to_string();
        let mut variables = vec![("CAIRN_POINTS_LOG", log), ("CAIRN_SWEEP_GRACE_MS", "2000".to_owned())];
        variables.extend(faults.iter().cloned());
        self.ground.cluster.start(replica, &variables).await
    }

    /// The file with the points that a service has passed.
    pub(crate) fn points(&self, replica: &str) -> PathBuf {
        self.ground.directory.path().join(format!("{replica}.points"))
    }

    /// Waits until a service has passed a point.
    pub(crate) async fn passes(&self, replica: &str, point: &str) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        while !fs::read_to_string(self.points(replica)).unwrap_or_default().lines().any(|line| line == point) {
            ensure!(Instant::now() < deadline, "{replica} does not pass {point}");
            sleep(POLL).await;
        }
        Ok(())
    }

    pub(crate) async fn ask(&mut self) -> Result<()> {
        self.asked.extend(self.workload.ask(&self.ground.inside).await?);
        Ok(())
    }

    /// Changes every repository and asks for the syncs.
    pub(crate) async fn change(&mut self) -> Result<()> {
        self.workload.advance();
        self.ask().await
    }

    pub(crate) async fn settle(&self) -> Result<()> {
        self.ground.inside.settled(&self.asked, PATIENCE).await
    }

    /// Starts services again, without their faults, as soon as they have died; returns when all of them have. What there was
    /// to do may not have led them to their points: then there is more to do.
    pub(crate) async fn revive(&mut self, doomed: &[String]) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        let mut dying = doomed.to_vec();
        while !dying.is_empty() {
            // Asked before the processes are looked at: what has settled now leads nobody anywhere.
            let is_settled = self.ground.inside.is_settled(&self.asked).await?;
            for replica in std::mem::take(&mut dying) {
                if self.ground.cluster.process(&replica)?.has_ended()? {
                    self.start(&replica, &[]).await?;
                } else {
                    dying.push(replica);
                }
            }
            if is_settled && !dying.is_empty() {
                self.change().await?;
            }
            if Instant::now() > deadline {
                bail!("{dying:?} did not die");
            }
            sleep(POLL).await;
        }
        Ok(())
    }

    /// The fault is over, and left nothing but poisoned parts and their letters: everything has to hold.
    pub(crate) async fn check(&mut self, case: &str, num_poisoned: usize) -> Result<Verdict> {
        let (num_failed_parts, num_dead_letters) = (num_poisoned, num_poisoned);
        self.check_traces(case, Traces { num_failed_parts, num_dead_letters, ..Traces::default() }).await
    }

    /// The fault is over: everything has to hold.
    pub(crate) async fn check_traces(&mut self, case: &str, traces: Traces) -> Result<Verdict> {
        let checker = Checker::new(&self.ground, &self.servers, traces)?;
        let verdict = checker.check(&self.asked, &self.workload).await?;
        let num_answers = match self.probe.take() {
            Some(probe) => probe.stop().await?,
            None => 0,
        };
        println!("{case}: {num_answers} answers read, {verdict:?}");
        Ok(verdict)
    }
}
