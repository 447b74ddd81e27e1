//! Implements the ports of the vector store over one collection.

use async_trait::async_trait;
use cairn_domain::{ChunkKey, ChunkRecord, DenseVector, GenerationId, ModelId, RepositoryId, Scope, Tenant, View};
use cairn_ports::{
    ChunkFilter, ChunkPage, ChunkPlace, ChunkPlaces, Generations, HitLists, ListsRequest, MaintenanceError,
    StagedPoints, Staging, VectorStore, VectorStoreError,
};
use qdrant_client::qdrant::VectorInput;

use crate::collection::Collection;
use crate::conditions::FilterParts;
use crate::config::{InvalidQdrantConfig, QdrantConfig};
use crate::connection::Connection;
use crate::error::Fault;
use crate::fields::{DENSE, TERMS};
use crate::find::{self, Store, VectorQuery};
use crate::points::KnownPoints;
use crate::prepare::{self, Plan, collection_name};
use crate::stage::Writer;
use crate::{read, sweep};

/// The chunks of one model in Qdrant. Cloning is cheap; all clones share one connection.
#[derive(Clone)]
pub struct QdrantStore {
    collection: Collection,
    points: KnownPoints,
    config: QdrantConfig,
    model: ModelId,
}

impl QdrantStore {
    /// Checks the settings and reports all their faults at once. The first request connects.
    pub fn new(config: QdrantConfig, model: ModelId) -> Result<Self, InvalidQdrantConfig> {
        let connection = Connection::new(&config)?;
        let collection = Collection { connection, name: collection_name(&config, &model) };
        Ok(Self { collection, points: KnownPoints::default(), config, model })
    }

    /// The name of the collection. The catalogue stores this name.
    pub fn collection_name(&self) -> &str {
        &self.collection.name
    }

    /// Creates the collection and its indexes if they are missing, and checks that an existing collection
    /// fits the model.
    pub async fn prepare(&self) -> Result<(), VectorStoreError> {
        let plan = Plan::of_chunks(&self.config, &self.model);
        prepare::prepare(&self.collection, &self.config, &plan).await.map_err(self.failed("prepare"))
    }

    /// Returns the missing collection or indexes. Fails if the collection exists but does not have the
    /// required properties.
    pub async fn missing(&self) -> Result<Vec<String>, VectorStoreError> {
        let plan = Plan::of_chunks(&self.config, &self.model);
        prepare::missing(&self.collection, &plan).await.map_err(self.failed("check"))
    }

    /// Returns the name and version of the server, such as `qdrant 1.19.0`.
    pub async fn version(&self) -> Result<String, VectorStoreError> {
        let health = self.collection.connection.health().await.map_err(self.failed("version"))?;
        Ok(format!("{} {}", health.title, health.version))
    }

    /// The query for the chunks that are nearest to a vector. `None` if no hit is requested.
    fn nearest(&self, (vector, limit): (&DenseVector, usize)) -> Option<VectorQuery> {
        let vector = VectorInput::new_dense(vector.0.iter().map(|value| f32::from(*value)).collect::<Vec<_>>());
        (limit > 0).then_some(VectorQuery { using: DENSE, vector, exact: self.config.exact, lowest: None, limit })
    }

    fn failed(&self, operation: &'static str) -> impl FnOnce(Fault) -> VectorStoreError + '_ {
        move |fault| fault.of_store(operation, &self.collection.name)
    }
}

/// The query for the chunks with these terms. `None` if no hit is possible or requested.
fn with_terms((terms, limit): (&[(u32, u32)], usize)) -> Option<VectorQuery> {
    let weighted = terms.iter().filter(|(_, weight)| *weight > 0);
    let (terms, weights): (Vec<u32>, Vec<f32>) = weighted.map(|(term, weight)| (*term, *weight as f32)).unzip();
    let has_hits = limit > 0 && !terms.is_empty();
    let vector = VectorInput::new_sparse(terms, weights);
    has_hits.then_some(VectorQuery { using: TERMS, vector, exact: true, lowest: Some(1), limit })
}

#[async_trait]
impl ChunkPlaces for QdrantStore {
    async fn places(
        &self,
        view: &View,
        scope: &Scope,
        filter: &ChunkFilter,
    ) -> Result<Vec<ChunkPlace>, VectorStoreError> {
        let places = async {
            match FilterParts::new(view, scope, filter)? {
                Some(parts) => read::places(&self.collection, parts).await,
                None => Ok(Vec::new()),
            }
        };
        places.await.map_err(self.failed("places"))
    }
}

#[async_trait]
impl VectorStore for QdrantStore {
    async fn stage(&self, staging: &Staging, staged: StagedPoints) -> Result<(), VectorStoreError> {
        let (collection, config, dimensions) = (&self.collection, &self.config, self.model.dimensions);
        let staged = Writer { collection, config, dimensions, staging }.stage(staged).await;
        staged.map_err(|fault| fault.of_store("stage", &staging.run.repository.to_string()))
    }

    async fn search(
        &self,
        view: &View,
        scope: &Scope,
        filter: &ChunkFilter,
        lists: ListsRequest<'_>,
    ) -> Result<HitLists, VectorStoreError> {
        let ListsRequest { dense, sparse, num_records } = lists;
        let queries = (dense.and_then(|dense| self.nearest(dense)), with_terms(sparse));
        let store = Store { collection: &self.collection, points: &self.points, num_records };
        let found = async {
            match FilterParts::new(view, scope, filter)? {
                Some(parts) => find::best(store, &parts, queries).await,
                None => Ok(HitLists::default()),
            }
        };
        found.await.map_err(self.failed("search"))
    }

    async fn fetch(
        &self,
        view: &View,
        scope: &Scope,
        keys: &[(RepositoryId, ChunkKey)],
        with_text: bool,
    ) -> Result<Vec<ChunkRecord>, VectorStoreError> {
        read::fetch(&self.collection, view, scope, keys, with_text).await.map_err(self.failed("fetch"))
    }

    async fn scroll(
        &self,
        view: &View,
        scope: &Scope,
        repository: RepositoryId,
        from: u64,
    ) -> Result<ChunkPage, VectorStoreError> {
        read::scroll(&self.collection, view, scope, repository, from).await.map_err(self.failed("scroll"))
    }

    async fn count(&self, view: &View, scope: &Scope, filter: &ChunkFilter) -> Result<u64, VectorStoreError> {
        let count = async {
            match FilterParts::new(view, scope, filter)? {
                Some(parts) => read::count(&self.collection, parts).await,
                None => Ok(0),
            }
        };
        count.await.map_err(self.failed("count"))
    }
}

#[async_trait]
impl Generations for QdrantStore {
    async fn sweep_retired(
        &self,
        repository: RepositoryId,
        published: &[GenerationId],
    ) -> Result<u64, MaintenanceError> {
        let swept = sweep::retired(&self.collection, repository, published).await;
        swept.map_err(|fault| fault.of_maintenance("sweep_retired", &repository.to_string()))
    }

    async fn sweep_aborted(&self, repository: RepositoryId, aborted: GenerationId) -> Result<u64, MaintenanceError> {
        let swept = sweep::aborted(&self.collection, repository, aborted).await;
        swept.map_err(|fault| fault.of_maintenance("sweep_aborted", &repository.to_string()))
    }

    async fn remove_repository(
        &self,
        tenant: &Tenant,
        repository: RepositoryId,
        before: GenerationId,
    ) -> Result<(), MaintenanceError> {
        let removed = sweep::remove(&self.collection, tenant, repository, before).await;
        removed.map_err(|fault| fault.of_maintenance("remove_repository", &repository.to_string()))
    }

    /// Does nothing, because Qdrant merges and cleans its segments automatically.
    async fn compact(&self, _repository: RepositoryId) -> Result<bool, MaintenanceError> {
        Ok(false)
    }

    async fn verify(&self, repository: RepositoryId) -> Result<(), MaintenanceError> {
        let verified = sweep::verify(&self.collection, repository).await;
        verified.map_err(|fault| fault.of_maintenance("verify", &repository.to_string()))
    }
}
