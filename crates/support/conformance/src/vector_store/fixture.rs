//! Chunks with names, and with vectors that give predictable scores.

use std::sync::Arc;

use anyhow::{Result, ensure};
use cairn_domain::{
    ChunkKey, ChunkKind, ChunkRecord, ContentHash, DenseVector, LineSpan, Point, RepoPath, RepositoryId, Scope,
    SparseVector, StageName, View,
};
use cairn_ports::{ChunkFilter, Hit, StagedPoints, VectorStore};

use crate::Case;
use crate::case::part;

/// The number of dimensions of the suite's vectors. Some stores need this number when they are created.
pub const DIMENSIONS: usize = 32;
/// A term that every chunk contains with weight 1.
pub(super) const COMMON_TERM: u32 = 7;

/// The data of one check, and the store under test.
pub(super) struct Points<'a> {
    pub(super) store: &'a dyn VectorStore,
    pub(super) case: Case,
}

impl<'a> Points<'a> {
    pub(super) fn new(store: &'a dyn VectorStore, check: &str) -> Self {
        Self { store, case: Case::new(check) }
    }

    /// A chunk at `src/<name>.py` in repository `r`. If the name contains a colon, the text before the colon
    /// is the repository.
    pub(super) fn chunk(&self, name: &str) -> ChunkRecord {
        let (repository, name) = name.split_once(':').unwrap_or(("r", name));
        let repository = self.case.repository(repository);
        let path = RepoPath::parse(&format!("src/{name}.py")).expect("a path");
        let text = format!("def {name}():\n    return {name:?}\n");
        let content_hash = ContentHash::of(&text);
        ChunkRecord {
            key: ChunkKey::derive(repository, &path, content_hash, 0),
            repository,
            path,
            language: "python".to_owned(),
            kind: ChunkKind::Function,
            span: LineSpan::new(1, 2),
            symbol: Some(name.to_owned()),
            symbol_kind: None,
            heading: None,
            header: format!("function {name}"),
            text,
            content_hash,
            module_path: "src".to_owned(),
            is_test: false,
            exported: true,
            documented: false,
            has_secrets: false,
            weight_percent: 100,
            tags: Arc::default(),
            changed_at: None,
        }
    }

    /// A point whose dense score for the vector `probe` is `score`.
    pub(super) fn point(&self, name: &str, score: i8) -> Point {
        place(self.chunk(name), score)
    }

    pub(super) fn points(&self, names: &[&str]) -> Vec<Point> {
        names.iter().map(|name| self.point(name, 1)).collect()
    }

    pub(super) async fn stage(&self, generation: u64, staged: StagedPoints) -> Result<()> {
        self.stage_in("r", generation, staged).await
    }

    pub(super) async fn stage_in(&self, repository: &str, generation: u64, staged: StagedPoints) -> Result<()> {
        let run = self.case.run(repository, generation);
        Ok(self.store.stage(&self.case.staging(run, part(StageName::Embed, 0)), staged).await?)
    }

    /// Stages the chunks `a`, `b` and `c` as generation 1.
    pub(super) async fn stage_basics(&self) -> Result<()> {
        self.stage(1, StagedPoints { points: self.points(&["a", "b", "c"]), retired: Vec::new() }).await
    }

    pub(super) fn r(&self) -> RepositoryId {
        self.case.repository("r")
    }

    pub(super) async fn visible(&self, view: &View) -> Result<Vec<String>> {
        self.visible_in(view, &self.case.scope(), self.r()).await
    }

    /// All records that the view shows for one repository, as sorted texts. The records are read with every
    /// method of the port, and the results of all methods must agree.
    pub(super) async fn visible_in(&self, view: &View, scope: &Scope, repository: RepositoryId) -> Result<Vec<String>> {
        let chunks = scroll(self.store, view, scope, repository).await?;
        let keys: Vec<_> = chunks.iter().map(|(chunk, _)| (repository, chunk.key)).collect();
        let fetched = self.store.fetch(view, scope, &keys, true).await?;
        ensure!(
            fetched.len() == chunks.len(),
            "fetching returned {} chunks, but scrolling returned {}",
            fetched.len(),
            chunks.len()
        );
        let only = Scope {
            repositories: match scope.contains(repository) {
                true => cairn_domain::RepositoryScope::Only([repository].into()),
                false => cairn_domain::RepositoryScope::Only(Default::default()),
            },
            ..scope.clone()
        };
        let filter = ChunkFilter::default();
        let count = self.store.count(view, &only, &filter).await?;
        ensure!(
            count == chunks.len() as u64,
            "the store counted {count} chunks, but scrolling returned {}",
            chunks.len()
        );
        let sorted = |hits: Vec<Hit>| {
            let mut keys: Vec<_> = hits.into_iter().map(|hit| (hit.repository, hit.key)).collect();
            keys.sort();
            keys
        };
        let dense = sorted(self.store.search_dense(view, &only, &filter, &probe(), 10_000).await?);
        let sparse = sorted(self.store.search_sparse(view, &only, &filter, &[(COMMON_TERM, 1)], 10_000).await?);
        let mut keys = keys;
        keys.sort();
        ensure!(dense == keys, "dense search and scrolling returned different chunks");
        ensure!(sparse == keys, "sparse search and scrolling returned different chunks");
        let mut visible: Vec<String> =
            fetched.iter().map(|chunk| format!("{} {} {}", chunk.path, chunk.header, chunk.span.start)).collect();
        visible.sort();
        Ok(visible)
    }
}

/// A point for the chunk. For the vector `probe`, the dense score of the point is `score`.
pub(super) fn place(chunk: ChunkRecord, score: i8) -> Point {
    let mut dense = vec![0; DIMENSIONS];
    dense[0] = score;
    // This component ensures that no vector is zero, and does not change the score, because the probe is zero
    // in this dimension.
    dense[DIMENSIONS - 1] = 100;
    Point { chunk, dense: DenseVector(dense), sparse: SparseVector(vec![(COMMON_TERM, 1)]) }
}

/// A vector that selects the first dimension.
pub(super) fn probe() -> DenseVector {
    let mut dense = vec![0; DIMENSIONS];
    dense[0] = 1;
    DenseVector(dense)
}

/// Reads all pages, and checks that each page starts after the previous page.
pub(super) async fn scroll(
    store: &dyn VectorStore,
    view: &View,
    scope: &Scope,
    repository: RepositoryId,
) -> Result<Vec<(ChunkRecord, cairn_domain::Digest)>> {
    let mut chunks = Vec::new();
    let mut from = 0;
    loop {
        let page = store.scroll(view, scope, repository, from).await?;
        chunks.extend(page.chunks);
        match page.next {
            None => return Ok(chunks),
            Some(next) => {
                ensure!(next > from, "the page at {from} is followed by a page at {next}, which does not come later");
                from = next;
            }
        }
    }
}
