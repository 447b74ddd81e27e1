//! The query service answers questions over HTTP and MCP. The service is stateless, so any replica can answer
//! any request.

mod counting;
mod listen;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use axum::middleware::from_fn;
use cairn_embedding_http::Share;
use cairn_gateway::http::{GatewayState, router};
use cairn_git::RemotePolicy;
use cairn_neo4j::Neo4jKeys;
use cairn_search::Caller;
use cairn_wiring::{
    Arguments, Cluster, ClusterConfig, Health, Stop, Stores, embedder, indexing, searcher, shared_runs, start,
};

/// A question allocates many small values. The allocator of the C library needs a fifth of the time of a
/// question, and this allocator needs much less.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    start("query", &Arguments::of("cairn-query"), run)
}

async fn run(config: ClusterConfig, mut stop: Stop) -> anyhow::Result<()> {
    counting::begin();
    let query = config.query.clone().context("the settings have no section [query]")?;
    let cursor_key = query.cursor_key()?;
    let embedder = embedder(&config.embedding, Share::Questions { processes: query.processes })?;
    let health_address = config.http.listen;
    let cluster = stop.unless_asked(Cluster::connect(config)).await?;
    let stores = Stores::connect(&cluster, embedder.model()).await?;
    // An error is only logged, because the answers are also correct without this call. Only the first answers
    // then take longer.
    if let Err(error) = stop.unless_asked(plan_traversals(&cluster)).await {
        tracing::warn!(
            error = &*error,
            "the traversals could not be planned before the first question, so the first answers take longer"
        );
    }
    let runs = shared_runs(&cluster, Duration::from_millis(query.state_cache_ms));
    let state = GatewayState {
        searcher: searcher(&cluster, &runs, &stores, embedder, cursor_key, Caller::local())?,
        keys: Arc::new(Neo4jKeys::new(cluster.neo4j.clone())),
        indexing: Arc::new(indexing(&runs, &cluster.clock, RemotePolicy::from(&cluster.operator.sources))),
    };
    let health = Health::of_stores(&cluster.probes);
    let app = router(state, query.gateway.clone()).layer(from_fn(counting::count));
    tokio::select! {
        served = health.clone().serve(health_address) => served,
        served = listen::serve(&query, app, &health, stop) => served,
    }
}

async fn plan_traversals(cluster: &Cluster) -> anyhow::Result<()> {
    Ok(cluster.graph.plan_traversals().await?)
}
