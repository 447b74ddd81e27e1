//! The context of one staging transaction, shared by the writers of nodes, edges and patterns.

use cairn_domain::{EdgeRecord, GenerationId, Interval, RunId};
use cairn_ports::StagedGraph;
use rusqlite::Connection;
use rustc_hash::FxHashSet;

use crate::fault::Fault;
use crate::graph::identity::{Identities, find_node};

/// The run that stages records, its owner, and the identities of the nodes that the records contain.
pub(crate) struct Staging<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) run: RunId,
    staging: cairn_ports::Staging,
    pub(crate) owner: i64,
    pub(crate) identities: Identities<'a>,
}

impl<'a> Staging<'a> {
    pub(crate) fn new(connection: &'a Connection, staging: cairn_ports::Staging, owner: i64) -> Self {
        Self { connection, run: staging.run, staging, owner, identities: Identities::new(connection) }
    }

    /// Whether this run may retire a version.
    pub(crate) fn may_retire(&self, gen_from: u64, gen_to: Option<u64>) -> bool {
        let gen_to = gen_to.map_or(GenerationId::OPEN, GenerationId);
        self.staging.may_retire(Interval { gen_from: GenerationId(gen_from), gen_to })
    }
}

/// The numbers of the nodes whose lists may contain edges that a part retires. These are the nodes that the
/// part writes or retires, and the sources of the part's edges.
pub(crate) fn touched_sources(connection: &Connection, staged: &StagedGraph) -> Result<FxHashSet<i64>, Fault> {
    let nodes = staged.nodes.iter().map(|node| node.key);
    let sources = staged.edges.iter().map(|edge: &EdgeRecord| edge.source);
    let mut touched = FxHashSet::default();
    for key in nodes.chain(sources) {
        touched.extend(find_node(connection, key)?);
    }
    let mut select = connection.prepare_cached("SELECT source FROM edge_in WHERE target = ?1")?;
    for key in &staged.retired_nodes {
        let Some(node) = find_node(connection, *key)? else { continue };
        touched.insert(node);
        for source in select.query_map([node], |row| row.get(0))? {
            touched.insert(source?);
        }
    }
    Ok(touched)
}
