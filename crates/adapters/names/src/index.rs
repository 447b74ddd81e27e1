//! The index: the ports over layers in a blob store.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use cairn_domain::{GenerationId, RepositoryId, RepositoryScope, RunId, Scope, SymbolEntry, Tenant, View};
use cairn_faults::fail_point;
use cairn_ports::{
    BlobStore, BlobStoreError, ErrorKind, FileHit, NameMatch, Names, NamesError, Page, StagedNames, SymbolHit,
};
use futures::{StreamExt, TryStreamExt, stream};
use globset::{GlobBuilder, GlobMatcher};

use crate::cache::Cache;
use crate::keys;
use crate::layer::{self, DamagedLayer, Layer, LayerContents};
use crate::names::RepositoryNames;

/// Memory for layers that were read.
const MAX_CACHED_BYTES: usize = 512 << 20;
/// Layers may be merged between listing and reading them; then they are listed again.
const MAX_LISTINGS: usize = 5;
/// Repositories whose lists are read at the same time: each read is a wait for the store.
const READS_AT_ONCE: usize = 16;
const PAGE_SYMBOLS: usize = 4_096;

/// Names of symbols and files, as `fst` maps in a blob store. Cheap to clone; clones share what they have read.
#[derive(Clone)]
pub struct NameIndex {
    pub(crate) blobs: Arc<dyn BlobStore>,
    cache: Arc<Mutex<Cache>>,
}

impl NameIndex {
    pub fn new(blobs: Arc<dyn BlobStore>) -> Self {
        Self { blobs, cache: Arc::new(Mutex::new(Cache::new(MAX_CACHED_BYTES))) }
    }

    pub(crate) fn cache(&self) -> MutexGuard<'_, Cache> {
        // The cache is whole between its methods, whatever panics.
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The layers of a key's repository, read from the blob store unless they are at hand.
    pub(crate) async fn layer(&self, key: &str) -> Result<Arc<Layer>, NamesError> {
        if let Some(layer) = self.cache().layer(key) {
            return Ok(layer);
        }
        let bytes = self.blobs.get(key).await.map_err(|error| of_blobs(error, "read", key))?;
        let layer = Arc::new(Layer::read(&bytes).map_err(|error| damaged(error, key))?);
        self.cache().add_layer(key, &layer);
        Ok(layer)
    }

    /// Keys of a repository's layers, or of all, from the blob store.
    pub(crate) async fn list(&self, repository: Option<RepositoryId>) -> Result<Vec<String>, NamesError> {
        let prefix = repository.map_or_else(|| keys::ROOT.to_owned(), keys::prefix);
        let blobs = self.blobs.list(&prefix).await.map_err(|error| of_blobs(error, "list", &prefix))?;
        Ok(blobs.into_iter().map(|blob| blob.key).collect())
    }

    /// Reads the layers of the keys, without those that others replace. Each with its key.
    pub(crate) async fn layers(&self, keys: &[String]) -> Result<Vec<(String, Arc<Layer>)>, NamesError> {
        let mut layers = Vec::new();
        for key in keys.iter().filter(|key| keys::is_merged(key)) {
            layers.push((key.clone(), self.layer(key).await?));
        }
        let replaced: BTreeSet<String> =
            layers.iter().flat_map(|(_, layer)| layer.header.replaces.iter().cloned()).collect();
        layers.retain(|(key, _)| !replaced.contains(key));
        for key in keys.iter().filter(|key| !keys::is_merged(key) && !replaced.contains(*key)) {
            layers.push((key.clone(), self.layer(key).await?));
        }
        Ok(layers)
    }

    /// The names of every repository in scope that the view sees.
    async fn repositories(&self, view: &View, scope: &Scope) -> Result<Vec<RepositoryNames>, NamesError> {
        match &scope.repositories {
            RepositoryScope::Only(ids) => {
                // Owned ids: a closure over borrowed ones makes a future that cannot be sent.
                let ids: Vec<RepositoryId> = ids.iter().copied().collect();
                let of_each = stream::iter(ids).map(|id| self.names_of(view, scope, Some(id)));
                let of_each: Vec<_> = of_each.buffered(READS_AT_ONCE).try_collect().await?;
                Ok(of_each.into_iter().flatten().collect())
            }
            RepositoryScope::All => self.names_of(view, scope, None).await,
        }
    }

    async fn names_of(
        &self,
        view: &View,
        scope: &Scope,
        repository: Option<RepositoryId>,
    ) -> Result<Vec<RepositoryNames>, NamesError> {
        let mut failed = None;
        for _ in 0..MAX_LISTINGS {
            let known = if failed.is_none() { self.cache().keys(repository, view) } else { None };
            let keys = match known {
                Some(keys) => keys,
                None => {
                    let keys = self.list(repository).await?;
                    self.cache().set_keys(repository, view, keys)
                }
            };
            match self.read_names(view, scope, &keys).await {
                // Another process merged the layers meanwhile.
                Err(error) if error.kind == ErrorKind::NotFound => failed = Some(error),
                names => return names,
            }
        }
        failed.map_or_else(|| Ok(Vec::new()), Err)
    }

    async fn read_names(
        &self,
        view: &View,
        scope: &Scope,
        keys: &[String],
    ) -> Result<Vec<RepositoryNames>, NamesError> {
        let mut found = Vec::new();
        for keys in keys.chunk_by(|left, right| keys::repository_of(left) == keys::repository_of(right)) {
            let repository = keys::repository_of(&keys[0]);
            if repository.is_none_or(|repository| !view.sees_repository(repository)) {
                continue;
            }
            let layers: Vec<Arc<Layer>> = self.layers(keys).await?.into_iter().map(|(_, layer)| layer).collect();
            if layers.first().is_some_and(|layer| layer.header.tenant == scope.tenant.as_str()) {
                found.push(RepositoryNames { layers });
            }
        }
        Ok(found)
    }

    /// Writes a layer under the key that its bytes give. Returns the key.
    pub(crate) async fn write(
        &self,
        contents: &LayerContents,
        key: impl FnOnce(&[u8]) -> String,
    ) -> Result<String, NamesError> {
        let prefix = keys::prefix(contents.repository);
        let bytes = layer::encode(contents)
            .map_err(|error| NamesError::new(ErrorKind::Invalid, "encode", prefix).because(error))?;
        let key = key(&bytes);
        fail_point!("names::before_write", |said: String| Err(
            NamesError::new(ErrorKind::Io, "write", &key).because(said)
        ));
        self.blobs.put(&key, Bytes::from(bytes)).await.map_err(|error| of_blobs(error, "write", &key))?;
        fail_point!("names::after_write", |said: String| Err(
            NamesError::new(ErrorKind::Io, "write", &key).because(said)
        ));
        self.cache().forget_keys(contents.repository);
        Ok(key)
    }
}

pub(crate) fn of_blobs(error: BlobStoreError, operation: &'static str, key: &str) -> NamesError {
    NamesError::new(error.kind, operation, key).because(error)
}

pub(crate) fn damaged(error: DamagedLayer, key: &str) -> NamesError {
    NamesError::new(ErrorKind::Corrupt, "read", key).because(error)
}

#[async_trait]
impl Names for NameIndex {
    async fn stage(&self, tenant: &Tenant, run: RunId, staged: StagedNames) -> Result<(), NamesError> {
        let StagedNames { replaced, symbols, files } = staged;
        if replaced.is_empty() && symbols.is_empty() && files.is_empty() {
            return Ok(());
        }
        let generation = run.generation;
        let contents = LayerContents {
            tenant: tenant.clone(),
            repository: run.repository,
            replaces: Vec::new(),
            files: files.into_iter().map(|path| (path, generation)).collect(),
            symbols: symbols.into_iter().map(|symbol| (symbol, generation)).collect(),
            ended: replaced.into_iter().map(|path| (path, generation)).collect(),
        };
        self.write(&contents, |bytes| keys::staged(run.repository, generation, bytes)).await.map(drop)
    }

    async fn symbols(
        &self,
        view: &View,
        scope: &Scope,
        name: &str,
        ways: &[NameMatch],
        limit: usize,
    ) -> Result<Vec<SymbolHit>, NamesError> {
        let mut hits = Vec::new();
        for names in self.repositories(view, scope).await? {
            hits.extend(names.symbols(view, name, ways).map_err(|error| damaged(error, keys::ROOT))?);
        }
        hits.sort_by(|left, right| {
            let place = |hit: &SymbolHit| (Reverse(hit.score), hit.repository);
            let symbols = || (&left.symbol.path, left.symbol.line, left.symbol.node);
            let others = (&right.symbol.path, right.symbol.line, right.symbol.node);
            place(left).cmp(&place(right)).then_with(|| symbols().cmp(&others))
        });
        // Two processes that merged at once may have left a name twice.
        hits.dedup_by(|left, right| left.repository == right.repository && left.symbol == right.symbol);
        hits.truncate(limit);
        Ok(hits)
    }

    async fn files(
        &self,
        view: &View,
        scope: &Scope,
        name: &str,
        fuzzy: bool,
        limit: usize,
    ) -> Result<Vec<FileHit>, NamesError> {
        let glob = if name.contains(['*', '?', '[']) { Some(glob(name)?) } else { None };
        let mut hits = Vec::new();
        for names in self.repositories(view, scope).await? {
            let found = match &glob {
                Some(glob) => {
                    names.scored_files(view, |_, _, entry| matches_glob(glob, name, &entry.path).then_some(100))
                }
                None => names.files(view, name, fuzzy),
            };
            hits.extend(found.map_err(|error| damaged(error, keys::ROOT))?);
        }
        hits.sort_by(|left, right| {
            let place = |hit: &FileHit| (Reverse(hit.score), hit.repository);
            place(left).cmp(&place(right)).then_with(|| left.path.cmp(&right.path))
        });
        hits.dedup();
        hits.truncate(limit);
        Ok(hits)
    }

    async fn scroll(
        &self,
        view: &View,
        scope: &Scope,
        repository: RepositoryId,
        from: u64,
    ) -> Result<Page<SymbolEntry>, NamesError> {
        if !scope.contains(repository) {
            return Ok(Page { items: Vec::new(), next: None });
        }
        let mut symbols = Vec::new();
        for names in self.names_of(view, scope, Some(repository)).await? {
            symbols.extend(names.all(view, from).map_err(|error| damaged(error, keys::ROOT))?);
        }
        symbols.sort_by(|(left_half, left), (right_half, right)| (left_half, left.node).cmp(&(right_half, right.node)));
        symbols.dedup();
        let next = cut(&mut symbols);
        Ok(Page { items: symbols.into_iter().map(|(_, symbol)| symbol).collect(), next })
    }
}

/// Cuts the symbols to a page; those whose keys share the first half stay together. Returns where the next page starts.
fn cut(symbols: &mut Vec<(u64, SymbolEntry)>) -> Option<u64> {
    let next = symbols.get(PAGE_SYMBOLS)?.0;
    if symbols[0].0 < next {
        symbols.retain(|(half, _)| *half < next);
        return Some(next);
    }
    symbols.retain(|(half, _)| *half == next);
    next.checked_add(1)
}

fn glob(pattern: &str) -> Result<GlobMatcher, NamesError> {
    let glob = GlobBuilder::new(pattern).literal_separator(true).build();
    let invalid = |error| NamesError::new(ErrorKind::Invalid, "files", pattern).because(error);
    glob.map(|glob| glob.compile_matcher()).map_err(invalid)
}

/// A pattern without `/` is one of base names.
fn matches_glob(glob: &GlobMatcher, pattern: &str, path: &str) -> bool {
    let base_name = path.rsplit('/').next().unwrap_or(path);
    glob.is_match(path) || (!pattern.contains('/') && glob.is_match(base_name))
}

/// The generations that layers name.
pub(crate) fn generations(layers: &[(String, Arc<Layer>)]) -> BTreeSet<GenerationId> {
    layers.iter().flat_map(|(_, layer)| layer.generations().collect::<Vec<_>>()).collect()
}
