//! Sweeps listed generations, never a range of generations: a range would include records that an unfinished
//! run is staging.

use cairn_domain::{DenseVector, GenerationId, RepositoryId, SparseVector, Tenant};
use qdrant_client::qdrant::{Condition, Filter, Range, RetrievedPoint, vector_output, vectors_output};

use crate::collection::{Collection, whole_payload};
use crate::error::Fault;
use crate::fields::{CHECKSUM, DENSE, GEN_FROM, GEN_TO, OPEN, TENANT, TERMS};
use crate::payload::{Fields, checksum};
use crate::read::of_repository;
use crate::stage::ends;

/// Maximum number of generations per request.
const GENERATIONS: usize = 1_000;

pub(crate) async fn retired(
    collection: &Collection,
    repository: RepositoryId,
    published: &[GenerationId],
) -> Result<u64, Fault> {
    let mut num_removed = 0;
    for some in published.chunks(GENERATIONS) {
        let ends: Vec<i64> = some.iter().map(|generation| generation.0 as i64).collect();
        let ended = Filter::must([of_repository(repository), Condition::matches(GEN_TO, ends)]);
        num_removed += collection.count_and_delete(ended).await?;
    }
    Ok(num_removed)
}

/// Removes the versions that the generation began, and reopens the versions that it ended. Returns the number
/// of records that still refer to the generation.
pub(crate) async fn aborted(
    collection: &Collection,
    repository: RepositoryId,
    aborted: GenerationId,
) -> Result<u64, Fault> {
    let aborted = aborted.0 as i64;
    let (begun, ended) = (Condition::matches(GEN_FROM, aborted), Condition::matches(GEN_TO, aborted));
    collection.delete(Filter::must([of_repository(repository), begun.clone()])).await?;
    collection.set(ends(OPEN), Filter::must([of_repository(repository), ended.clone()])).await?;
    let named = Filter::should([begun, ended]);
    collection.count(Filter::must([of_repository(repository), named.into()])).await
}

pub(crate) async fn remove(
    collection: &Collection,
    tenant: &Tenant,
    repository: RepositoryId,
    before: GenerationId,
) -> Result<(), Fault> {
    let began_before = Range { lt: Some(before.0 as f64), ..Range::default() };
    let filter = Filter::must([
        Condition::matches(TENANT, tenant.as_str().to_owned()),
        of_repository(repository),
        Condition::range(GEN_FROM, began_before),
    ]);
    collection.delete(filter).await
}

/// Reads every version of the repository and compares it with its stored checksum and digest.
pub(crate) async fn verify(collection: &Collection, repository: RepositoryId) -> Result<(), Fault> {
    let filter = Filter::must([of_repository(repository)]);
    let check = |points: Vec<RetrievedPoint>| points.into_iter().try_for_each(verify_point);
    collection.each_page(filter, whole_payload(), true, check).await
}

fn verify_point(point: RetrievedPoint) -> Result<(), Fault> {
    let (dense, sparse) = vectors(&point);
    let fields = Fields::of(point.id.as_ref(), point.payload);
    let chunk = fields.chunk()?;
    if fields.text(CHECKSUM)? != checksum(&chunk).to_string() {
        return Err(fields.damaged("its payload does not match its checksum"));
    }
    let digest = cairn_domain::Point { chunk, dense, sparse }.vector_digest();
    if fields.vector_digest()? != digest {
        return Err(fields.damaged("its vectors do not match their digest"));
    }
    Ok(())
}

/// Converts the stored floats back to integers.
fn vectors(point: &RetrievedPoint) -> (DenseVector, SparseVector) {
    let (mut dense, mut sparse) = (DenseVector(Vec::new()), SparseVector::default());
    let options = point.vectors.as_ref().and_then(|vectors| vectors.vectors_options.as_ref());
    let Some(vectors_output::VectorsOptions::Vectors(named)) = options else { return (dense, sparse) };
    for (name, vector) in &named.vectors {
        match (name.as_str(), vector.clone().into_vector()) {
            (DENSE, vector_output::Vector::Dense(vector)) => {
                dense.0 = vector.data.into_iter().map(|value| value as i8).collect();
            }
            (TERMS, vector_output::Vector::Sparse(vector)) => {
                let weights = vector.values.into_iter().map(|weight| weight as u8);
                sparse.0 = vector.indices.into_iter().zip(weights).collect();
                sparse.0.sort_unstable();
            }
            _ => {}
        }
    }
    (dense, sparse)
}
