//! Parses the files of working trees that have changed since they were indexed. This happens when a question
//! asks for a name that the index does not contain.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

use async_trait::async_trait;
use cairn_domain::{
    ArtifactRef, FactsKey, FileFacts, Lane, ManifestEntry, RepoPath, RepositoryId, Source, SymbolEntry,
};
use cairn_ports::{Catalogue, ErrorKind, FileParser, RepositoryRecord, SourceError};
use cairn_records::{Placement, symbol_names};
use cairn_search::{ChangedFile, ChangedFiles, ChangedTree, FileState};
use cairn_stages::{ChangedLimits, ChangedSource, ChangedSources, Sync, SyncRequest};

use super::tree_watch::{Mark, TreeWatch};

/// Limits on the changed files of one repository that are read and parsed for a question.
const LIMITS: ChangedLimits = ChangedLimits { max_files: 200, max_bytes: 4 * 1024 * 1024 };
/// Maximum time for which a question waits until the changed files are read and parsed.
const LONGEST: Duration = Duration::from_secs(3);
/// Maximum size of a file whose content is compared with the index.
const MAX_COMPARED_BYTES: u64 = 16 * 1024 * 1024;

/// The symbols of each parsed file, by its path and its content.
type Parsed = BTreeMap<(RepoPath, FactsKey), Vec<SymbolEntry>>;

/// The files of a repository that had changed when its working tree was last read.
struct Known {
    /// The manifest with which the files were compared.
    manifest: ArtifactRef,
    /// The state of the working tree before it was read. `None` if it is not known.
    mark: Option<Mark>,
    tree: Arc<ChangedTree>,
}

pub(crate) struct WorkingFiles {
    pub(super) sync: Arc<Sync>,
    pub(super) parser: Arc<dyn FileParser>,
    pub(super) catalogue: Arc<dyn Catalogue>,
    /// The index directory, which contains the caches of sources.
    pub(super) directory: PathBuf,
    /// Reports whether a working tree may have changed since it was read.
    pub(super) watch: Arc<TreeWatch>,
    known: Mutex<BTreeMap<RepositoryId, Known>>,
    parsed: Mutex<BTreeMap<RepositoryId, Parsed>>,
}

impl WorkingFiles {
    pub(super) fn new(
        sync: Arc<Sync>,
        parser: Arc<dyn FileParser>,
        catalogue: Arc<dyn Catalogue>,
        directory: PathBuf,
    ) -> Self {
        let (watch, known, parsed) = (Arc::default(), Mutex::default(), Mutex::default());
        Self { sync, parser, catalogue, directory, watch, known, parsed }
    }

    /// Reads the changed files. If a watch shows that the tree has not changed, returns the files that were
    /// read last time.
    async fn read_if_changed(&self, repository: &RepositoryRecord) -> Result<Arc<ChangedTree>, SourceError> {
        let unavailable = |error: cairn_ports::CatalogueError| of(repository, error.to_string());
        let view = self.catalogue.view().await.map_err(unavailable)?;
        let published = self.catalogue.published(&view, repository.id).await.map_err(unavailable)?;
        let Some(manifest) = published.map(|published| published.manifest) else { return Ok(Arc::default()) };
        let mark = self.watch.mark(repository.id, Path::new(repository.source.location())).await;
        let is_current = |known: &&Known| mark.is_some() && known.mark == mark && known.manifest == manifest;
        if let Some(known) = lock(&self.known).get(&repository.id).filter(is_current) {
            return Ok(Arc::clone(&known.tree));
        }
        let tree = Arc::new(self.read(repository).await?);
        lock(&self.known).insert(repository.id, Known { manifest, mark, tree: Arc::clone(&tree) });
        Ok(tree)
    }

    async fn read(&self, repository: &RepositoryRecord) -> Result<ChangedTree, SourceError> {
        let cache = super::home::source_cache(&self.directory, repository.id);
        let request = SyncRequest {
            repository: repository.clone(),
            cache,
            rebuild: false,
            lane: Lane::Interactive,
            meter: Arc::default(),
        };
        let failed = |error: cairn_pipeline::StageError| of(repository, error.chain());
        let ChangedSources { sources, left_out } = self.sync.changed_sources(&request, LIMITS).await.map_err(failed)?;
        let mut parsed = lock(&self.parsed).remove(&repository.id).unwrap_or_default();
        let is_new = |changed: &&ChangedSource| key(changed).is_some_and(|key| !parsed.contains_key(&key));
        let new: Vec<&ChangedSource> = sources.iter().filter(is_new).collect();
        if !new.is_empty() {
            let texts = new.iter().map(|changed| changed.source.clone()).collect();
            let facts = self.parser.parse(texts).await.map_err(|error| of(repository, error.to_string()))?;
            for (changed, facts) in new.into_iter().zip(facts) {
                parsed.extend(key(changed).map(|key| (key, symbols(repository.id, changed, &facts))));
            }
        }
        parsed.retain(|known, _| sources.iter().any(|changed| key(changed).as_ref() == Some(known)));
        let files = sources.into_iter().map(|changed| changed_file(changed, &parsed)).collect();
        lock(&self.parsed).insert(repository.id, parsed);
        Ok(ChangedTree { files, left_out, is_unread: false })
    }
}

fn key(changed: &ChangedSource) -> Option<(RepoPath, FactsKey)> {
    Some((changed.entry.path.clone(), changed.entry.facts_key?))
}

fn symbols(repository: RepositoryId, changed: &ChangedSource, facts: &FileFacts) -> Vec<SymbolEntry> {
    let mut symbols = symbol_names(Placement { repository, entry: &changed.entry }, facts);
    // The symbols have no chunk, because the index contains no chunks of the changed file.
    symbols.iter_mut().for_each(|symbol| symbol.chunk = None);
    symbols
}

fn changed_file(changed: ChangedSource, parsed: &Parsed) -> ChangedFile {
    let symbols = key(&changed).and_then(|key| parsed.get(&key)).cloned().unwrap_or_default();
    ChangedFile {
        path: changed.entry.path,
        language: changed.entry.language.unwrap_or_default(),
        text: changed.source.text,
        num_lines: changed.entry.num_lines,
        symbols,
    }
}

/// The state of a file in a directory on disk. A file that was not written since it was indexed is not read,
/// because git may have converted its line ends when it wrote the file.
fn state_on_disk(directory: &str, entry: &ManifestEntry, indexed_at_ms: i64) -> FileState {
    let path = Path::new(directory).join(entry.path.as_str());
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return FileState::Removed,
        Err(_) => return FileState::Same,
    };
    let written_at = found.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    if written_at.is_none_or(|time| i128::from(indexed_at_ms) >= time.as_millis().cast_signed()) {
        return FileState::Same;
    }
    match cairn_git::read_beneath(directory, entry.path.as_str(), MAX_COMPARED_BYTES) {
        Ok(bytes) if cairn_git::blob_id(&bytes) == entry.blob => FileState::Same,
        Ok(_) => FileState::Changed,
        Err(_) => FileState::Same,
    }
}

fn of(repository: &RepositoryRecord, message: String) -> SourceError {
    SourceError::new(ErrorKind::Io, "read changes", repository.source.location()).because(message)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No method leaves the maps inconsistent, so the maps can be used after another thread has panicked.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[async_trait]
impl ChangedFiles for WorkingFiles {
    async fn changed_files(&self, repository: &RepositoryRecord) -> Arc<ChangedTree> {
        if !matches!(repository.source, Source::WorkTree { .. } | Source::Directory { .. }) {
            return Arc::default();
        }
        let late = |_| Err(of(repository, format!("reading takes more than {} s", LONGEST.as_secs())));
        let read = tokio::time::timeout(LONGEST, self.read_if_changed(repository)).await.unwrap_or_else(late);
        read.unwrap_or_else(|error| {
            let cause = error.source.as_ref().map(ToString::to_string).unwrap_or_default();
            tracing::info!(repository = %repository.name, "changed files are not read: {error}: {cause}");
            Arc::new(ChangedTree { is_unread: true, ..ChangedTree::default() })
        })
    }

    async fn file_state(&self, repository: &RepositoryRecord, entry: &ManifestEntry, indexed_at_ms: i64) -> FileState {
        let is_on_disk = matches!(repository.source, Source::WorkTree { .. } | Source::Directory { .. });
        if !is_on_disk || repository.branch.is_some() {
            return FileState::Same;
        }
        let (directory, entry) = (repository.source.location().to_owned(), entry.clone());
        let state = move || state_on_disk(&directory, &entry, indexed_at_ms);
        tokio::task::spawn_blocking(state).await.unwrap_or(FileState::Same)
    }
}
