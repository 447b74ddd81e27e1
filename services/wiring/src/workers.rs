//! The workers of each stage, over a cluster's connections.

use std::path::PathBuf;
use std::sync::Arc;

use cairn_git::GitSources;
use cairn_local_parser::ChildParser;
use cairn_pipeline::Worker;
use cairn_ports::Embedder;
use cairn_stages::{Embedding, Sync, SyncWorker, Toolchain};

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

/// parse: in children that run `program` with the argument `worker`.
pub fn parsing(cluster: &Cluster, program: PathBuf, worker: &str) -> Vec<Worker> {
    let parser = Arc::new(ChildParser::new(program, vec![worker.to_owned()]));
    vec![Worker::Stage(cluster.stages().parse(parser))]
}

/// embed and embed_patterns: the stages that call the model.
pub fn embedding(cluster: &Cluster, stores: &Stores, embedder: Arc<dyn Embedder>) -> Vec<Worker> {
    let embedding = Embedding::new(Arc::clone(&stores.cache), embedder, stores.vector_store());
    cluster.stages().embed(embedding).map(Worker::Stage).into()
}

/// retire: ends the chunks of removed paths.
pub fn retiring(cluster: &Cluster, stores: &Stores) -> Vec<Worker> {
    vec![Worker::Stage(cluster.stages().retire(stores.vector_store()))]
}

/// link: nodes, edges and names.
pub fn linking(cluster: &Cluster) -> Vec<Worker> {
    let names = Arc::new(cairn_names::NameIndex::new(Arc::clone(&cluster.blobs)));
    vec![Worker::Stage(cluster.stages().link(names))]
}

/// aggregate: patterns.
pub fn aggregating(cluster: &Cluster) -> Vec<Worker> {
    vec![Worker::Stage(cluster.stages().aggregate())]
}

/// publish: the transaction at the end of a run.
pub fn publishing(cluster: &Cluster) -> anyhow::Result<Vec<Worker>> {
    let model = cluster.config.embedding.model_id()?.name;
    Ok(vec![Worker::Stage(cluster.stages().publish(&model))])
}
