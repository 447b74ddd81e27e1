//! Implements the ports of the name index with layers in a blob store.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use cairn_domain::{ChunkKey, NodeKey, RepositoryId, RepositoryScope, RunId, Scope, SymbolEntry, Tenant, View};
use cairn_faults::fail_point;
use cairn_layered::{Layer as _, LayerStore, damaged, keys};
use cairn_name_match::{LearnedAbbreviation, Reasons, WantedName};
use cairn_ports::{
    BlobStore, ErrorKind, FileHit, FileMatch, MAX_DEFINITIONS, NameMatch, NameTier, Names, NamesError, Page,
    ResolvedSymbol, StagedNames, SymbolHit, SymbolNode,
};
use futures::{StreamExt, TryStreamExt, stream};

use crate::encode::{LayerContents, encode};
use crate::files::RequestedFile;
use crate::format::DamagedLayer;
use crate::layer::Layer;
use crate::names::{RepositoryNames, RequestedName};
use crate::near::keep_nearest;

/// Number of repositories that are searched concurrently. Concurrency saves time, because each read waits for
/// the blob store.
const READS_AT_ONCE: usize = 16;
const PAGE_SYMBOLS: usize = 4_096;

/// Finds symbols in the names of one repository.
type FindSymbols<Wanted> = fn(&RepositoryNames, &View, &[Wanted]) -> Result<Vec<SymbolEntry>, DamagedLayer>;

/// An index of the names of symbols and files, stored as `fst` maps in a blob store. Cloning is cheap, and
/// clones share the cache.
#[derive(Clone)]
pub struct NameIndex {
    pub(crate) store: LayerStore<Layer>,
}

impl NameIndex {
    pub fn new(blobs: Arc<dyn BlobStore>) -> Self {
        Self { store: LayerStore::new(blobs) }
    }

    async fn repositories(&self, view: &View, scope: &Scope) -> Result<Vec<RepositoryId>, NamesError> {
        match &scope.repositories {
            RepositoryScope::Only(ids) => Ok(ids.iter().copied().collect()),
            RepositoryScope::All => {
                let keys = self.store.keys(None, view, false).await?;
                let mut ids: Vec<RepositoryId> =
                    keys.iter().filter_map(|key| keys::repository_of(Layer::FOLDER, key)).collect();
                ids.dedup();
                Ok(ids)
            }
        }
    }

    /// The names of a repository. `None` if the repository is not visible in the view, or belongs to another
    /// tenant.
    async fn names_of(
        &self,
        view: &View,
        scope: &Scope,
        repository: RepositoryId,
    ) -> Result<Option<RepositoryNames>, NamesError> {
        let layers = self.store.visible(view, &scope.tenant, repository).await?;
        Ok(layers.map(|layers| RepositoryNames { layers }))
    }

    /// The best hits of all repositories that are in scope and visible in the view.
    ///
    /// The layers of a repository are released after its search. So one search holds the layers of at most
    /// `READS_AT_ONCE` repositories at a time.
    async fn look_up<Hit: Send + 'static>(
        &self,
        view: &View,
        scope: &Scope,
        find: impl Fn(&RepositoryNames) -> Result<Vec<Hit>, DamagedLayer> + Send + Sync + 'static,
        keep_best: impl Fn(&mut Vec<Hit>) + Send + Sync + 'static,
    ) -> Result<Vec<Hit>, NamesError> {
        let lookup = Arc::new((find, keep_best));
        let look_in = async |repository| {
            let Some(names) = self.names_of(view, scope, repository).await? else { return Ok(Vec::new()) };
            let lookup = Arc::clone(&lookup);
            blocking(move || {
                let mut hits = lookup.0(&names)?;
                lookup.1(&mut hits);
                Ok(hits)
            })
            .await
        };
        let mut of_each = stream::iter(self.repositories(view, scope).await?).map(look_in).buffered(READS_AT_ONCE);
        let mut hits = Vec::new();
        while let Some(found) = of_each.try_next().await? {
            if !found.is_empty() {
                hits.extend(found);
                lookup.1(&mut hits);
            }
        }
        Ok(hits)
    }

    /// The symbols that `find` finds in each repository.
    async fn symbols_of_each<Wanted: Send + 'static>(
        &self,
        view: &View,
        scope: &Scope,
        wanted: BTreeMap<RepositoryId, Vec<Wanted>>,
        find: FindSymbols<Wanted>,
    ) -> Result<Vec<SymbolEntry>, NamesError> {
        let look_in = async |(repository, wanted): (RepositoryId, Vec<Wanted>)| {
            let Some(names) = self.names_of(view, scope, repository).await? else { return Ok(Vec::new()) };
            let view = view.clone();
            blocking(move || find(&names, &view, &wanted)).await
        };
        let found = stream::iter(wanted).map(look_in).buffered(READS_AT_ONCE);
        let found: Vec<Vec<SymbolEntry>> = found.try_collect().await?;
        Ok(found.into_iter().flatten().collect())
    }

    /// Writes a layer under the key that is derived from its bytes. Returns the key.
    pub(crate) async fn write(
        &self,
        contents: &LayerContents,
        key: impl FnOnce(&[u8]) -> String,
    ) -> Result<String, NamesError> {
        let prefix = keys::prefix(Layer::FOLDER, contents.repository);
        let bytes =
            encode(contents).map_err(|error| NamesError::new(ErrorKind::Invalid, "encode", prefix).because(error))?;
        let key = key(&bytes);
        fail_point!("names::before_write", |message: String| Err(
            NamesError::new(ErrorKind::Io, "write", &key).because(message)
        ));
        self.store.put(&key, Bytes::from(bytes), "write").await?;
        fail_point!("names::after_write", |message: String| Err(
            NamesError::new(ErrorKind::Io, "write", &key).because(message)
        ));
        self.store.forget_keys(contents.repository);
        Ok(key)
    }
}

#[async_trait]
impl Names for NameIndex {
    async fn stage(&self, tenant: &Tenant, run: RunId, staged: StagedNames) -> Result<(), NamesError> {
        let StagedNames { replaced, symbols, files } = staged;
        if replaced.is_empty() && symbols.is_empty() && files.is_empty() {
            return Ok(());
        }
        let generation = run.generation;
        // If the generation was already published and merged, this writer is late and writes nothing.
        let keys = self.store.list(Some(run.repository)).await?;
        if keys.iter().filter_map(|key| keys::newest_of_merged(key)).any(|newest| newest >= generation) {
            return Ok(());
        }
        let contents = LayerContents {
            tenant: tenant.clone(),
            repository: run.repository,
            replaces: Vec::new(),
            files: files.into_iter().map(|path| (path, generation)).collect(),
            symbols: symbols.into_iter().map(|symbol| (symbol, generation)).collect(),
            ended: replaced.into_iter().map(|path| (path, generation)).collect(),
        };
        self.write(&contents, |bytes| keys::staged(Layer::FOLDER, run.repository, generation, bytes)).await.map(drop)
    }

    async fn symbols(
        &self,
        view: &View,
        scope: &Scope,
        name: &str,
        ways: &[NameMatch],
        limit: usize,
    ) -> Result<Vec<SymbolHit>, NamesError> {
        let (view_of_find, requested) = (view.clone(), RequestedName::new(name, ways));
        let find = move |names: &RepositoryNames| names.symbols(&view_of_find, &requested);
        self.look_up(view, scope, find, move |hits| keep_best_symbols(hits, limit)).await
    }

    async fn resolve(
        &self,
        view: &View,
        scope: &Scope,
        name: &str,
        learned: &[LearnedAbbreviation],
        limit: usize,
    ) -> Result<Vec<ResolvedSymbol>, NamesError> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        let ways = [NameMatch::Exact, NameMatch::CaseInsensitive, NameMatch::StyleInsensitive];
        let hits = self.symbols(view, scope, name, &ways, MAX_DEFINITIONS).await?;
        if let Some(best) = hits.first().map(|hit| hit.matched) {
            return Ok(hits.into_iter().take_while(|hit| hit.matched == best).map(resolved).collect());
        }
        let (view_of_find, wanted) = (view.clone(), WantedName::new(name).with_abbreviations(learned));
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let find = move |names: &RepositoryNames| names.near(&view_of_find, &wanted, limit);
        self.look_up(view, scope, find, move |hits| keep_nearest(hits, limit)).await
    }

    async fn symbols_of(
        &self,
        view: &View,
        scope: &Scope,
        nodes: &[SymbolNode],
    ) -> Result<Vec<SymbolEntry>, NamesError> {
        let mut of_repositories: BTreeMap<RepositoryId, Vec<SymbolNode>> = BTreeMap::new();
        for node in nodes.iter().filter(|node| scope.contains(node.repository)) {
            of_repositories.entry(node.repository).or_default().push(node.clone());
        }
        let found = self.symbols_of_each(view, scope, of_repositories, RepositoryNames::symbols_of).await?;
        let mut found: BTreeMap<NodeKey, SymbolEntry> = found.into_iter().map(|symbol| (symbol.node, symbol)).collect();
        Ok(nodes.iter().filter_map(|node| found.remove(&node.node)).collect())
    }

    async fn symbols_in(
        &self,
        view: &View,
        scope: &Scope,
        chunks: &[(RepositoryId, ChunkKey)],
    ) -> Result<Vec<SymbolEntry>, NamesError> {
        let mut of_repositories: BTreeMap<RepositoryId, Vec<ChunkKey>> = BTreeMap::new();
        for (repository, chunk) in chunks.iter().filter(|(repository, _)| scope.contains(*repository)) {
            of_repositories.entry(*repository).or_default().push(*chunk);
        }
        let found = self.symbols_of_each(view, scope, of_repositories, RepositoryNames::symbols_in).await?;
        let mut of_chunks: BTreeMap<ChunkKey, Vec<SymbolEntry>> = BTreeMap::new();
        for symbol in found {
            if let Some(chunk) = symbol.chunk {
                of_chunks.entry(chunk).or_default().push(symbol);
            }
        }
        let mut symbols = Vec::new();
        for (_, chunk) in chunks {
            let mut of_chunk = of_chunks.remove(chunk).unwrap_or_default();
            of_chunk.sort_by_key(|symbol| (symbol.line, symbol.node));
            // If two processes merged at the same time, or if `chunks` contains a chunk twice, a symbol can
            // occur twice.
            of_chunk.dedup();
            symbols.extend(of_chunk);
        }
        Ok(symbols)
    }

    async fn files(
        &self,
        view: &View,
        scope: &Scope,
        name: &str,
        matching: FileMatch,
        limit: usize,
    ) -> Result<Vec<FileHit>, NamesError> {
        let (view_of_find, requested) = (view.clone(), RequestedFile::new(name, matching));
        let find = move |names: &RepositoryNames| names.files(&view_of_find, &requested);
        self.look_up(view, scope, find, move |hits| keep_best_files(hits, limit)).await
    }

    async fn scroll(
        &self,
        view: &View,
        scope: &Scope,
        repository: RepositoryId,
        from: u64,
    ) -> Result<Page<SymbolEntry>, NamesError> {
        let names = if scope.contains(repository) { self.names_of(view, scope, repository).await? } else { None };
        let Some(names) = names else { return Ok(Page { items: Vec::new(), next: None }) };
        let view = view.clone();
        blocking(move || {
            let mut symbols = names.all(&view, from)?;
            symbols.sort_by(|(left_half, left), (right_half, right)| {
                (left_half, left.node).cmp(&(right_half, right.node))
            });
            symbols.dedup();
            let next = cut(&mut symbols);
            Ok(Page { items: symbols.into_iter().map(|(_, symbol)| symbol).collect(), next })
        })
        .await
    }
}

/// Runs a scan on a thread that may block.
async fn blocking<T: Send + 'static>(
    scan: impl FnOnce() -> Result<T, DamagedLayer> + Send + 'static,
) -> Result<T, NamesError> {
    let found = LayerStore::<Layer>::blocking("read", scan).await?;
    found.map_err(|damage| damaged::<Layer>(damage, Layer::FOLDER))
}

/// Converts a hit whose name is equal to the requested name, or differs from it only in case or style.
fn resolved(hit: SymbolHit) -> ResolvedSymbol {
    let SymbolHit { repository, symbol, matched, score } = hit;
    let tier = match matched {
        NameMatch::Exact => NameTier::Exact,
        NameMatch::CaseInsensitive => NameTier::Case,
        NameMatch::StyleInsensitive | NameMatch::Prefix | NameMatch::Contains | NameMatch::Fuzzy => NameTier::Style,
    };
    let score = score * 10;
    ResolvedSymbol { repository, symbol, tier, score, rank: score, reasons: Reasons::NONE }
}

fn keep_best_symbols(hits: &mut Vec<SymbolHit>, limit: usize) {
    hits.sort_by(|left, right| {
        let place = |hit: &SymbolHit| (Reverse(hit.score), hit.repository);
        let symbols = || (&left.symbol.path, left.symbol.line, left.symbol.node);
        let others = (&right.symbol.path, right.symbol.line, right.symbol.node);
        place(left).cmp(&place(right)).then_with(|| symbols().cmp(&others))
    });
    // If two processes merged at the same time, a name can occur twice.
    hits.dedup_by(|left, right| left.repository == right.repository && left.symbol == right.symbol);
    hits.truncate(limit);
}

fn keep_best_files(hits: &mut Vec<FileHit>, limit: usize) {
    hits.sort_by(|left, right| {
        let place = |hit: &FileHit| (Reverse((hit.score, hit.rank)), hit.repository);
        place(left).cmp(&place(right)).then_with(|| left.path.cmp(&right.path))
    });
    hits.dedup();
    hits.truncate(limit);
}

/// Cuts the symbols to one page. Symbols whose keys have the same first half stay on the same page. Returns
/// the first half of the key at which the next page starts.
fn cut(symbols: &mut Vec<(u64, SymbolEntry)>) -> Option<u64> {
    let next = symbols.get(PAGE_SYMBOLS)?.0;
    if symbols[0].0 < next {
        symbols.retain(|(half, _)| *half < next);
        return Some(next);
    }
    symbols.retain(|(half, _)| *half == next);
    next.checked_add(1)
}
