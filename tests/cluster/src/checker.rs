//! Checks the invariants that must hold after every fault.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use cairn_domain::{PartEnd, RepositoryId, RunState};
use cairn_ports::LedgerRead;
use cairn_wiring::EmbeddingConfig;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::objects::Objects;
use crate::resources::{left_behind, num_connections, peak_memory_bytes};
use crate::{Environment, Raw, Servers, Workload};

/// The time limit from the end of the fault until all work is done.
const PATIENCE: Duration = Duration::from_secs(180);
/// Connections and files that still exist after this time are assumed never to be removed. The child process
/// for suspect jobs has connections until it has been idle for ten seconds.
const LEFT_BEHIND: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(200);
/// The maximum number of runs of a repository that are read; no test case starts so many.
const MANY_RUNS: usize = 1000;
/// The broker updates its message counts every five seconds; on a busy machine the counts may be older.
const COUNTS_ARE_LATE: Duration = Duration::from_secs(15);

/// Compares a cluster with an undisturbed index of the same repositories.
pub struct Checker<'a> {
    environment: &'a Environment,
    raw: Raw,
    traces: Traces,
}

/// The permanent traces that the fault is expected to leave. Any other trace is an error.
#[derive(Clone, Copy, Debug, Default)]
pub struct Traces {
    /// Failed parts of published runs.
    pub num_failed_parts: usize,
    pub num_dead_letters: usize,
    /// Runs that failed because a part failed. The generation that was published before stays published.
    pub num_failed_runs: usize,
    pub num_cancelled_runs: usize,
}

/// The figures of a test case that passed.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    pub num_runs: usize,
    pub num_parts: usize,
    pub num_failed_parts: usize,
    pub num_failed_runs: usize,
    pub num_cancelled_runs: usize,
    pub num_points: u64,
    pub num_nodes: u64,
    pub num_edges: u64,
    pub num_dead_letters: u64,
    pub num_objects: usize,
    pub num_connections: usize,
    pub peak_memory_bytes: u64,
    /// The time from the end of the fault until the last run is published and all queues are empty.
    pub healed_after: Duration,
}

impl<'a> Checker<'a> {
    pub fn new(environment: &'a Environment, servers: &Servers, traces: Traces) -> Result<Self> {
        Ok(Self { environment, raw: Raw::open(servers, &environment.space)?, traces })
    }

    /// Call this function after the fault has ended. Waits until all work is done, then checks all
    /// invariants.
    pub async fn check(&self, asked: &[(RepositoryId, u64)], workload: &Workload) -> Result<Verdict> {
        let healed_at = Instant::now();
        self.environment.inside.settled(asked, PATIENCE).await?;
        let num_dead_letters = self.queues_empty(PATIENCE).await?;
        let mut verdict = Verdict { num_dead_letters, healed_after: healed_at.elapsed(), ..Verdict::default() };
        self.parts_ended(asked, &mut verdict).await?;
        self.environment.inside.each_was_published_once().await?;
        let expected = self.environment.index_locally("undisturbed", workload)?;
        let found: Vec<Value> = self.environment.inside.fingerprint_reports().await?;
        ensure!(found.len() == expected.len(), "{} repositories, expected {}", found.len(), expected.len());
        for (found, expected) in found.iter().zip(&expected) {
            let (found, expected) = (self.comparable(found), self.comparable(expected));
            ensure!(
                found == expected,
                "the repositories differ: after the fault {found:#}\nwithout a fault {expected:#}"
            );
        }
        self.nothing_else(&expected, &mut verdict).await?;
        verdict.num_objects = self.no_orphans().await?;
        self.nothing_held(&mut verdict).await?;
        // The queues are checked again, because the broker's message counts may have been outdated at the
        // first check.
        self.queues_empty(COUNTS_ARE_LATE).await?;
        Ok(verdict)
    }

    /// The part of a fingerprint that must be equal in both indexes. Local mode has no provider, so for
    /// vectors of a provider only the number is compared.
    fn comparable(&self, fingerprint: &Value) -> Value {
        let mut comparable = fingerprint.clone();
        if matches!(self.environment.inside.cluster.config.embedding, EmbeddingConfig::Http { .. }) {
            comparable["digest"].take();
            comparable["kinds"]["vectors"]["digest"].take();
        }
        comparable
    }

    /// Waits until no job is in a work queue and the number of dead letters is as expected. Fails if the
    /// number of waiting jobs has not fallen for `patience`. Returns the number of dead letters.
    async fn queues_empty(&self, patience: Duration) -> Result<u64> {
        let (mut fewest, mut deadline) = (u64::MAX, Instant::now() + patience);
        loop {
            let (waiting, dead) = self.raw.messages().await?;
            if waiting < fewest {
                (fewest, deadline) = (waiting, Instant::now() + patience);
            }
            if waiting == 0 && dead == self.traces.num_dead_letters as u64 {
                return Ok(dead);
            }
            if Instant::now() > deadline {
                bail!(
                    "{waiting} messages are still waiting and {dead} dead letters exist; the expected traces are {:?}",
                    self.traces
                );
            }
            sleep(POLL).await;
        }
    }

    /// Checks that no part is lost. Each part is done, or failed because it was poisoned. Parts of failed and
    /// cancelled runs may be open.
    async fn parts_ended(&self, asked: &[(RepositoryId, u64)], verdict: &mut Verdict) -> Result<()> {
        let repositories: BTreeSet<RepositoryId> = asked.iter().map(|(repository, _)| *repository).collect();
        for repository in repositories {
            for run in self.environment.inside.cluster.runs.runs(Some(repository), MANY_RUNS).await? {
                verdict.num_runs += 1;
                match run.state {
                    RunState::Cancelled => verdict.num_cancelled_runs += 1,
                    RunState::Failed => verdict.num_failed_runs += 1,
                    _ => {}
                }
                if matches!(run.state, RunState::Cancelled | RunState::Failed) {
                    continue;
                }
                ensure!(
                    matches!(run.state, RunState::Published | RunState::Partial),
                    "run {:?} ended as {:?}: {:?}",
                    run.id,
                    run.state,
                    run.message
                );
                let parts = self.environment.inside.cluster.runs.parts(run.id).await?;
                let (found, planned) = (parts.len(), run.num_parts);
                ensure!(found == planned as usize, "run {:?} has {found} parts, but {planned} were planned", run.id);
                for part in parts {
                    verdict.num_parts += 1;
                    let end = part.end.as_ref();
                    ensure!(end.is_some(), "part {:?} of a finished run is open", part.id);
                    verdict.num_failed_parts += usize::from(matches!(end, Some(PartEnd::Failed { .. })));
                }
            }
        }
        let found = (verdict.num_failed_parts, verdict.num_failed_runs, verdict.num_cancelled_runs);
        let Traces { num_failed_parts, num_failed_runs, num_cancelled_runs, .. } = self.traces;
        let expected = (num_failed_parts, num_failed_runs, num_cancelled_runs);
        ensure!(
            found == expected,
            "(failed parts, failed runs, cancelled runs) are {found:?}, but {expected:?} were expected"
        );
        Ok(())
    }

    /// Checks that no record is duplicated or unexpected: after the sweep, the stores contain exactly the
    /// number of records in the fingerprints.
    async fn nothing_else(&self, expected: &[Value], verdict: &mut Verdict) -> Result<()> {
        let count = |kind: &str| -> u64 {
            expected.iter().filter_map(|repository| repository["kinds"][kind]["count"].as_u64()).sum()
        };
        let wanted = (count("chunks"), count("nodes"), count("edges"));
        let collection = self.environment.inside.stores.vectors.collection_name();
        let deadline = Instant::now() + PATIENCE;
        loop {
            let (nodes, edges) = (self.raw.nodes().await?, self.raw.edges().await?);
            let points = self.raw.points(collection).await?;
            // If a record is swept while the records are counted, its key can no longer be read, so the
            // number of records and the number of keys can differ.
            let are_unique = nodes.0 == nodes.1 && edges.0 == edges.1;
            let found = (points, nodes.0, edges.0);
            if found == wanted && are_unique {
                (verdict.num_points, verdict.num_nodes, verdict.num_edges) = found;
                return Ok(());
            }
            if Instant::now() > deadline {
                ensure!(are_unique, "keys exist more than once: nodes {nodes:?}, edges {edges:?}");
                bail!("(points, nodes, edges) are {found:?} after sweeping, but {wanted:?} were expected");
            }
            sleep(POLL).await;
        }
    }

    /// Checks that each object is referenced by a live record. Returns the number of objects.
    async fn no_orphans(&self) -> Result<usize> {
        let objects = Objects::new(&self.environment.inside);
        let deadline = Instant::now() + PATIENCE;
        loop {
            let orphans = objects.orphans().await?;
            if orphans.is_empty() {
                return objects.count().await;
            }
            ensure!(Instant::now() < deadline, "nothing refers to these objects after sweeping: {orphans:?}");
            sleep(POLL).await;
        }
    }

    /// Checks the resources: the expected number of connections, the memory limit of each process, and no
    /// temporary files.
    async fn nothing_held(&self, verdict: &mut Verdict) -> Result<()> {
        verdict.peak_memory_bytes = peak_memory_bytes(&self.environment.cluster)?;
        let (wanted, deadline) = (num_connections(&self.environment.cluster), Instant::now() + LEFT_BEHIND);
        loop {
            let (connections, left) = (self.raw.connections().await?, left_behind(&self.environment.cluster));
            if connections.len() == wanted && left.is_empty() {
                verdict.num_connections = wanted;
                return Ok(());
            }
            ensure!(
                Instant::now() < deadline,
                "{} connections are open instead of {wanted}: {connections:?}; these temporary files were not removed: \
                 {left:?}",
                connections.len()
            );
            sleep(POLL).await;
        }
    }
}
