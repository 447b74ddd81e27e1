//! Finds the chunks of files, and caches their places.
//!
//! The chunks of a generation never change, so the places of the chunks of each file are read once per
//! generation.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cairn_domain::{Scope, View};
use cairn_ports::{ChunkFilter, ChunkPlace};
use cairn_recent::SharedRecent;

use crate::prepared_query::PreparedQuery;
use crate::sites::RepositoryFile;
use crate::{QueryError, Searcher};

/// Maximum number of places in the cache.
const MAX_CACHED: usize = 200_000;

/// A file of a generation. The generation is identified by the key of its manifest.
type FileOfGeneration = (String, RepositoryFile);

/// A cache of the places of chunks. All questions of a process share the cache.
pub struct FilePlaces(SharedRecent<FileOfGeneration, Arc<Vec<ChunkPlace>>>);

impl Default for FilePlaces {
    fn default() -> Self {
        Self(SharedRecent::new(MAX_CACHED))
    }
}

impl Searcher {
    /// The places of the chunks of files that match the filter, sorted. The paths in the filter are ignored.
    /// All files that are not in the cache are read in one call.
    pub(crate) async fn places<'a>(
        &self,
        query: &PreparedQuery,
        files: impl Iterator<Item = &'a RepositoryFile>,
        filter: &ChunkFilter,
    ) -> Result<Vec<ChunkPlace>, QueryError> {
        let mut missing: BTreeSet<&RepositoryFile> = files.collect();
        let is_restricted = *filter != ChunkFilter { paths: filter.paths.clone(), ..ChunkFilter::default() };
        if is_restricted {
            return self.read_places(&query.view, &missing, filter).await;
        }
        let key = |file: &RepositoryFile| Some((query.manifests.get(&file.0)?.clone(), file.clone()));
        let mut found: Vec<ChunkPlace> = Vec::new();
        missing.retain(|file| {
            let cached = key(file).and_then(|key| self.file_places.0.lock().get(&key));
            found.extend(cached.iter().flat_map(|places| places.iter().cloned()));
            cached.is_none()
        });
        let mut read: BTreeMap<&RepositoryFile, Vec<ChunkPlace>> = BTreeMap::new();
        for place in self.read_places(&query.view, &missing, filter).await? {
            found.push(place.clone());
            if let Some(file) = missing.get(&(place.repository, place.path.clone())) {
                read.entry(*file).or_default().push(place);
            }
        }
        let mut cached = self.file_places.0.lock();
        for file in missing {
            if let Some(key) = key(file) {
                let places = Arc::new(read.remove(file).unwrap_or_default());
                let num_places = places.len() + 1;
                cached.add(key, places, num_places);
            }
        }
        found.sort();
        Ok(found)
    }

    async fn read_places(
        &self,
        view: &View,
        files: &BTreeSet<&RepositoryFile>,
        filter: &ChunkFilter,
    ) -> Result<Vec<ChunkPlace>, QueryError> {
        if files.is_empty() {
            return Ok(Vec::new());
        }
        let only = Scope::only(self.caller.tenant.clone(), files.iter().map(|(repository, _)| *repository));
        let paths = files.iter().map(|(_, path)| globset::escape(path.as_str())).collect();
        let mut places = self.vectors.places(view, &only, &ChunkFilter { paths, ..filter.clone() }).await?;
        // Several repositories may contain the path, and a path without a folder also matches in all folders.
        places.retain(|place| files.contains(&(place.repository, place.path.clone())));
        Ok(places)
    }
}
