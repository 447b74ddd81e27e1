//! Local mode: runs all stages in one process, with stores in one directory.

mod agent;
mod changed;
mod clock;
mod first_run;
mod first_use;
mod heads;
mod home;
mod hundreds;
mod index;
mod naming;
mod readers;
mod tree_watch;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use cairn_config::Operator;
use cairn_git::GitSources;
use cairn_local_blobs::LocalBlobs;
use cairn_local_broker::{LocalBroker, QueueSettings};
use cairn_local_parser::ChildParser;
use cairn_local_segments::SegmentStore;
use cairn_local_store::LocalStore;
use cairn_metastore::Metastore;
use cairn_names::NameIndex;
use cairn_pipeline::{RetryLadder, Runner, RunnerConfig, Worker};
use cairn_ports::{Broker, Clock, Embedder, Generations};
use cairn_search::{Caller, SearchStores, Searcher};
use cairn_stages::{
    Artifacts, Embedding, RecordCeilings, SNAPSHOT_MEMORY_BYTES, Snapshots, StageSet, Sweep, SweepStores, Sync,
    Toolchain,
};
use cairn_texts::TextIndex;
use cairn_wiring::{EmbeddingConfig, LazyEmbedder, local_embedder};

pub use agent::LocalAgent;
pub(crate) use agent::unusable_target;
use changed::WorkingFiles;
pub use clock::SystemClock;
pub use first_use::{TreeAround, UnindexedTree, failure_of, too_large};
use heads::SourceHeads;
use home::Requested;
pub use home::{Home, find_home};
pub use hundreds::Hundreds;
pub use index::{IndexRequest, Indexed, Progress};
pub(crate) use naming::Named;
use readers::{Readers, ReadersCatalogue};
use tree_watch::TreeWatch;
pub(crate) use tree_watch::{is_change, is_own};

/// The subcommand with which this program starts itself as a child process that parses files.
pub const PARSE_WORKER: &str = "parse-worker";

/// Duration of a lease. After a process was killed, the next process waits at most this long.
pub(crate) const LEASE_MS: i64 = 2_000;

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
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::start());
        let num_workers = num_workers(&operator);
        let requested = Requested::default();
        let store = Arc::new(LocalStore::open(directory)?);
        let runs = Arc::new(Metastore::new(store.clone()));
        let blobs = Arc::new(LocalBlobs::open(&directory.join("artifacts"))?);
        let vectors = Arc::new(SegmentStore::new(directory.join("segments")));
        let names = Arc::new(NameIndex::new(blobs.clone()));
        let texts = Arc::new(TextIndex::new(blobs.clone()));
        let lazy_embedder = local_embedder(embedding).context("cannot prepare the embedding model")?;
        let embedder: Arc<dyn Embedder> = lazy_embedder.clone();
        let artifacts = Artifacts::new(blobs.clone());
        let sources = Arc::new(GitSources::new(home::git_settings(&home, &operator, &requested)));
        let tools = Toolchain { model: embedder.model().clone() };
        let sync = Arc::new(Sync {
            artifacts: Arc::clone(&artifacts),
            catalogue: runs.clone(),
            ledger: runs.clone(),
            source: sources.clone(),
            clock: Arc::clone(&clock),
            operator: Arc::clone(&operator),
            tools,
            num_threads: num_workers,
            lease_ms: LEASE_MS,
            // The number of parts in flight is not limited here, because the broker of a single process
            // limits the number of waiting jobs.
            window: u32::MAX,
        });
        let set = StageSet {
            artifacts: Arc::clone(&artifacts),
            snapshots: Arc::new(Snapshots::new(SNAPSHOT_MEMORY_BYTES)),
            catalogue: runs.clone(),
            ledger: runs.clone(),
            graph: store.clone(),
            clock: Arc::clone(&clock),
            num_threads: num_workers,
            ceilings: Arc::new(RecordCeilings::new(runs.clone(), Arc::clone(&artifacts), &operator.ceilings)),
        };
        let program = std::env::current_exe().context("cannot find the path of this program")?;
        let parser = Arc::new(ChildParser::new(program, vec![PARSE_WORKER.to_owned()]));
        let embedding = Embedding::new(store.clone(), Arc::clone(&embedder), vectors.clone());
        let [embed, embed_patterns] = set.embed(embedding);
        let stages = [
            set.parse(parser.clone()),
            embed,
            set.retire(vectors.clone()),
            set.link(names.clone(), texts.clone()),
            set.aggregate(),
            embed_patterns,
            set.publish(&embedder.model().name),
        ];
        let stores: Vec<Arc<dyn Generations>> = vec![store.clone(), vectors.clone(), names.clone(), texts.clone()];
        let sweep_stores =
            SweepStores { sweeping: runs.clone(), cache: store.clone(), generations: stores.clone(), letters: None };
        let sweep = set.sweep(sweep_stores, sweep_grace_ms());
        let readers = Readers::new(directory, sweep.grace_ms);
        let catalogue = Arc::new(ReadersCatalogue { catalogue: runs.clone(), readers: readers.clone() });
        let search_stores =
            SearchStores { catalogue, ledger: runs.clone(), blobs, vectors, graph: store.clone(), names, texts };
        let changed = WorkingFiles::new(Arc::clone(&sync), parser, runs.clone(), directory.to_owned());
        let watch = Arc::clone(&changed.watch);
        let searcher = Searcher::new(Caller::local(), search_stores, embedder, Arc::clone(&clock), home.cursor_key)
            .with_synonyms(&operator.synonyms);
        let heads = SourceHeads::new(Arc::clone(&sources), Arc::clone(&clock));
        let searcher = Searcher { changed: Some(Arc::new(changed)), heads: Some(Arc::new(heads)), ..searcher };
        Ok(Self {
            home,
            operator,
            store,
            runs,
            searcher,
            embedder: lazy_embedder,
            artifacts,
            clock,
            sync,
            watch,
            sources,
            sweep,
            readers,
            workers: stages.into_iter().map(Worker::Stage).collect(),
            stores,
            num_workers,
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

fn num_workers(operator: &Operator) -> usize {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    match operator.num_workers {
        0 => cores,
        workers => workers as usize,
    }
}

/// The grace period of the sweep. Tests without concurrent readers may shorten it, because they need no grace
/// period.
fn sweep_grace_ms() -> i64 {
    cairn_faults::sweep_grace_ms().unwrap_or(cairn_stages::GRACE_MS)
}
