//! Who works on the jobs of which stage, over a cluster's connections.

use std::path::PathBuf;
use std::sync::Arc;

use cairn_git::GitSources;
use cairn_local_parser::ChildParser;
use cairn_pipeline::Worker;
use cairn_ports::Embedder;
use cairn_stages::{
    AggregateStage, EmbedPatternsStage, EmbedStage, Embedding, LinkStage, ParseStage, PublishStage, RetireStage, Sync,
    SyncWorker, Toolchain,
};

use crate::{Cluster, Stores};

/// sync: fetches repositories, takes the inventory, redacts and packs, begins runs.
pub fn syncing(cluster: &Cluster, sources: Arc<GitSources>) -> anyhow::Result<Vec<Worker>> {
    let sync = Sync {
        artifacts: Arc::clone(&cluster.artifacts),
        catalogue: cluster.runs.clone(),
        ledger: cluster.runs.clone(),
        source: sources,
        clock: Arc::clone(&cluster.clock),
        operator: Arc::clone(&cluster.operator),
        tools: Toolchain { model: cluster.config.embedding.model_id()? },
        num_threads: cluster.num_threads(),
        lease_ms: cluster.config.pipeline.lease_ms,
        window: cluster.config.pipeline.window,
    };
    let worker = SyncWorker {
        sync,
        catalogue: cluster.runs.clone(),
        requests: cluster.runs.clone(),
        runs: cluster.runs.clone(),
        clock: Arc::clone(&cluster.clock),
    };
    Ok(vec![Worker::Sync(Arc::new(worker))])
}

/// parse: in children that are `program` with the argument `worker`.
pub fn parsing(cluster: &Cluster, program: PathBuf, worker: &str) -> Vec<Worker> {
    let parser = Arc::new(ChildParser::new(program, vec![worker.to_owned()]));
    vec![Worker::Stage(Arc::new(ParseStage { artifacts: Arc::clone(&cluster.artifacts), parser }))]
}

/// embed and embed_patterns: what calls the model.
pub fn embedding(cluster: &Cluster, stores: &Stores, embedder: Arc<dyn Embedder>) -> Vec<Worker> {
    let vectors = stores.vector_store();
    let embedding = Arc::new(Embedding::new(Arc::clone(&stores.cache), embedder, vectors));
    let artifacts = Arc::clone(&cluster.artifacts);
    let embed = EmbedStage { artifacts: Arc::clone(&artifacts), embedding: Arc::clone(&embedding) };
    let embed_patterns = EmbedPatternsStage {
        artifacts,
        snapshots: cluster.snapshots(),
        catalogue: cluster.runs.clone(),
        ledger: cluster.runs.clone(),
        graph: cluster.graph.clone(),
        embedding,
    };
    vec![Worker::Stage(Arc::new(embed)), Worker::Stage(Arc::new(embed_patterns))]
}

/// retire: what is gone ends.
pub fn retiring(cluster: &Cluster, stores: &Stores) -> Vec<Worker> {
    let stage = RetireStage { artifacts: Arc::clone(&cluster.artifacts), vectors: stores.vector_store() };
    vec![Worker::Stage(Arc::new(stage))]
}

/// link: nodes, edges and names.
pub fn linking(cluster: &Cluster) -> Vec<Worker> {
    let stage = LinkStage {
        artifacts: Arc::clone(&cluster.artifacts),
        snapshots: cluster.snapshots(),
        catalogue: cluster.runs.clone(),
        graph: cluster.graph.clone(),
        names: Arc::new(cairn_names::NameIndex::new(Arc::clone(&cluster.blobs))),
        num_threads: cluster.num_threads(),
    };
    vec![Worker::Stage(Arc::new(stage))]
}

/// aggregate: patterns.
pub fn aggregating(cluster: &Cluster) -> Vec<Worker> {
    let stage = AggregateStage {
        artifacts: Arc::clone(&cluster.artifacts),
        snapshots: cluster.snapshots(),
        catalogue: cluster.runs.clone(),
        graph: cluster.graph.clone(),
    };
    vec![Worker::Stage(Arc::new(stage))]
}

/// publish: the one switch at the end of a run.
pub fn publishing(cluster: &Cluster) -> anyhow::Result<Vec<Worker>> {
    let stage = PublishStage {
        artifacts: Arc::clone(&cluster.artifacts),
        catalogue: cluster.runs.clone(),
        ledger: cluster.runs.clone(),
        clock: Arc::clone(&cluster.clock),
        model: cluster.config.embedding.model_id()?.name,
    };
    Ok(vec![Worker::Stage(Arc::new(stage))])
}
