//! Builds the stages, the sweep and the searcher of local mode.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use cairn_config::Operator;
use cairn_git::GitSources;
use cairn_local_blobs::LocalBlobs;
use cairn_local_parser::ChildParser;
use cairn_local_segments::SegmentStore;
use cairn_local_store::LocalStore;
use cairn_metastore::Metastore;
use cairn_names::NameIndex;
use cairn_pipeline::Worker;
use cairn_ports::{Clock, Embedder, Generations};
use cairn_search::{Caller, CursorKey, SearchStores, Searcher};
use cairn_stages::{
    Artifacts, Embedding, RecordCeilings, SNAPSHOT_MEMORY_BYTES, Snapshots, StageSet, Sweep, SweepStores, Sync,
    Toolchain,
};
use cairn_texts::TextIndex;
use cairn_wiring::LazyEmbedder;

use super::changed::WorkingFiles;
use super::clock::SystemClock;
use super::heads::SourceHeads;
use super::readers::{Readers, ReadersCatalogue};

/// The subcommand with which this program starts itself as a child process that parses files.
const PARSE_WORKER: &str = "parse-worker";

/// Duration of a lease. After a process was killed, the next process waits at most this long.
pub(crate) const LEASE_MS: i64 = 2_000;

/// The stores in one index directory.
pub(super) struct Stores {
    pub(super) local: Arc<LocalStore>,
    pub(super) runs: Arc<Metastore>,
    blobs: Arc<LocalBlobs>,
    vectors: Arc<SegmentStore>,
    names: Arc<NameIndex>,
    texts: Arc<TextIndex>,
}

impl Stores {
    pub(super) fn open(directory: &Path) -> anyhow::Result<Self> {
        let local = Arc::new(LocalStore::open(directory)?);
        let runs = Arc::new(Metastore::new(local.clone()));
        let blobs = Arc::new(LocalBlobs::open(&directory.join("artifacts"))?);
        let vectors = Arc::new(SegmentStore::new(directory.join("segments")));
        let names = Arc::new(NameIndex::new(blobs.clone()));
        let texts = Arc::new(TextIndex::new(blobs.clone()));
        Ok(Self { local, runs, blobs, vectors, names, texts })
    }

    /// The stores that contain the records of generations.
    pub(super) fn generations(&self) -> Vec<Arc<dyn Generations>> {
        vec![self.local.clone(), self.vectors.clone(), self.names.clone(), self.texts.clone()]
    }
}

/// The stores, sources and settings that the stages and the searcher share.
pub(super) struct Components {
    pub(super) stores: Stores,
    pub(super) operator: Arc<Operator>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) embedder: Arc<LazyEmbedder>,
    pub(super) artifacts: Arc<Artifacts>,
    pub(super) sources: Arc<GitSources>,
    pub(super) num_workers: usize,
}

impl Components {
    pub(super) fn new(
        stores: Stores,
        operator: Arc<Operator>,
        embedder: Arc<LazyEmbedder>,
        sources: Arc<GitSources>,
    ) -> Self {
        Self {
            artifacts: Artifacts::new(stores.blobs.clone()),
            num_workers: num_workers(&operator),
            clock: Arc::new(SystemClock::start()),
            operator,
            stores,
            embedder,
            sources,
        }
    }

    pub(super) fn sync(&self) -> Sync {
        Sync {
            artifacts: Arc::clone(&self.artifacts),
            catalogue: self.stores.runs.clone(),
            ledger: self.stores.runs.clone(),
            source: self.sources.clone(),
            clock: Arc::clone(&self.clock),
            operator: Arc::clone(&self.operator),
            tools: Toolchain { model: self.embedder.model().clone() },
            num_threads: self.num_workers,
            lease_ms: LEASE_MS,
            // The number of parts in flight is not limited here, because the broker of a single process
            // limits the number of waiting jobs.
            window: u32::MAX,
        }
    }

    pub(super) fn stage_set(&self) -> StageSet {
        let (runs, artifacts) = (&self.stores.runs, &self.artifacts);
        StageSet {
            artifacts: Arc::clone(artifacts),
            snapshots: Arc::new(Snapshots::new(SNAPSHOT_MEMORY_BYTES)),
            catalogue: runs.clone(),
            ledger: runs.clone(),
            graph: self.stores.local.clone(),
            clock: Arc::clone(&self.clock),
            num_threads: self.num_workers,
            ceilings: Arc::new(RecordCeilings::new(runs.clone(), Arc::clone(artifacts), &self.operator.ceilings)),
        }
    }

    /// The workers of all stages.
    pub(super) fn workers(&self, set: &StageSet, parser: &Arc<ChildParser>) -> Vec<Worker> {
        let Stores { local, vectors, names, texts, .. } = &self.stores;
        let embedding = Embedding::new(local.clone(), self.embedder.clone(), vectors.clone());
        let [embed, embed_patterns] = set.embed(embedding);
        let stages = [
            set.parse(parser.clone()),
            embed,
            set.retire(vectors.clone()),
            set.link(names.clone(), texts.clone()),
            set.aggregate(),
            embed_patterns,
            set.publish(&self.embedder.model().name),
        ];
        stages.into_iter().map(Worker::Stage).collect()
    }

    pub(super) fn sweep(&self, set: &StageSet) -> Sweep {
        let Stores { local, runs, .. } = &self.stores;
        let generations = self.stores.generations();
        let stores = SweepStores { sweeping: runs.clone(), cache: local.clone(), generations, letters: None };
        set.sweep(stores, sweep_grace_ms())
    }

    pub(super) fn searcher(
        &self,
        readers: &Readers,
        changed: WorkingFiles,
        cursor_key: CursorKey,
    ) -> anyhow::Result<Searcher> {
        let Stores { local, runs, blobs, vectors, names, texts } = &self.stores;
        let catalogue = ReadersCatalogue { catalogue: runs.clone(), readers: readers.clone() };
        let stores = SearchStores {
            catalogue: Arc::new(catalogue),
            ledger: runs.clone(),
            blobs: blobs.clone(),
            vectors: vectors.clone(),
            graph: local.clone(),
            names: names.clone(),
            texts: texts.clone(),
        };
        let clock = Arc::clone(&self.clock);
        let (embedder, words) = (self.embedder.clone(), cairn_wiring::word_table()?);
        let searcher = Searcher::new(Caller::local(), stores, embedder, words, clock, cursor_key)
            .with_synonyms(&self.operator.synonyms);
        let heads = SourceHeads::new(Arc::clone(&self.sources), Arc::clone(&self.clock));
        Ok(Searcher { changed: Some(Arc::new(changed)), heads: Some(Arc::new(heads)), ..searcher })
    }
}

/// A parser whose child processes run this program.
pub(super) fn child_parser() -> anyhow::Result<Arc<ChildParser>> {
    let program = std::env::current_exe().context("cannot find the path of this program")?;
    Ok(Arc::new(ChildParser::new(program, vec![PARSE_WORKER.to_owned()])))
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
