//! Stores the graph: nodes with an identity and versions, and edges between identities.
//!
//! The graph is much smaller than the source that it describes. The texts of adjacent nodes share a
//! compressed block (`nodes`). All edges that start at one node and began in the same generation are in one
//! list, with a few bytes for each edge (`edges`). A list does not change while it is visible: retiring an
//! edge writes a separate row, and only a sweep removes the edge.
//!
//! Invariants: staging only inserts. Retiring changes a version only if the version began in an earlier
//! generation, and is either open or was ended by an aborted generation. Every reader checks each owner and
//! interval with `Visibility`.

mod edges;
mod identity;
mod lists;
mod nodes;
mod patterns;
mod read;
mod stage;
mod staging;
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
pub(crate) use sweep::give_back_space;

use crate::database::Durability;
use crate::graph::read::GraphReader;
use crate::{LocalStore, blocking};

#[async_trait]
impl GraphTraversal for LocalStore {
    async fn traverse(
        &self,
        view: &View,
        scope: &Scope,
        request: &TraversalRequest,
    ) -> Result<Traversal, GraphStoreError> {
        let (view, scope, request) = (view.clone(), scope.clone(), request.clone());
        self.read("traverse", "", move |connection| GraphReader::new(connection, &view, &scope).traverse(&request))
            .await
    }

    async fn num_uses(&self, view: &View, scope: &Scope, nodes: &[NodeKey]) -> Result<Vec<u64>, GraphStoreError> {
        let (view, scope, nodes) = (view.clone(), scope.clone(), nodes.to_vec());
        self.read("num_uses", "", move |connection| GraphReader::new(connection, &view, &scope).num_uses(&nodes)).await
    }
}

#[async_trait]
impl GraphStore for LocalStore {
    async fn stage(&self, staging: &Staging, staged: StagedGraph) -> Result<(), GraphStoreError> {
        let (staging, key) = (staging.clone(), format!("{} {}", staging.run, staging.part));
        let change = move |connection: &rusqlite::Transaction<'_>| stage::stage(connection, staging, staged);
        self.write("stage_graph", key, Durability::Ordered, change).await
    }

    async fn nodes(&self, view: &View, scope: &Scope, keys: &[NodeKey]) -> Result<Vec<NodeRecord>, GraphStoreError> {
        let (view, scope, keys) = (view.clone(), scope.clone(), keys.to_vec());
        self.read("nodes", "", move |connection| GraphReader::new(connection, &view, &scope).nodes(&keys)).await
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
        let (view, scope, kinds) = (view.clone(), scope.clone(), kinds.to_vec());
        self.read("neighbours", node, move |connection| {
            GraphReader::new(connection, &view, &scope).neighbours(node, direction, &kinds, limit)
        })
        .await
    }

    async fn scroll_nodes(
        &self,
        view: &View,
        scope: &Scope,
        repository: RepositoryId,
        from: u64,
    ) -> Result<Page<NodeRecord>, GraphStoreError> {
        let (view, scope) = (view.clone(), scope.clone());
        self.read("scroll_nodes", repository, move |connection| {
            GraphReader::new(connection, &view, &scope).scroll_nodes(repository, from)
        })
        .await
    }

    async fn scroll_edges(
        &self,
        view: &View,
        scope: &Scope,
        repository: RepositoryId,
        resolution: Option<Resolution>,
        from: u64,
    ) -> Result<Page<EdgeRecord>, GraphStoreError> {
        let (view, scope) = (view.clone(), scope.clone());
        self.read("scroll_edges", repository, move |connection| {
            GraphReader::new(connection, &view, &scope).scroll_edges(repository, resolution, from)
        })
        .await
    }

    async fn patterns(&self, view: &View, scope: &Scope) -> Result<Vec<PatternRecord>, GraphStoreError> {
        let (view, scope) = (view.clone(), scope.clone());
        self.read("patterns", "", move |connection| patterns::visible(connection, &view, &scope)).await
    }
}

#[async_trait]
impl Generations for LocalStore {
    async fn sweep_retired(
        &self,
        repository: RepositoryId,
        published: &[GenerationId],
    ) -> Result<u64, MaintenanceError> {
        let published = published.to_vec();
        self.write("sweep_retired", repository, Durability::Ordered, move |connection| {
            sweep::retired(connection, repository, &published, &[])
        })
        .await
    }

    async fn sweep_unseen(
        &self,
        repository: RepositoryId,
        published: &[GenerationId],
        views: &[View],
    ) -> Result<u64, MaintenanceError> {
        let (published, views) = (published.to_vec(), views.to_vec());
        self.write("sweep_retired", repository, Durability::Ordered, move |connection| {
            sweep::retired(connection, repository, &published, &views)
        })
        .await
    }

    async fn sweep_aborted(&self, repository: RepositoryId, aborted: GenerationId) -> Result<u64, MaintenanceError> {
        self.write("sweep_aborted", repository, Durability::Ordered, move |connection| {
            sweep::aborted(connection, repository, aborted)
        })
        .await
    }

    async fn remove_repository(
        &self,
        tenant: &Tenant,
        repository: RepositoryId,
        before: GenerationId,
    ) -> Result<(), MaintenanceError> {
        let tenant = tenant.clone();
        self.write("remove_repository", repository, Durability::Ordered, move |connection| {
            sweep::remove(connection, &tenant, repository, before)
        })
        .await
    }

    async fn compact(&self, repository: RepositoryId) -> Result<bool, MaintenanceError> {
        let repack = move |connection: &rusqlite::Transaction<'_>| sweep::repack(connection, repository);
        let has_more = self.write("compact", repository, Durability::Ordered, repack).await?;
        let index = std::sync::Arc::clone(&self.index);
        blocking("compact", repository.to_string(), move || index.maintain(sweep::give_back_space)).await?;
        Ok(has_more)
    }

    async fn verify(&self, repository: RepositoryId) -> Result<(), MaintenanceError> {
        self.verify_index().await?;
        self.read("verify", repository, move |connection| verify::verify(connection, repository)).await
    }
}
