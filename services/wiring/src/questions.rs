//! What answers questions from a cluster's stores.

use std::sync::Arc;

use cairn_ports::Embedder;
use cairn_search::{Caller, CursorKey, Searcher};

use crate::{Cluster, Stores};

/// Asks in the name of `caller`. Replicas that share the key of cursors go on with each other's pages.
pub fn searcher(
    cluster: &Cluster,
    stores: &Stores,
    embedder: Arc<dyn Embedder>,
    cursor_key: CursorKey,
    caller: Caller,
) -> Searcher {
    Searcher {
        caller,
        catalogue: cluster.runs.clone(),
        ledger: cluster.runs.clone(),
        blobs: Arc::clone(&cluster.blobs),
        vectors: stores.vector_store(),
        graph: cluster.graph.clone(),
        names: stores.name_store(),
        embedder,
        clock: Arc::clone(&cluster.clock),
        cursor_key,
    }
}
