//! A test bench: a cluster under load, and a reader that sends questions continuously.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use cairn_cluster::{Checker, Environment, Probe, Raw, STANDARD, Servers, Traces, Verdict, Wanted, Workload, is_long};
use cairn_domain::RepositoryId;
use cairn_ports::LedgerRead;
use tokio::time::{Instant, sleep};
use toml::{Table, toml};

/// The time limit for one wait, for example until a service reaches the point where it is killed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);
pub(crate) const POLL: Duration = Duration::from_millis(20);

pub(crate) struct Bench {
    pub(crate) environment: Environment,
    pub(crate) servers: Servers,
    pub(crate) workload: Workload,
    pub(crate) asked: Vec<(RepositoryId, u64)>,
    /// Environment variables for every service.
    pub(crate) variables: Vec<(&'static str, String)>,
    probe: Option<Probe>,
}

/// The seed for the repositories and their changes: `CAIRN_SEED`, or a fixed seed.
pub(crate) fn seed() -> Result<u64> {
    match std::env::var("CAIRN_SEED") {
        Ok(seed) => seed.parse().with_context(|| format!("CAIRN_SEED=`{seed}` is not a number")),
        Err(_) => Ok(0),
    }
}

/// The seeds of a test case; the long form uses several.
pub(crate) fn seeds() -> Result<Vec<u64>> {
    let first = seed()?;
    Ok((first..).take(if is_long() { 3 } else { 1 }).collect())
}

/// Settings with shorter delays than in production.
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

/// Like `hasty`, but the reconciler does not dispatch jobs again. So if a job arrives twice, another
/// component is the cause.
pub(crate) fn without_reconciler() -> Table {
    let mut settings = hasty();
    if let Some(pipeline) = settings.get_mut("pipeline").and_then(toml::Value::as_table_mut) {
        pipeline.insert("stalled_after_ms".to_owned(), 3_600_000.into());
    }
    settings
}

impl Bench {
    /// Creates the repositories and prepares a cluster, without starting services.
    pub(crate) async fn prepare(servers: Servers, settings: &Table, num_repositories: usize) -> Result<Self> {
        Self::prepare_with(servers, settings, Workload::new(seed()?, num_repositories, 12)).await
    }

    /// Like `prepare`, with the repositories of the given workload.
    pub(crate) async fn prepare_with(servers: Servers, settings: &Table, workload: Workload) -> Result<Self> {
        let mut environment = Environment::prepare(&servers, settings).await?;
        // The logs are also kept if the case fails with an error.
        environment.keep();
        Ok(Self { environment, servers, workload, asked: Vec::new(), variables: Vec::new(), probe: None })
    }

    /// Starts one replica of each service, indexes all repositories once, and starts the reader.
    pub(crate) async fn begin(&mut self) -> Result<()> {
        self.begin_unread().await?;
        self.probe = Some(Probe::start(self.environment.inside.searcher.clone()));
        Ok(())
    }

    /// Like `begin`, but without a reader, whose questions would cause additional calls to the embedding
    /// provider.
    pub(crate) async fn begin_unread(&mut self) -> Result<()> {
        let wanted = STANDARD.map(|service| (service.to_owned(), self.observed(service, &[])));
        let started = self.environment.cluster.start_together(wanted.into()).await?;
        started.into_iter().try_for_each(|(_, started)| started)?;
        self.ask().await?;
        self.settle().await
    }

    /// Starts a service and records the failpoints that it passes.
    pub(crate) async fn start(&mut self, replica: &str, faults: &[(&'static str, String)]) -> Result<()> {
        let variables = self.observed(replica, faults);
        self.environment.cluster.start(replica, &variables).await
    }

    /// Like `start`, for a service that cannot become ready: waits until the service is alive.
    pub(crate) async fn start_alive(&mut self, replica: &str) -> Result<()> {
        let variables = self.observed(replica, &[]);
        self.environment.cluster.start_alive(replica, &variables).await
    }

    /// The environment variables of a service: those of the bench, and those that inject the faults.
    fn observed(&self, replica: &str, faults: &[(&'static str, String)]) -> Vec<(&'static str, String)> {
        let log = self.points(replica).display().to_string();
        let mut variables = vec![("CAIRN_POINTS_LOG", log), ("CAIRN_SWEEP_GRACE_MS", "2000".to_owned())];
        variables.extend(self.variables.iter().chain(faults).cloned());
        variables
    }

    /// The file in which a service records the points that it has passed.
    pub(crate) fn points(&self, replica: &str) -> PathBuf {
        self.environment.directory.path().join(format!("{replica}.points"))
    }

    /// Waits until a service has passed a point.
    pub(crate) async fn passes(&self, replica: &str, point: &str) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        while !fs::read_to_string(self.points(replica)).unwrap_or_default().lines().any(|line| line == point) {
            ensure!(Instant::now() < deadline, "{replica} did not pass the point {point} in time");
            sleep(POLL).await;
        }
        Ok(())
    }

    pub(crate) async fn ask(&mut self) -> Result<()> {
        self.asked.extend(self.workload.ask(&self.environment.inside).await?);
        Ok(())
    }

    /// Changes all repositories and requests their syncs.
    pub(crate) async fn change(&mut self) -> Result<()> {
        self.workload.advance();
        self.ask().await
    }

    /// Waits until all requested syncs have ended. The error contains the queues of the broker.
    pub(crate) async fn settle(&self) -> Result<()> {
        let Err(error) = self.environment.inside.settled(&self.asked, PATIENCE).await else { return Ok(()) };
        let queues = async { self.raw()?.queues().await }.await;
        Err(error.context(format!("the queues are {queues:?}")))
    }

    /// Waits until a run has begun and at most `most_open` of its parts are open. Also returns if all work is
    /// done first, or after `PATIENCE`.
    pub(crate) async fn under_way(&self, most_open: usize) -> Result<()> {
        let runs = &self.environment.inside.cluster.runs;
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline && !self.environment.inside.is_settled(&self.asked).await? {
            for run in runs.unfinished().await? {
                let parts = runs.parts(run.id).await?;
                if parts.iter().filter(|part| part.end.is_none()).count() <= most_open {
                    return Ok(());
                }
            }
            sleep(POLL).await;
        }
        Ok(())
    }

    /// Starts services, each of which dies when it passes its point. A service that dies before it is ready
    /// is started again without a fault. Returns the other services, which have not died yet.
    pub(crate) async fn doom(&mut self, fates: impl IntoIterator<Item = (String, String)>) -> Result<Vec<String>> {
        let variables = |replica: &str, point: &str| self.observed(replica, &[("CAIRN_KILL_AT", format!("{point}:0"))]);
        let wanted: Vec<Wanted> = fates
            .into_iter()
            .map(|(replica, point)| {
                let variables = variables(&replica, &point);
                (replica, variables)
            })
            .collect();
        let mut doomed = Vec::new();
        for (replica, started) in self.environment.cluster.start_together(wanted).await? {
            match started {
                Ok(()) => doomed.push(replica),
                Err(_) => self.start(&replica, &[]).await?,
            }
        }
        Ok(doomed)
    }

    /// Waits until all these services have died, and restarts each service without its fault. If the work
    /// ends before all services have reached their points, requests more work.
    pub(crate) async fn revive(&mut self, doomed: &[String]) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        let mut dying = doomed.to_vec();
        while !dying.is_empty() {
            // This value must be read before the test checks whether the processes have ended. If the work
            // has already ended, no further service will reach its point.
            let is_settled = self.environment.inside.is_settled(&self.asked).await?;
            let mut dead = Vec::new();
            for replica in std::mem::take(&mut dying) {
                let has_ended = self.environment.cluster.process(&replica)?.has_ended()?;
                (if has_ended { &mut dead } else { &mut dying }).push(replica);
            }
            let dead = dead.into_iter().map(|replica| (replica.clone(), self.observed(&replica, &[]))).collect();
            let started = self.environment.cluster.start_together(dead).await?;
            started.into_iter().try_for_each(|(_, started)| started)?;
            if is_settled && !dying.is_empty() {
                self.change().await?;
            }
            if Instant::now() > deadline {
                bail!("{dying:?} did not die in time");
            }
            sleep(POLL).await;
        }
        Ok(())
    }

    /// Until all work is done, restarts a service whenever it ends, as an orchestrator does. Returns the
    /// number of restarts.
    pub(crate) async fn keep_running(&mut self, replica: &str, variables: &[(&'static str, String)]) -> Result<usize> {
        let deadline = Instant::now() + PATIENCE;
        let (mut num_starts, mut runs) = (0, false);
        loop {
            if runs {
                runs = !self.environment.cluster.process(replica)?.has_ended()?;
            } else {
                num_starts += 1;
                runs = self.start(replica, variables).await.is_ok();
            }
            if runs && self.environment.inside.is_settled(&self.asked).await? {
                return Ok(num_starts - 1);
            }
            ensure!(
                Instant::now() < deadline,
                "the requests were not answered in time, although {replica} was started {num_starts} times"
            );
            sleep(POLL).await;
        }
    }

    /// Clients of the cluster's servers.
    pub(crate) fn raw(&self) -> Result<Raw> {
        Raw::open(&self.servers, &self.environment.space)
    }

    /// The sum of a metric over several services.
    pub(crate) async fn metric(&self, replicas: impl IntoIterator<Item = &str>, start: &str) -> Result<u64> {
        let mut sum = 0;
        for replica in replicas {
            sum += self.environment.cluster.metric(replica, start).await?;
        }
        Ok(sum)
    }

    /// Call this function after the fault has ended. Checks all invariants; the only permitted traces are
    /// poisoned parts and their dead letters.
    pub(crate) async fn check(&mut self, case: &str, num_poisoned: usize) -> Result<Verdict> {
        let (num_failed_parts, num_dead_letters) = (num_poisoned, num_poisoned);
        self.check_traces(case, Traces { num_failed_parts, num_dead_letters, ..Traces::default() }).await
    }

    /// Call this function after the fault has ended. Checks all invariants; only the given traces are
    /// permitted.
    pub(crate) async fn check_traces(&mut self, case: &str, traces: Traces) -> Result<Verdict> {
        let checker = Checker::new(&self.environment, &self.servers, traces)?;
        let verdict = checker.check(&self.asked, &self.workload).await?;
        let num_answers = match self.probe.take() {
            Some(probe) => probe.stop().await?,
            None => 0,
        };
        self.environment.done();
        println!("{case}: seed {}, {num_answers} answers read, {verdict:?}", self.workload.seed());
        Ok(verdict)
    }
}
