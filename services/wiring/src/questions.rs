//! Creates the searcher for the stores of a cluster.

use std::sync::Arc;

use cairn_ports::Embedder;
use cairn_search::{Caller, CursorKey, SearchStores, Searcher};

use crate::{Cluster, Stores};

/// A searcher for the questions of `caller`. Replicas with the same cursor key can continue each other's
/// pages.
pub fn searcher(
    cluster: &Cluster,
    stores: &Stores,
    embedder: Arc<dyn Embedder>,
    cursor_key: CursorKey,
    caller: Caller,
) -> Searcher {
    let search_stores = SearchStores {
        catalogue: cluster.runs.clone(),
        ledger: cluster.runs.clone(),
        blobs: Arc::clone(&cluster.blobs),
        vectors: stores.vector_store(),
        graph: cluster.graph.clone(),
        names: stores.name_store(),
    };
    Searcher::new(caller, search_stores, embedder, Arc::clone(&cluster.clock), cursor_key)
}
