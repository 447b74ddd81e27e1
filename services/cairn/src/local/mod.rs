//! Local mode: runs all stages in one process, with stores in one directory.

mod agent;
mod changed;
mod clock;
mod components;
mod first_run;
mod first_use;
mod heads;
mod home;
mod hundreds;
mod index;
mod maintenance;
mod naming;
mod readers;
mod tree_watch;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use cairn_config::Operator;
use cairn_git::GitSources;
use cairn_local_broker::{LocalBroker, QueueSettings};
use cairn_local_store::LocalStore;
use cairn_metastore::Metastore;
use cairn_pipeline::{RetryLadder, Runner, RunnerConfig, Worker};
use cairn_ports::{Broker, Clock, Generations};
use cairn_search::Searcher;
use cairn_stages::{Artifacts, Sweep, Sync};
use cairn_wiring::{EmbeddingConfig, LazyEmbedder, local_embedder};

pub use agent::LocalAgent;
pub(crate) use agent::unusable_target;
use changed::WorkingFiles;
use components::{Components, Stores, child_parser};
pub use first_use::{TreeAround, UnindexedTree, failure_of, too_large};
use home::Requested;
pub use home::{Home, find_home};
pub use hundreds::Hundreds;
pub use index::{IndexRequest, Indexed, Progress};
pub(crate) use naming::Named;
use readers::Readers;
use tree_watch::TreeWatch;
pub(crate) use tree_watch::{is_change, is_own};

/// Maximum time for which the handler of a part may write after it last checked that the run is active.
const PART_DEADLINE: Duration = Duration::from_secs(600);
/// Time limit of a part. The limit can be long, because only the process that executes the part waits for it.
const LONGEST_PART: Duration = Duration::from_hours(6);

/// Interval at which a long-running process continues the maintenance of the stores.
pub(crate) const MAINTENANCE: Duration = Duration::from_secs(10);

/// One open index directory: its settings, stores, sources and workers.
pub struct Local {
    pub home: Home,
    pub operator: Arc<Operator>,
    pub store: Arc<LocalStore>,
    pub runs: Arc<Metastore>,
    pub searcher: Searcher,
    embedder: Arc<LazyEmbedder>,
    artifacts: Arc<Artifacts>,
    pub clock: Arc<dyn Clock>,
    sync: Arc<Sync>,
    watch: Arc<TreeWatch>,
    sources: Arc<GitSources>,
    sweep: Sweep,
    readers: Readers,
    workers: Vec<Worker>,
    stores: Vec<Arc<dyn Generations>>,
    num_workers: usize,
    requested: Requested,
}

impl Local {
    /// Opens the index in `directory`, and creates the index if it does not exist.
    pub fn open(directory: &Path, operator: Operator, embedding: &EmbeddingConfig) -> anyhow::Result<Self> {
        let home = Home::open(directory)?;
        let operator = Arc::new(operator);
        let stores = Stores::open(directory)?;
        let embedder = local_embedder(embedding).context("cannot prepare the embedding model")?;
        let requested = Requested::default();
        let sources = Arc::new(GitSources::new(home::git_settings(&home, &operator, &requested)));
        let components = Components::new(stores, operator, embedder, sources);
        let sync = Arc::new(components.sync());
        let set = components.stage_set();
        let parser = child_parser()?;
        let workers = components.workers(&set, &parser);
        let sweep = components.sweep(&set);
        let readers = Readers::new(directory, sweep.grace_ms);
        let runs = components.stores.runs.clone();
        let changed = WorkingFiles::new(Arc::clone(&sync), parser, runs.clone(), directory.to_owned());
        let watch = Arc::clone(&changed.watch);
        Ok(Self {
            searcher: components.searcher(&readers, changed, home.cursor_key)?,
            home,
            operator: components.operator,
            stores: components.stores.generations(),
            store: components.stores.local,
            runs,
            embedder: components.embedder,
            artifacts: components.artifacts,
            clock: components.clock,
            sync,
            watch,
            sources: components.sources,
            sweep,
            readers,
            workers,
            num_workers: components.num_workers,
            requested,
        })
    }

    pub(crate) fn broker(&self) -> Arc<LocalBroker> {
        let settings = QueueSettings { prefetch: self.num_workers, ..QueueSettings::default() };
        Arc::new(LocalBroker::new(|_| settings))
    }

    fn runner(&self, broker: &Arc<LocalBroker>) -> Arc<Runner<Metastore>> {
        let config = RunnerConfig {
            concurrency: self.num_workers,
            deadline: PART_DEADLINE,
            longest: LONGEST_PART,
            ladder: RetryLadder::local(),
        };
        let broker: Arc<dyn Broker> = broker.clone();
        Runner::new(broker, Arc::clone(&self.runs), None, Arc::clone(&self.clock), config)
    }
}
