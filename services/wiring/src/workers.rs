//! Creates the workers of each stage, with the connections of a cluster.

use std::path::PathBuf;
use std::sync::Arc;

use cairn_git::GitSources;
use cairn_local_parser::ChildParser;
use cairn_pipeline::Worker;
use cairn_ports::Embedder;
use cairn_stages::{Embedding, Sync, SyncWorker, Toolchain};

use crate::{Cluster, Stores};

/// The stage sync: fetches repositories, takes the inventory, redacts and packs texts, and begins runs.
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

/// The stage parse. The stage parses in child processes, which run `program` with the argument `worker`.
pub fn parsing(cluster: &Cluster, program: PathBuf, worker: &str) -> Vec<Worker> {
    let parser = Arc::new(ChildParser::new(program, vec![worker.to_owned()]));
    vec![Worker::Stage(cluster.stages().parse(parser))]
}

/// The stages embed and embed_patterns, which call the model.
pub fn embedding(cluster: &Cluster, stores: &Stores, embedder: Arc<dyn Embedder>) -> Vec<Worker> {
    let embedding = Embedding::new(Arc::clone(&stores.cache), embedder, stores.vector_store());
    cluster.stages().embed(embedding).map(Worker::Stage).into()
}

/// The stage retire, which marks the chunks of removed paths as ended.
pub fn retiring(cluster: &Cluster, stores: &Stores) -> Vec<Worker> {
    vec![Worker::Stage(cluster.stages().retire(stores.vector_store()))]
}

/// The stage link, which stages nodes, edges, names and the index of texts.
pub fn linking(cluster: &Cluster) -> Vec<Worker> {
    let names = Arc::new(cairn_names::NameIndex::new(Arc::clone(&cluster.blobs)));
    let texts = Arc::new(cairn_texts::TextIndex::new(Arc::clone(&cluster.blobs)));
    vec![Worker::Stage(cluster.stages().link(names, texts))]
}

/// The stage aggregate, which finds patterns.
pub fn aggregating(cluster: &Cluster) -> Vec<Worker> {
    vec![Worker::Stage(cluster.stages().aggregate())]
}

/// The stage publish, which ends a run with a transaction.
pub fn publishing(cluster: &Cluster) -> anyhow::Result<Vec<Worker>> {
    let model = cluster.config.embedding.model_id()?.name;
    Ok(vec![Worker::Stage(cluster.stages().publish(&model))])
}
