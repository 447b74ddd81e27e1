//! Stores cached vectors in a separate collection without vector search.
//!
//! The vectors are stored as bytes (the signed value plus 128) on disk. The only index is on the tenant. A
//! vector is read by its id, which is derived from all fields of its key.

use async_trait::async_trait;
use cairn_domain::{ContentHash, DenseVector, Digester, ModelId, Tenant, VectorKey};
use cairn_ports::{VectorCache, VectorCacheError};
use qdrant_client::qdrant::{
    Condition, Filter, GetPoints, NamedVectors, PointId, PointStruct, RetrievedPoint, WithVectorsSelector,
    vector_output, vectors_output,
};

use crate::collection::{Collection, only};
use crate::config::{InvalidQdrantConfig, QdrantConfig};
use crate::connection::Connection;
use crate::error::Fault;
use crate::fields::{CONTENT_HASH, DENSE, TENANT};
use crate::payload::{Fields, bytes_of, hexadecimal};
use crate::prepare::{self, Plan, collection_name};

/// Maximum number of ids that one request reads or deletes.
const IDS: usize = 1_000;
/// This number is added to each signed value, because Qdrant's bytes are unsigned.
const OFFSET: i16 = 128;
/// Cached vectors are embedded as passages; vectors of questions are not cached here.
const INPUT_TYPE: &str = "passage";

/// The cached vectors of one model in Qdrant, found by the hash of their content. Cloning is cheap; all
/// clones share one connection.
#[derive(Clone)]
pub struct QdrantVectorCache {
    collection: Collection,
    config: QdrantConfig,
    model: ModelId,
}

impl QdrantVectorCache {
    /// Checks the settings and reports all their faults at once. The first request connects.
    pub fn new(config: QdrantConfig, model: ModelId) -> Result<Self, InvalidQdrantConfig> {
        let connection = Connection::new(&config)?;
        let collection = Collection { connection, name: format!("{}-cache", collection_name(&config, &model)) };
        Ok(Self { collection, config, model })
    }

    pub fn collection_name(&self) -> &str {
        &self.collection.name
    }

    /// Creates the collection and its index if they are missing, and checks that an existing collection fits
    /// the model.
    pub async fn prepare(&self) -> Result<(), VectorCacheError> {
        let plan = Plan::of_cache(&self.model);
        prepare::prepare(&self.collection, &self.config, &plan).await.map_err(self.failed("prepare"))
    }

    /// Returns the missing collection or index. Fails if the collection exists but does not have the required
    /// properties.
    pub async fn missing(&self) -> Result<Vec<String>, VectorCacheError> {
        prepare::missing(&self.collection, &Plan::of_cache(&self.model)).await.map_err(self.failed("check"))
    }

    fn failed(&self, operation: &'static str) -> impl FnOnce(Fault) -> VectorCacheError + '_ {
        move |fault| fault.of_cache(operation, &self.collection.name)
    }

    async fn read(&self, ids: &[PointId]) -> Result<Vec<RetrievedPoint>, Fault> {
        let request = GetPoints {
            collection_name: self.collection.name.clone(),
            ids: ids.to_vec(),
            with_payload: only(&[]),
            with_vectors: Some(WithVectorsSelector::from(true)),
            ..GetPoints::default()
        };
        let mut client = self.collection.connection.points();
        let answer = self.collection.connection.call(request, async |request| client.get(request).await).await?;
        Ok(answer.result)
    }

    fn check(&self, key: &VectorKey, vector: &DenseVector) -> Result<(), Fault> {
        let (length, model) = (vector.0.len(), &key.model);
        if *model != self.model {
            let (name, own) = (&model.name, &self.model.name);
            return Err(Fault::invalid(format!(
                "the vector is from the model `{name}`, but the cache is for the model `{own}`"
            )));
        }
        if length != usize::from(model.dimensions) {
            return Err(Fault::invalid(format!(
                "the vector has {length} dimensions, which does not fit model `{}`",
                model.name
            )));
        }
        Ok(())
    }

    async fn insert(&self, tenant: &Tenant, entries: &[(VectorKey, DenseVector)]) -> Result<(), Fault> {
        for (key, vector) in entries {
            self.check(key, vector)?;
        }
        let bytes = 4 * usize::from(self.model.dimensions) + 256;
        let batch = (self.config.max_batch_bytes / bytes).clamp(1, self.config.max_batch_points);
        for some in entries.chunks(batch) {
            let points = some.iter().map(|(key, vector)| point(tenant, key, vector)).collect();
            self.collection.insert(points).await?;
        }
        Ok(())
    }

    /// Returns the ids of the tenant's vectors, each with the hash of its content.
    async fn all(&self, tenant: &Tenant) -> Result<Vec<(PointId, ContentHash)>, Fault> {
        let mut all = Vec::new();
        let take = |points: Vec<RetrievedPoint>| {
            for point in points {
                let fields = Fields::of(point.id.as_ref(), point.payload);
                let content =
                    bytes_of(fields.text(CONTENT_HASH)?).ok_or_else(|| fields.damaged("its hash cannot be read"))?;
                all.extend(point.id.map(|id| (id, ContentHash(content))));
            }
            Ok(())
        };
        let of_tenant = Filter::must([Condition::matches(TENANT, tenant.as_str().to_owned())]);
        self.collection.each_page(of_tenant, only(&[CONTENT_HASH]), false, take).await?;
        Ok(all)
    }

    async fn delete(&self, ids: &[PointId]) -> Result<u64, Fault> {
        let mut num_deleted = 0;
        for some in ids.chunks(IDS) {
            num_deleted += self.collection.count_and_delete(Filter::must([Condition::has_id(some.to_vec())])).await?;
        }
        Ok(num_deleted)
    }
}

fn point_id(tenant: &Tenant, key: &VectorKey) -> PointId {
    const NAMESPACE: uuid::Uuid = uuid::Uuid::from_u128(0x6361_6972_6e00_5000_8000_7665_6374_6f72);
    let digester = Digester::new("cached-vector").text(tenant.as_str()).text(&key.model.name);
    let digester = digester.number(u64::from(key.model.dimensions)).text(INPUT_TYPE).bytes(&key.content.0);
    uuid::Uuid::new_v5(&NAMESPACE, &digester.digest().0).to_string().into()
}

fn point(tenant: &Tenant, key: &VectorKey, vector: &DenseVector) -> PointStruct {
    let values: Vec<f32> = vector.0.iter().map(|value| f32::from(i16::from(*value) + OFFSET)).collect();
    let payload =
        [(TENANT.to_owned(), tenant.as_str().into()), (CONTENT_HASH.to_owned(), hexadecimal(&key.content.0).into())];
    PointStruct {
        id: Some(point_id(tenant, key)),
        vectors: Some(NamedVectors::default().add_vector(DENSE, values).into()),
        payload: payload.into(),
    }
}

fn vector(point: RetrievedPoint) -> Result<DenseVector, Fault> {
    let fields = Fields::of(point.id.as_ref(), point.payload);
    let options = point.vectors.and_then(|vectors| vectors.vectors_options);
    let Some(vectors_output::VectorsOptions::Vectors(mut named)) = options else {
        return Err(fields.damaged("it has no vector"));
    };
    match named.vectors.remove(DENSE).map(|vector| vector.into_vector()) {
        Some(vector_output::Vector::Dense(dense)) => {
            Ok(DenseVector(dense.data.into_iter().map(|value| (value as i16 - OFFSET) as i8).collect()))
        }
        _ => Err(fields.damaged("it has no vector")),
    }
}

#[async_trait]
impl VectorCache for QdrantVectorCache {
    async fn get(&self, tenant: &Tenant, keys: &[VectorKey]) -> Result<Vec<Option<DenseVector>>, VectorCacheError> {
        let ids: Vec<PointId> = keys.iter().map(|key| point_id(tenant, key)).collect();
        let mut found = std::collections::HashMap::new();
        for some in ids.chunks(IDS) {
            let points = self.read(some).await.map_err(self.failed("get"))?;
            for point in points {
                if let Some(id) = point.id.clone() {
                    found.insert(id, vector(point).map_err(self.failed("get"))?);
                }
            }
        }
        Ok(ids.iter().map(|id| found.get(id).cloned()).collect())
    }

    async fn put(&self, tenant: &Tenant, entries: &[(VectorKey, DenseVector)]) -> Result<(), VectorCacheError> {
        self.insert(tenant, entries).await.map_err(self.failed("put"))
    }

    async fn sweep(
        &self,
        tenant: &Tenant,
        is_live: &(dyn for<'a> Fn(&'a VectorKey) -> bool + Send + Sync),
    ) -> Result<u64, VectorCacheError> {
        let all = self.all(tenant).await.map_err(self.failed("sweep"))?;
        let is_dead = |content: ContentHash| !is_live(&VectorKey { model: self.model.clone(), content });
        let dead: Vec<PointId> = all.into_iter().filter(|(_, content)| is_dead(*content)).map(|(id, _)| id).collect();
        self.delete(&dead).await.map_err(self.failed("sweep"))
    }
}
