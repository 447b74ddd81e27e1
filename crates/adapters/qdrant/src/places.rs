//! Caches the repository, file and line of points.
//!
//! These values of a point never change, because its id is derived from its key and its generation. For a
//! long list, reading these values takes the server longer than the search. So lists are requested without
//! the values, and the values are read only for points that are not in the cache.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cairn_domain::{ChunkKey, RepositoryId};
use cairn_recent::Recent;
use qdrant_client::qdrant::{GetPoints, PointId};

use crate::collection::{Collection, only};
use crate::error::Fault;
use crate::fields::{KEY, PATH, REPOSITORY, START_LINE};
use crate::payload::{Fields, id_text};

/// Maximum number of cached points.
const MAX_POINTS: usize = 100_000;
/// Maximum number of points of one request.
const POINTS_OF_A_REQUEST: usize = 1_000;

/// The repository, file and line of a point.
#[derive(Debug)]
pub(crate) struct PointPlace {
    pub(crate) repository: RepositoryId,
    pub(crate) path: String,
    pub(crate) line: u32,
    pub(crate) key: ChunkKey,
}

/// The most recently used places. Clones share these places.
#[derive(Clone)]
pub(crate) struct Places(Arc<Mutex<Recent<String, Arc<PointPlace>>>>);

impl Default for Places {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Recent::new(MAX_POINTS))))
    }
}

impl Places {
    fn known(&self) -> MutexGuard<'_, Recent<String, Arc<PointPlace>>> {
        // No method leaves the map inconsistent, so the map can be used after another thread has panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The places of the points, in the same order. `None` for a point that no longer exists.
    pub(crate) async fn of(
        &self,
        collection: &Collection,
        ids: &[Option<PointId>],
    ) -> Result<Vec<Option<Arc<PointPlace>>>, Fault> {
        let mut found: Vec<Option<Arc<PointPlace>>> = {
            let mut known = self.known();
            ids.iter().map(|id| known.get(id_text(id.as_ref()).as_str())).collect()
        };
        let missing: Vec<PointId> =
            ids.iter().zip(&found).filter(|(_, place)| place.is_none()).filter_map(|(id, _)| id.clone()).collect();
        if missing.is_empty() {
            return Ok(found);
        }
        let mut read: HashMap<String, Arc<PointPlace>> = HashMap::new();
        for some in missing.chunks(POINTS_OF_A_REQUEST) {
            read.extend(get(collection, some).await?);
        }
        for (id, place) in ids.iter().zip(&mut found).filter(|(_, place)| place.is_none()) {
            *place = read.get(&id_text(id.as_ref())).map(Arc::clone);
        }
        let mut known = self.known();
        for (id, place) in read {
            known.add(id, place, 1);
        }
        Ok(found)
    }
}

async fn get(collection: &Collection, ids: &[PointId]) -> Result<Vec<(String, Arc<PointPlace>)>, Fault> {
    let request = GetPoints {
        collection_name: collection.name.clone(),
        ids: ids.to_vec(),
        with_payload: only(&[REPOSITORY, KEY, PATH, START_LINE]),
        ..GetPoints::default()
    };
    let mut client = collection.connection.points();
    let answer = collection.connection.call(request, async |request| client.get(request).await).await?;
    let place = |point: qdrant_client::qdrant::RetrievedPoint| {
        let id = id_text(point.id.as_ref());
        let fields = Fields::new(id.clone(), point.payload);
        let (repository, path) = (fields.repository()?, fields.text(PATH)?.to_owned());
        Ok((id, Arc::new(PointPlace { repository, path, line: fields.line()?, key: fields.key()? })))
    };
    answer.result.into_iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use cairn_domain::{RepositoryName, Tenant};

    use super::*;

    #[test]
    fn used_points_are_kept_in_the_cache() {
        let repository = RepositoryId::derive(&Tenant::new("acme"), &RepositoryName::new("r"));
        let place =
            || Arc::new(PointPlace { repository, path: "a.rs".to_owned(), line: 1, key: ChunkKey(repository.0) });
        let places = Places::default();
        let mut known = places.known();
        for number in 0..=MAX_POINTS {
            known.add(number.to_string(), place(), 1);
            assert!(known.get("0").is_some(), "{number}");
        }
        assert!(known.get("1").is_none());
        assert!(known.num_bytes() <= MAX_POINTS);
    }
}
