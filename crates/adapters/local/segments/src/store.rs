//! Implements the ports `ChunkPlaces`, `VectorStore` and `Generations`. Each repository has one folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use cairn_domain::{
    ChunkKey, ChunkRecord, DenseVector, GenerationId, Key128, RepositoryId, RepositoryScope, Scope, Tenant, View,
};
use cairn_ports::{
    ChunkFilter, ChunkPage, ChunkPlace, ChunkPlaces, ErrorKind, Generations, Hit, HitLists, ListsRequest,
    MaintenanceError, StagedPoints, Staging, VectorStore, VectorStoreError,
};

use crate::dot::{Kernel, QueryVector};
use crate::error::SegmentError;
use crate::filter::CompiledFilter;
use crate::repository::{Repository, Snapshot};
use crate::search::Scene;
use crate::segment::Segment;
use crate::writer::{self, Row, SegmentContents, Tombstone};
use crate::{files, maintenance, read};

/// A store of chunks in search segments, with one folder for each repository. Cloning is cheap, and clones
/// share their open files.
#[derive(Clone)]
pub struct SegmentStore {
    inner: Arc<Inner>,
}

struct Inner {
    root: PathBuf,
    kernel: Kernel,
    repositories: Mutex<BTreeMap<RepositoryId, Arc<Repository>>>,
}

impl SegmentStore {
    /// Creates a store in the folder `root`. The first write creates the folder.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        let repositories = Mutex::default();
        Self { inner: Arc::new(Inner { root: root.into(), kernel: Kernel::best(), repositories }) }
    }

    /// Runs a read on a thread that may block.
    async fn read<T: Send + 'static>(
        &self,
        operation: &'static str,
        run: impl FnOnce(&Inner) -> Result<T, SegmentError> + Send + 'static,
    ) -> Result<T, VectorStoreError> {
        let inner = Arc::clone(&self.inner);
        match tokio::task::spawn_blocking(move || run(&inner)).await {
            Ok(result) => result.map_err(|error| error.into_store_error(operation, "segments")),
            Err(error) => Err(VectorStoreError::new(ErrorKind::Cancelled, operation, "segments").because(error)),
        }
    }

    async fn maintain<T: Send + 'static>(
        &self,
        operation: &'static str,
        repository: RepositoryId,
        run: impl FnOnce(&Repository) -> Result<T, SegmentError> + Send + 'static,
    ) -> Result<T, MaintenanceError> {
        let folder = self.inner.repository(repository);
        match tokio::task::spawn_blocking(move || run(&folder)).await {
            Ok(result) => result.map_err(|error| error.into_maintenance_error(operation, repository.to_string())),
            Err(error) => {
                Err(MaintenanceError::new(ErrorKind::Cancelled, operation, repository.to_string()).because(error))
            }
        }
    }
}

impl SegmentStore {
    /// The rows with the highest dot products.
    async fn dense(
        &self,
        view: &View,
        scope: &Scope,
        filter: &ChunkFilter,
        vector: &DenseVector,
        limit: usize,
    ) -> Result<Vec<Hit>, VectorStoreError> {
        let (view, scope, filter, vector) = (view.clone(), scope.clone(), filter.clone(), vector.clone());
        let search = move |inner: &Inner| {
            let (filter, snapshots) = (CompiledFilter::new(&filter)?, inner.snapshots(&view, &scope)?);
            let vector = QueryVector::new(inner.kernel, &vector.0);
            Scene { view: &view, filter: &filter, snapshots: &snapshots }.dense(&vector, limit)
        };
        self.read("search_dense", search).await
    }

    /// The rows with the highest sums of weights over the terms.
    async fn sparse(
        &self,
        view: &View,
        scope: &Scope,
        filter: &ChunkFilter,
        terms: &[(u32, u32)],
        limit: usize,
    ) -> Result<Vec<Hit>, VectorStoreError> {
        let (view, scope, filter, terms) = (view.clone(), scope.clone(), filter.clone(), terms.to_vec());
        let search = move |inner: &Inner| {
            let (filter, snapshots) = (CompiledFilter::new(&filter)?, inner.snapshots(&view, &scope)?);
            Scene { view: &view, filter: &filter, snapshots: &snapshots }.sparse(&terms, limit)
        };
        self.read("search_sparse", search).await
    }
}

impl Inner {
    fn repository(&self, id: RepositoryId) -> Arc<Repository> {
        // The map contains only complete values, so the map can be used after another thread has panicked.
        let mut repositories = self.repositories.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || Arc::new(Repository::new(self.root.join(id.to_string())));
        Arc::clone(repositories.entry(id).or_insert_with(new))
    }

    /// Opens the repositories that are in scope and visible in the view.
    fn snapshots(&self, view: &View, scope: &Scope) -> Result<Vec<Arc<Snapshot>>, SegmentError> {
        let ids = match &scope.repositories {
            RepositoryScope::Only(ids) => ids.iter().copied().collect(),
            RepositoryScope::All => stored_repositories(&self.root)?,
        };
        let mut snapshots = Vec::with_capacity(ids.len());
        for id in ids.into_iter().filter(|id| view.sees_repository(*id)) {
            let snapshot = self.repository(id).snapshot()?;
            if snapshot.tenant() == Some(scope.tenant.as_str()) {
                snapshots.push(snapshot);
            }
        }
        Ok(snapshots)
    }

    fn stage(&self, staging: &Staging, staged: StagedPoints) -> Result<(), SegmentError> {
        let (run, part) = (staging.run, staging.part);
        if let Some(point) = staged.points.iter().find(|point| point.chunk.repository != run.repository) {
            let (key, path) = (point.chunk.key, &point.chunk.path);
            return Err(SegmentError::Invalid(format!(
                "chunk {key} of `{path}` belongs to a different repository than the run"
            )));
        }
        let repository = self.repository(run.repository);
        let directory = repository.directory();
        match Segment::open(&directory.join(files::part_name(run, part, 0))) {
            // The part is already staged.
            Ok(_) => return Ok(()),
            Err(SegmentError::Damaged { .. }) => {}
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error),
        }
        if staged.points.is_empty() && staged.retired.is_empty() {
            return Ok(());
        }
        let pieces = pieces(staging, staged)?.into_iter().map(writer::encode).collect::<Result<Vec<_>, _>>()?;
        files::create_directory(directory)?;
        let _lock = maintenance::lock_for_staging(directory)?;
        // If the generation was already published and merged, this writer is late and writes nothing.
        let merged = files::segment_names(directory)?;
        if merged.iter().filter_map(|name| files::newest_of_merged(name)).any(|newest| newest >= run.generation) {
            return Ok(());
        }
        // The first piece is written last, so that its file exists only if all pieces exist.
        for (number, bytes) in pieces.iter().enumerate().rev() {
            files::write(directory, &files::part_name(run, part, number), bytes)?;
        }
        Ok(())
    }
}

/// Splits a part into the contents of files with at most `step_rows` rows each. The first file contains the
/// tombstones. The rows of the part are sorted before the split, in the order that rows have in a file. So
/// each file contains a separate range of the sorted rows.
fn pieces(staging: &Staging, staged: StagedPoints) -> Result<Vec<SegmentContents>, SegmentError> {
    let (run, StagedPoints { points, retired }) = (staging.run, staged);
    let mut rows: Vec<Row> = points.into_iter().map(|point| Row { generation: run.generation, point }).collect();
    writer::common_dimensions(&rows)?;
    writer::order(&mut rows);
    let num_pieces = rows.len().div_ceil(maintenance::TIERS.step_rows as usize).max(1);
    let size = rows.len().div_ceil(num_pieces).max(1);
    let contents = |rows| SegmentContents {
        tenant: staging.tenant.clone(),
        repository: run.repository,
        rows,
        tombstones: Vec::new(),
        replaces: Vec::new(),
    };
    let mut pieces = Vec::with_capacity(num_pieces);
    while rows.len() > size {
        let rest = rows.split_off(size);
        pieces.push(contents(std::mem::replace(&mut rows, rest)));
    }
    pieces.push(contents(rows));
    pieces[0].tombstones = retired.into_iter().map(|key| Tombstone { key, generation: run.generation }).collect();
    Ok(pieces)
}

/// Repositories that have a folder, sorted.
fn stored_repositories(root: &Path) -> Result<Vec<RepositoryId>, SegmentError> {
    let names = files::directory_names(root)?;
    let mut ids: Vec<RepositoryId> = names.iter().filter_map(|name| Key128::parse(name)).map(RepositoryId).collect();
    ids.sort_unstable();
    Ok(ids)
}

#[async_trait]
impl ChunkPlaces for SegmentStore {
    async fn places(
        &self,
        view: &View,
        scope: &Scope,
        filter: &ChunkFilter,
    ) -> Result<Vec<ChunkPlace>, VectorStoreError> {
        let (view, scope, filter) = (view.clone(), scope.clone(), filter.clone());
        let places = move |inner: &Inner| {
            let (filter, snapshots) = (CompiledFilter::new(&filter)?, inner.snapshots(&view, &scope)?);
            Scene { view: &view, filter: &filter, snapshots: &snapshots }.places()
        };
        self.read("places", places).await
    }
}

#[async_trait]
impl VectorStore for SegmentStore {
    async fn stage(&self, staging: &Staging, staged: StagedPoints) -> Result<(), VectorStoreError> {
        let staging = staging.clone();
        self.read("stage", move |inner| inner.stage(&staging, staged)).await
    }

    async fn search(
        &self,
        view: &View,
        scope: &Scope,
        filter: &ChunkFilter,
        lists: ListsRequest<'_>,
    ) -> Result<HitLists, VectorStoreError> {
        let ListsRequest { dense, sparse: (terms, limit), num_records } = lists;
        let dense = async {
            match dense {
                Some((vector, limit)) => self.dense(view, scope, filter, vector, limit).await,
                None => Ok(Vec::new()),
            }
        };
        let sparse = async {
            match terms {
                [] => Ok(Vec::new()),
                terms => self.sparse(view, scope, filter, terms, limit).await,
            }
        };
        let (dense, sparse) = tokio::try_join!(dense, sparse)?;
        let lists = HitLists { dense, sparse, records: Vec::new() };
        let first = lists.first_hits(num_records);
        let records = if first.is_empty() { Vec::new() } else { self.fetch(view, scope, &first, false).await? };
        Ok(HitLists { records, ..lists })
    }

    async fn fetch(
        &self,
        view: &View,
        scope: &Scope,
        keys: &[(RepositoryId, ChunkKey)],
        with_text: bool,
    ) -> Result<Vec<ChunkRecord>, VectorStoreError> {
        let (view, mut scope, keys) = (view.clone(), scope.clone(), keys.to_vec());
        // Opens only the repositories of the keys.
        let named = keys.iter().map(|(repository, _)| *repository).filter(|id| scope.contains(*id)).collect();
        scope.repositories = RepositoryScope::Only(named);
        let fetch = move |inner: &Inner| read::fetch(&inner.snapshots(&view, &scope)?, &view, &keys, with_text);
        self.read("fetch", fetch).await
    }

    async fn scroll(
        &self,
        view: &View,
        scope: &Scope,
        repository: RepositoryId,
        from: u64,
    ) -> Result<ChunkPage, VectorStoreError> {
        if !scope.contains(repository) {
            return Ok(ChunkPage::default());
        }
        let (view, scope) = (view.clone(), Scope::only(scope.tenant.clone(), [repository]));
        self.read("scroll", move |inner| read::scroll(&inner.snapshots(&view, &scope)?, &view, from)).await
    }

    async fn count(&self, view: &View, scope: &Scope, filter: &ChunkFilter) -> Result<u64, VectorStoreError> {
        let (view, scope, filter) = (view.clone(), scope.clone(), filter.clone());
        let count = move |inner: &Inner| {
            let (filter, snapshots) = (CompiledFilter::new(&filter)?, inner.snapshots(&view, &scope)?);
            Ok(Scene { view: &view, filter: &filter, snapshots: &snapshots }.count())
        };
        self.read("count", count).await
    }
}

#[async_trait]
impl Generations for SegmentStore {
    async fn sweep_retired(
        &self,
        repository: RepositoryId,
        published: &[GenerationId],
    ) -> Result<u64, MaintenanceError> {
        let published = published.to_vec();
        let sweep = move |folder: &Repository| maintenance::sweep_retired(folder, &published);
        self.maintain("sweep_retired", repository, sweep).await
    }

    async fn sweep_unseen(
        &self,
        repository: RepositoryId,
        published: &[GenerationId],
        views: &[View],
    ) -> Result<u64, MaintenanceError> {
        let (published, views) = (published.to_vec(), views.to_vec());
        let sweep = move |folder: &Repository| maintenance::sweep_unseen(folder, &published, &views);
        self.maintain("sweep_unseen", repository, sweep).await
    }

    async fn sweep_aborted(&self, repository: RepositoryId, aborted: GenerationId) -> Result<u64, MaintenanceError> {
        self.maintain("sweep_aborted", repository, move |folder| maintenance::sweep_aborted(folder, aborted)).await
    }

    async fn remove_repository(
        &self,
        tenant: &Tenant,
        repository: RepositoryId,
        before: GenerationId,
    ) -> Result<(), MaintenanceError> {
        let tenant = tenant.clone();
        let remove = move |folder: &Repository| maintenance::remove(folder, &tenant, before);
        self.maintain("remove_repository", repository, remove).await
    }

    async fn compact(&self, repository: RepositoryId) -> Result<bool, MaintenanceError> {
        self.maintain("compact", repository, maintenance::compact).await
    }

    async fn verify(&self, repository: RepositoryId) -> Result<(), MaintenanceError> {
        self.maintain("verify", repository, maintenance::verify).await
    }
}
