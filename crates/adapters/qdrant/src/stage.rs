//! Staging: inserts new versions and marks old versions as ended.
//!
//! Staging may run twice, and may stop at any point. If an existing version is written again, it does not
//! change. A mark is set only if the version has no mark, or has the mark of an aborted run. One request
//! tests and writes the mark, so a late writer cannot remove a mark of a published generation. Staged data is
//! invisible until its generation is published.

use cairn_domain::{ChunkKey, GenerationId, Point, RecordId};
use cairn_faults::fail_point;
use cairn_ports::{StagedPoints, Staging};
use prost::Message;
use qdrant_client::qdrant::{Condition, Filter, NamedVectors, PointId, PointStruct, Range, Value, Vector, Vectors};

use crate::collection::Collection;
use crate::config::QdrantConfig;
use crate::error::Fault;
use crate::fields::{DENSE, GEN_FROM, GEN_TO, OPEN, TERMS};
use crate::payload::{self, uuid_text};
use crate::read::{has_key, of_repository};

/// Maximum number of keys in one request that retires versions.
const KEYS: usize = 500;

/// Writes the records of one part of a run.
pub(crate) struct Writer<'a> {
    pub(crate) collection: &'a Collection,
    pub(crate) config: &'a QdrantConfig,
    pub(crate) dimensions: u16,
    pub(crate) staging: &'a Staging,
}

impl Writer<'_> {
    pub(crate) async fn stage(&self, staged: StagedPoints) -> Result<(), Fault> {
        for point in &staged.points {
            self.check(point)?;
        }
        self.insert(&staged.points).await?;
        for keys in staged.retired.chunks(KEYS) {
            fail_point!("qdrant::before_retire", |message| Err(Fault::new(
                cairn_ports::ErrorKind::ConnectionLost,
                message
            )));
            self.retire(keys).await?;
            fail_point!("qdrant::after_retire", |message| Err(Fault::new(
                cairn_ports::ErrorKind::ConnectionLost,
                message
            )));
        }
        Ok(())
    }

    fn check(&self, point: &Point) -> Result<(), Fault> {
        let chunk = &point.chunk;
        if chunk.repository != self.staging.run.repository {
            return Err(Fault::invalid(format!(
                "chunk {} of `{}` belongs to a different repository than the run",
                chunk.key, chunk.path
            )));
        }
        if point.dense.0.len() != usize::from(self.dimensions) {
            let (found, wanted) = (point.dense.0.len(), self.dimensions);
            return Err(Fault::invalid(format!(
                "chunk {} of `{}` has a vector of {found} dimensions, the collection has {wanted}",
                chunk.key, chunk.path
            )));
        }
        Ok(())
    }

    /// Inserts the points in batches. Each batch fits into one message.
    async fn insert(&self, points: &[Point]) -> Result<(), Fault> {
        let (mut batch, mut batch_bytes) = (Vec::new(), 0);
        for point in points {
            let point = self.point(point);
            let bytes = point.encoded_len();
            let is_full =
                batch.len() >= self.config.max_batch_points || batch_bytes + bytes > self.config.max_batch_bytes;
            if is_full && !batch.is_empty() {
                self.insert_batch(std::mem::take(&mut batch)).await?;
                batch_bytes = 0;
            }
            batch.push(point);
            batch_bytes += bytes;
        }
        if batch.is_empty() { Ok(()) } else { self.insert_batch(batch).await }
    }

    async fn insert_batch(&self, batch: Vec<PointStruct>) -> Result<(), Fault> {
        fail_point!("qdrant::before_insert", |message| Err(Fault::new(
            cairn_ports::ErrorKind::ConnectionLost,
            message
        )));
        self.collection.insert(batch).await?;
        fail_point!("qdrant::after_insert", |message| Err(Fault::new(cairn_ports::ErrorKind::ConnectionLost, message)));
        Ok(())
    }

    /// Marks versions of the given keys as ended if this run may retire them. The filter tests the same
    /// condition as `Staging::may_retire`.
    async fn retire(&self, keys: &[ChunkKey]) -> Result<(), Fault> {
        let Staging { run, aborted, .. } = self.staging;
        let before = Range { lt: Some(run.generation.0 as f64), ..Range::default() };
        let free: Vec<i64> = aborted.iter().map(|generation| generation.0 as i64).chain([OPEN]).collect();
        let versions = Filter::must([
            of_repository(run.repository),
            has_key(keys.iter().copied()),
            Condition::range(GEN_FROM, before),
            Condition::matches(GEN_TO, free),
        ]);
        self.collection.set(ends(run.generation.0 as i64), versions).await
    }

    fn point(&self, point: &Point) -> PointStruct {
        let gen_from = self.staging.run.generation;
        PointStruct {
            id: Some(point_id(point.chunk.key, gen_from)),
            vectors: Some(vectors(point)),
            payload: payload::of_point(&self.staging.tenant, gen_from, point),
        }
    }
}

/// Returns the payload field that marks a version as ended, or as open again.
pub(crate) fn ends(generation: i64) -> std::collections::HashMap<String, Value> {
    [(GEN_TO.to_owned(), Value::from(generation))].into()
}

fn point_id(key: ChunkKey, gen_from: GenerationId) -> PointId {
    uuid_text(RecordId::derive(key.0, gen_from).0).into()
}

/// Converts the vectors to floats. A point without terms has no sparse vector.
fn vectors(point: &Point) -> Vectors {
    let dense: Vec<f32> = point.dense.0.iter().map(|value| f32::from(*value)).collect();
    let mut vectors = NamedVectors::default().add_vector(DENSE, dense);
    if !point.sparse.0.is_empty() {
        let (terms, weights): (Vec<u32>, Vec<f32>) =
            point.sparse.0.iter().map(|(term, weight)| (*term, f32::from(*weight))).unzip();
        vectors = vectors.add_vector(TERMS, Vector::new_sparse(terms, weights));
    }
    vectors.into()
}
