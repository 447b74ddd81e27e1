//! Staging: new versions are inserted, old ones marked.
//!
//! May be run twice and stopped anywhere. A version that is there is left as it is, whoever writes it again; a mark that
//! is there is left too. Nothing of it is visible before its generation is published.

use std::collections::BTreeMap;

use cairn_domain::{ChunkKey, GenerationId, Point, RecordId, RepositoryId, RunId, Tenant};
use cairn_ports::{ErrorKind, StagedPoints};
use prost::Message;
use qdrant_client::qdrant::{
    Condition, Filter, NamedVectors, PointId, PointStruct, Range, RetrievedPoint, Vector, Vectors,
};

use crate::collection::{Collection, only};
use crate::config::QdrantConfig;
use crate::error::Fault;
use crate::fields::{DENSE, EARLIER_ENDS, GEN_FROM, GEN_TO, REPOSITORY, TERMS};
use crate::marks::{self, Marks};
use crate::payload::{self, Fields, Place, uuid_text};
use crate::read::has_key;

/// Keys that one request retires.
const KEYS: usize = 500;
/// Writers that meet on one version give way to each other; so many rounds in a row are no accident.
const MAX_ROUNDS: usize = 8;

pub(crate) struct Staging<'a> {
    pub(crate) collection: &'a Collection,
    pub(crate) config: &'a QdrantConfig,
    pub(crate) dimensions: u16,
    pub(crate) tenant: &'a Tenant,
    pub(crate) run: RunId,
}

impl Staging<'_> {
    pub(crate) async fn stage(&self, staged: StagedPoints) -> Result<(), Fault> {
        for point in &staged.points {
            self.check(point)?;
        }
        self.insert(&staged.points).await?;
        for keys in staged.retired.chunks(KEYS) {
            self.retire(keys).await?;
        }
        Ok(())
    }

    fn check(&self, point: &Point) -> Result<(), Fault> {
        let chunk = &point.chunk;
        if chunk.repository != self.run.repository {
            return Err(Fault::invalid(format!("chunk {} of `{}` is of another repository", chunk.key, chunk.path)));
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

    /// In batches that fit a message.
    async fn insert(&self, points: &[Point]) -> Result<(), Fault> {
        let place = Place { tenant: self.tenant, gen_from: self.run.generation };
        let (mut batch, mut batch_bytes) = (Vec::new(), 0);
        for point in points {
            let point = point_struct(&place, point);
            let bytes = point.encoded_len();
            let is_full = batch.len() >= self.config.max_batch_points || batch_bytes + bytes > self.config.max_batch_bytes;
            if is_full && !batch.is_empty() {
                self.collection.insert(std::mem::take(&mut batch)).await?;
                batch_bytes = 0;
            }
            batch.push(point);
            batch_bytes += bytes;
        }
        if batch.is_empty() { Ok(()) } else { self.collection.insert(batch).await }
    }

    /// Ends the versions of the keys that began before this generation.
    async fn retire(&self, keys: &[ChunkKey]) -> Result<(), Fault> {
        let generation = self.run.generation;
        let before = Range { lt: Some(generation.0 as f64), ..Range::default() };
        let versions = Filter::must([
            Condition::matches(REPOSITORY, self.run.repository.to_string()),
            has_key(keys.iter().copied()),
            Condition::range(GEN_FROM, before),
        ]);
        // Nearly all are open: they are marked without being read.
        let open = Marks::default();
        let mut unmarked = versions.clone();
        unmarked.must.push(open.condition());
        self.collection.set(open.with(generation).fields().into(), unmarked).await?;
        let mut marked_by_others = versions;
        marked_by_others.must_not.push(marks::ended_by(&[generation]));
        change_marks(self.collection, marked_by_others, |marks| marks.with(generation)).await
    }
}

/// Changes the marks of what the filter lets through until it lets nothing through any more.
pub(crate) async fn change_marks(
    collection: &Collection,
    filter: Filter,
    change: impl Fn(&Marks) -> Marks,
) -> Result<(), Fault> {
    for _ in 0..MAX_ROUNDS {
        let mut by_marks: BTreeMap<Marks, Vec<PointId>> = BTreeMap::new();
        let take = |points: Vec<RetrievedPoint>| {
            for point in points {
                let marks = Marks::read(&Fields::of(point.id.as_ref(), point.payload));
                by_marks.entry(marks).or_default().extend(point.id);
            }
            Ok(())
        };
        collection.each_page(filter.clone(), only(&[GEN_TO, EARLIER_ENDS]), false, take).await?;
        if by_marks.is_empty() {
            return Ok(());
        }
        for (marks, ids) in by_marks {
            // Only where nobody changed them since they were read.
            let unchanged = Filter::must([Condition::has_id(ids), marks.condition()]);
            collection.set(change(&marks).fields().into(), unchanged).await?;
        }
    }
    Err(Fault::new(ErrorKind::TransactionConflict, "others keep changing the marks of the same versions"))
}

pub(crate) fn of_repository(repository: RepositoryId) -> Condition {
    Condition::matches(REPOSITORY, repository.to_string())
}

fn point_struct(place: &Place<'_>, point: &Point) -> PointStruct {
    PointStruct {
        id: Some(point_id(point.chunk.key, place.gen_from)),
        vectors: Some(vectors(point)),
        payload: payload::of_point(place, point),
    }
}

pub(crate) fn point_id(key: ChunkKey, gen_from: GenerationId) -> PointId {
    uuid_text(RecordId::derive(key.0, gen_from).0).into()
}

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
