//! The graph store: node identities, versions of nodes, edges between identities, and patterns.
//!
//! A `Node` has only a key. A `NodeVersion` has a record and its interval, and `VERSION_OF` connects it to
//! its node. An `EDGE` connects two nodes, belongs to the repository that contains the reference, and has its
//! own interval. A `Pattern` is one version of a pattern, with its record and its interval. An `Owner` is a
//! repository with its tenant.
//!
//! A writer of a repository first takes the write lock of the repository's `Owner`. The records that the
//! writer reads afterwards therefore do not change until its commit. A record is stored as bytes of the wire
//! codec. Properties next to the record contain the values that statements use in conditions, or that the
//! operator may search for.
//!
//! Guarantees:
//!
//! - Staging only inserts records.
//! - Retiring changes only versions that began in an earlier generation. Such a version must also be open, or
//!   an aborted generation must have ended it.
//! - An edge is returned to a reader only if its owner and both ends are visible and in scope. This condition
//!   is tested before any limit is applied.
//! - A part that is too large for one transaction is staged in several transactions. The records of the part
//!   are invisible until its generation is published. Staging the part again adds the records that are
//!   missing.

mod edges;
mod nodes;
mod patterns;
mod read;
mod scroll;
mod stage;
mod sweep;
mod traverse;
mod verify;
mod visibility;

use async_trait::async_trait;
use cairn_domain::{
    EdgeKind, EdgeRecord, GenerationId, NodeKey, NodeRecord, PatternRecord, RepositoryId, Resolution, Scope, Tenant,
    View,
};
use cairn_ports::{
    Direction, Generations, GraphStore, GraphStoreError, GraphTraversal, MaintenanceError, Neighbour, Page,
    StagedGraph, Staging, Traversal, TraversalRequest,
};

use crate::connection::Neo4j;
use crate::fault;
use crate::graph::read::NeighbourQuery;
use crate::graph::visibility::Visibility;

/// The graph store of one installation.
#[derive(Clone)]
pub struct Neo4jGraph {
    neo4j: Neo4j,
}

impl Neo4jGraph {
    pub fn new(neo4j: Neo4j) -> Self {
        Self { neo4j }
    }

    /// Lets the server plan the statements of traversals, so that the first questions do not wait for the
    /// planning.
    pub async fn plan_traversals(&self) -> Result<(), GraphStoreError> {
        traverse::plan(&self.neo4j).await.map_err(fault::of("plan_traversals", &""))
    }
}

#[async_trait]
impl GraphTraversal for Neo4jGraph {
    async fn traverse(
        &self,
        view: &View,
        scope: &Scope,
        request: &TraversalRequest,
    ) -> Result<Traversal, GraphStoreError> {
        let visibility = Visibility::new(view, scope);
        traverse::traverse(&self.neo4j, &visibility, request).await.map_err(fault::of("traverse", &""))
    }

    async fn num_uses(&self, view: &View, scope: &Scope, nodes: &[NodeKey]) -> Result<Vec<u64>, GraphStoreError> {
        let visibility = Visibility::new(view, scope);
        traverse::num_uses(&self.neo4j, &visibility, nodes).await.map_err(fault::of("num_uses", &""))
    }
}

#[async_trait]
impl GraphStore for Neo4jGraph {
    async fn stage(&self, staging: &Staging, staged: StagedGraph) -> Result<(), GraphStoreError> {
        let key = format!("{} {}", staging.run, staging.part);
        stage::stage(&self.neo4j, staging, &staged).await.map_err(fault::of("stage", &key))
    }

    async fn nodes(&self, view: &View, scope: &Scope, keys: &[NodeKey]) -> Result<Vec<NodeRecord>, GraphStoreError> {
        read::nodes(&self.neo4j, &Visibility::new(view, scope), keys).await.map_err(fault::of("nodes", &""))
    }

    async fn neighbours(
        &self,
        view: &View,
        scope: &Scope,
        node: NodeKey,
        direction: Direction,
        kinds: &[EdgeKind],
        limit: usize,
    ) -> Result<(Vec<Neighbour>, u64), GraphStoreError> {
        let wanted = NeighbourQuery { node, direction, kinds, limit };
        read::neighbours(&self.neo4j, &Visibility::new(view, scope), wanted)
            .await
            .map_err(fault::of("neighbours", &node))
    }

    async fn scroll_nodes(
        &self,
        view: &View,
        scope: &Scope,
        repository: RepositoryId,
        from: u64,
    ) -> Result<Page<NodeRecord>, GraphStoreError> {
        let visibility = Visibility::new(view, scope);
        scroll::nodes(&self.neo4j, &visibility, repository, from).await.map_err(fault::of("scroll_nodes", &repository))
    }

    async fn scroll_edges(
        &self,
        view: &View,
        scope: &Scope,
        repository: RepositoryId,
        resolution: Option<Resolution>,
        from: u64,
    ) -> Result<Page<EdgeRecord>, GraphStoreError> {
        let visibility = Visibility::new(view, scope);
        scroll::edges(&self.neo4j, &visibility, repository, resolution, from)
            .await
            .map_err(fault::of("scroll_edges", &repository))
    }

    async fn patterns(&self, view: &View, scope: &Scope) -> Result<Vec<PatternRecord>, GraphStoreError> {
        patterns::visible(&self.neo4j, &Visibility::new(view, scope)).await.map_err(fault::of("patterns", &""))
    }
}

#[async_trait]
impl Generations for Neo4jGraph {
    async fn sweep_retired(
        &self,
        repository: RepositoryId,
        published: &[GenerationId],
    ) -> Result<u64, MaintenanceError> {
        sweep::retired(&self.neo4j, repository, published).await.map_err(fault::of("sweep_retired", &repository))
    }

    async fn sweep_aborted(&self, repository: RepositoryId, aborted: GenerationId) -> Result<u64, MaintenanceError> {
        sweep::aborted(&self.neo4j, repository, aborted).await.map_err(fault::of("sweep_aborted", &repository))
    }

    async fn remove_repository(
        &self,
        tenant: &Tenant,
        repository: RepositoryId,
        before: GenerationId,
    ) -> Result<(), MaintenanceError> {
        sweep::remove(&self.neo4j, tenant, repository, before)
            .await
            .map_err(fault::of("remove_repository", &repository))
    }

    /// Does nothing, because the server reuses freed space automatically.
    async fn compact(&self, _repository: RepositoryId) -> Result<bool, MaintenanceError> {
        Ok(false)
    }

    async fn verify(&self, repository: RepositoryId) -> Result<(), MaintenanceError> {
        verify::verify(&self.neo4j, repository).await.map_err(fault::of("verify", &repository))
    }
}
