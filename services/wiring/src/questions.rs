//! Creates the searcher for the stores of a cluster.

use std::sync::Arc;
use std::time::Duration;

use cairn_metastore::{Metastore, SharedReads};
use cairn_neo4j::Neo4jRuns;
use cairn_ports::Embedder;
use cairn_search::{Caller, CursorKey, SearchStores, Searcher};

use crate::{Cluster, Stores, word_table};

/// The catalogue and the ledger for questions. Questions share a read if it is not older than `max_age`.
pub fn shared_runs(cluster: &Cluster, max_age: Duration) -> Arc<Metastore> {
    let documents = Arc::new(Neo4jRuns::new(cluster.neo4j.clone()));
    Arc::new(Metastore::new(Arc::new(SharedReads::new(documents, Arc::clone(&cluster.clock), max_age))))
}

/// A searcher for the questions of `caller`. A replica can return the next page of an answer that another
/// replica with the same cursor key began.
pub fn searcher(
    cluster: &Cluster,
    runs: &Arc<Metastore>,
    stores: &Stores,
    embedder: Arc<dyn Embedder>,
    cursor_key: CursorKey,
    caller: Caller,
) -> anyhow::Result<Searcher> {
    let search_stores = SearchStores {
        catalogue: runs.clone(),
        ledger: runs.clone(),
        blobs: Arc::clone(&cluster.blobs),
        vectors: stores.vector_store(),
        graph: cluster.graph.clone(),
        names: stores.name_store(),
        texts: stores.text_store(),
    };
    let searcher =
        Searcher::new(caller, search_stores, embedder, word_table()?, Arc::clone(&cluster.clock), cursor_key);
    Ok(searcher.with_synonyms(&cluster.operator.synonyms))
}
