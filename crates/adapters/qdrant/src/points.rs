//! Caches the fields of the points in search results.
//!
//! These fields of a point never change: a new version of a chunk begins in a new generation, so it is a new
//! point with a different id. For a long list, reading the fields takes the server longer than the search. So
//! lists are requested without fields, and the fields are read only for points that are not in the cache.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use cairn_domain::{ChunkKey, ChunkRecord, RepositoryId};
use cairn_recent::SharedRecent;
use qdrant_client::qdrant::point_id::PointIdOptions;
use qdrant_client::qdrant::{Condition, Filter, PointId, QueryPoints, ScoredPoint};

use crate::collection::{Collection, only};
use crate::error::Fault;
use crate::fields::{KEY, PATH, REPOSITORY, START_LINE};
use crate::payload::{Fields, RECORD};

/// Maximum memory of the cached points.
const MAX_CACHED_BYTES: usize = 96 << 20;
/// The memory that a cached point uses in addition to its texts.
const POINT_BYTES: usize = 256;
/// Maximum number of points of one request. The two lists of a question have fewer points.
const POINTS_OF_A_REQUEST: usize = 3_000;

/// The fields of a point.
#[derive(PartialEq, Debug)]
pub(crate) struct ListedPoint {
    pub(crate) repository: RepositoryId,
    pub(crate) path: String,
    pub(crate) line: u32,
    pub(crate) key: ChunkKey,
    /// The chunk without its text; `None` if the record was not read.
    pub(crate) record: Option<ChunkRecord>,
}

/// A point whose fields are needed.
#[derive(Clone, Copy)]
pub(crate) struct WantedPoint<'a> {
    pub(crate) id: &'a PointId,
    pub(crate) needs_record: bool,
}

/// The id of a point as a number. The ids of all points are UUIDs.
fn number_of(id: Option<&PointId>) -> u128 {
    match id.and_then(|id| id.point_id_options.as_ref()) {
        Some(PointIdOptions::Uuid(text)) => uuid::Uuid::parse_str(text).unwrap_or_default().as_u128(),
        Some(PointIdOptions::Num(number)) => u128::from(*number),
        None => 0,
    }
}

/// The most recently used points. Clones share these points.
#[derive(Clone)]
pub(crate) struct KnownPoints(Arc<SharedRecent<u128, Arc<ListedPoint>>>);

impl Default for KnownPoints {
    fn default() -> Self {
        Self(Arc::new(SharedRecent::new(MAX_CACHED_BYTES)))
    }
}

impl KnownPoints {
    /// The fields of the points, in the order of `wanted`. `None` for a point that no longer exists. The
    /// field `record` of a point may be set even if the record was not requested.
    pub(crate) async fn of(
        &self,
        collection: &Collection,
        wanted: &[WantedPoint<'_>],
    ) -> Result<Vec<Option<Arc<ListedPoint>>>, Fault> {
        let ids: Vec<u128> = wanted.iter().map(|point| number_of(Some(point.id))).collect();
        let mut found: HashMap<u128, Arc<ListedPoint>> = HashMap::with_capacity(ids.len());
        let mut missing: BTreeMap<u128, WantedPoint<'_>> = BTreeMap::new();
        {
            let mut known = self.0.lock();
            for (id, point) in ids.iter().zip(wanted) {
                match known.get(id).filter(|known| known.record.is_some() || !point.needs_record) {
                    Some(known) => {
                        found.insert(*id, known);
                    }
                    None => {
                        let missing = missing.entry(*id).or_insert(*point);
                        missing.needs_record |= point.needs_record;
                    }
                }
            }
        }
        let missing: Vec<WantedPoint<'_>> = missing.into_values().collect();
        for some in missing.chunks(POINTS_OF_A_REQUEST) {
            let read = read(collection, some).await?;
            let mut known = self.0.lock();
            for (id, point) in read {
                found.insert(id, Arc::clone(&point));
                let size_bytes = size_bytes(&point);
                known.add(id, point, size_bytes);
            }
        }
        Ok(ids.iter().map(|id| found.get(id).cloned()).collect())
    }
}

/// Reads the points with one batch.
async fn read(collection: &Collection, points: &[WantedPoint<'_>]) -> Result<Vec<(u128, Arc<ListedPoint>)>, Fault> {
    let (with_record, others): (Vec<_>, Vec<_>) = points.iter().partition(|point| point.needs_record);
    let reads = [(with_record, true), (others, false)].into_iter().filter(|(points, _)| !points.is_empty());
    let (requests, have_record): (Vec<QueryPoints>, Vec<bool>) =
        reads.map(|(points, has_record)| (request(&points, has_record), has_record)).unzip();
    let found = collection.query(requests).await?.into_iter().zip(have_record);
    found.flat_map(|(points, has_record)| points.into_iter().map(move |point| listed(point, has_record))).collect()
}

fn request(points: &[WantedPoint<'_>], has_record: bool) -> QueryPoints {
    let ids: Vec<PointId> = points.iter().map(|point| point.id.clone()).collect();
    QueryPoints {
        limit: Some(ids.len() as u64),
        filter: Some(Filter::must([Condition::has_id(ids)])),
        with_payload: if has_record { only(&RECORD) } else { only(&[REPOSITORY, KEY, PATH, START_LINE]) },
        ..QueryPoints::default()
    }
}

fn listed(point: ScoredPoint, has_record: bool) -> Result<(u128, Arc<ListedPoint>), Fault> {
    let id = number_of(point.id.as_ref());
    let fields = Fields::of(point.id.as_ref(), point.payload);
    let record = if has_record { Some(fields.chunk()?) } else { None };
    let (repository, path) = (fields.repository()?, fields.text(PATH)?.to_owned());
    Ok((id, Arc::new(ListedPoint { repository, path, line: fields.line()?, key: fields.key()?, record })))
}

fn size_bytes(point: &ListedPoint) -> usize {
    let of_record = |record: &ChunkRecord| {
        let optional = [&record.symbol, &record.heading].into_iter().flatten().map(String::len);
        let texts = [record.path.as_str(), &record.language, &record.header, &record.module_path].map(str::len);
        let tags = record.tags.iter().map(|tag| tag.len() + size_of::<String>());
        size_of::<ChunkRecord>() + optional.chain(texts).chain(tags).sum::<usize>()
    };
    POINT_BYTES + point.path.len() + point.record.as_ref().map_or(0, of_record)
}

#[cfg(test)]
mod tests {
    use cairn_domain::{RepositoryName, Tenant};

    use super::*;

    #[test]
    fn used_points_are_kept_in_the_cache() {
        let repository = RepositoryId::derive(&Tenant::new("acme"), &RepositoryName::new("r"));
        let path = "a.rs".to_owned();
        let point = Arc::new(ListedPoint { repository, path, line: 1, key: ChunkKey(repository.0), record: None });
        let (points, size_bytes) = (KnownPoints::default(), size_bytes(&point));
        let mut known = points.0.lock();
        for number in 0..=MAX_CACHED_BYTES / size_bytes {
            known.add(number as u128, Arc::clone(&point), size_bytes);
            assert!(known.get(&0).is_some(), "{number}");
        }
        assert!(known.get(&1).is_none());
        assert!(known.num_bytes() <= MAX_CACHED_BYTES);
    }
}
