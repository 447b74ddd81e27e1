//! The graph: identities, versions of nodes, edges between identities, patterns.
//!
//! A `Node` holds only a key. A `NodeVersion` holds a record and its interval and is joined to its node by `VERSION_OF`.
//! An `EDGE` joins two nodes, belongs to the repository that refers, and has an interval of its own. A `Pattern` is a
//! version by itself. An `Owner` is a repository with its tenant; whoever changes records of a repository first takes
//! the owner's write lock, so what is read after that stays as it is until the commit. Records are made by the wire
//! codec; beside them stand the properties that statements test or people look for.
//!
//! What holds: staging only inserts; retiring touches only versions that began earlier and are open, or ended by a
//! generation that was aborted; a reader sees an edge only if its owner and both ends are visible and in scope, tested
//! before any limit. A part too large for one transaction is staged in several; until its generation is published nobody
//! sees how far it came, and staging it again adds what is missing.

mod edges;
mod nodes;
mod patterns;
mod read;
mod scroll;
mod sight;
mod stage;
mod sweep;
mod verify;

use async_trait::async_trait;
use cairn_domain::{
    EdgeKind, EdgeRecord, GenerationId, NodeKey, NodeRecord, PatternRecord, RepositoryId, Resolution, Scope, Tenant,
    View,
};
use cairn_ports::{
    Direction, Generations, GraphStore, GraphStoreError, MaintenanceError, Neighbour, Page, StagedGraph, Staging,
};

use crate::connection::Neo4j;
use crate::fault;
use crate::graph::read::Asked;
use crate::graph::sight::Sight;

/// The graph store of one installation.
#[derive(Clone)]
pub struct Neo4jGraph {
    neo4j: Neo4j,
}

impl Neo4jGraph {
    pub fn new(neo4j: Neo4j) -> Self {
        Self { neo4j }
    }
}

#[async_trait]
impl GraphStore for Neo4jGraph {
    async fn stage(&self, staging: &Staging, staged: StagedGraph) -> Result<(), GraphStoreError> {
        let key = format!("{} {}", staging.run, staging.part);
        stage::stage(&self.neo4j, staging, &staged).await.map_err(fault::of("stage", &key))
    }

    async fn nodes(&self, view: &View, scope: &Scope, keys: &[NodeKey]) -> Result<Vec<NodeRecord>, GraphStoreError> {
        read::nodes(&self.neo4j, &Sight::new(view, scope), keys).await.map_err(fault::of("nodes", &""))
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
        let asked = Asked { node, direction, kinds, limit };
        read::neighbours(&self.neo4j, &Sight::new(view, scope), asked).await.map_err(fault::of("neighbours", &node))
    }

    async fn scroll_nodes(
        &self,
        view: &View,
        scope: &Scope,
        repository: RepositoryId,
        from: u64,
    ) -> Result<Page<NodeRecord>, GraphStoreError> {
        let sight = Sight::new(view, scope);
        scroll::nodes(&self.neo4j, &sight, repository, from).await.map_err(fault::of("scroll_nodes", &repository))
    }

    async fn scroll_edges(
        &self,
        view: &View,
        scope: &Scope,
        repository: RepositoryId,
        resolution: Option<Resolution>,
        from: u64,
    ) -> Result<Page<EdgeRecord>, GraphStoreError> {
        let sight = Sight::new(view, scope);
        scroll::edges(&self.neo4j, &sight, repository, resolution, from)
            .await
            .map_err(fault::of("scroll_edges", &repository))
    }

    async fn patterns(&self, view: &View, scope: &Scope) -> Result<Vec<PatternRecord>, GraphStoreError> {
        patterns::visible(&self.neo4j, &Sight::new(view, scope)).await.map_err(fault::of("patterns", &""))
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

    /// The server reuses what is freed by itself.
    async fn compact(&self, _repository: RepositoryId) -> Result<(), MaintenanceError> {
        Ok(())
    }

    async fn verify(&self, repository: RepositoryId) -> Result<(), MaintenanceError> {
        verify::verify(&self.neo4j, repository).await.map_err(fault::of("verify", &repository))
    }
}
