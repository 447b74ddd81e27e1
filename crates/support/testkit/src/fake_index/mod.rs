//! A small index in memory, with all ports that are needed to answer questions.
//!
//! Tests first add files, symbols and edges. After that, they only read the index, so staging and sweeping
//! return errors. The score of a chunk is the number of terms that the chunk and the question have in common.
//! The order of results is total, as the ports require.

mod graph;
mod names;
mod texts;
mod vectors;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use cairn_domain::{
    ArtifactRef, BlobId, ChunkKey, ChunkKind, ChunkRecord, ContentHash, DenseVector, Digest, Digester, EdgeKey,
    EdgeKind, EdgeRecord, FactsKey, FailureCode, GenerationId, InputType, Lane, LineSpan, ManifestEntry, ModelId,
    NodeKey, NodeKind, NodeRecord, Outcome, PartId, PatternRecord, PublishedSeq, Reason, RepoPath, RepositoryId,
    RepositoryName, Resolution, RunId, RunState, Scope, Slot, Source, SourceText, SymbolEntry, SymbolKind,
    SyncProgress, Tenant, View,
};
use cairn_ports::{
    BlobStore, Catalogue, CatalogueError, Embedder, EmbedderError, ErrorKind, Generations, LedgerError, LedgerRead,
    MaintenanceError, MaySee, PartRecord, PartStatus, PublishedGeneration, RepositoryRecord, RunRecord, TextFile,
};
use cairn_ranking::TermCounter;
use cairn_runs::SyncOutcome;
use cairn_wire::{ArtifactKind, Manifest, PackWriter, RunResult, encode};

use crate::{MemoryBlobs, manifest_entry};

/// The generation of a run that is newer than a published run is the generation of the published run plus
/// this number.
const NEWER_GENERATION: u64 = 1_000;
/// The time at which the repositories of a fake index were indexed.
pub const INDEXED_AT_MS: i64 = 1_700_000_000_000;

/// An index in memory.
pub struct FakeIndex {
    pub blobs: Arc<MemoryBlobs>,
    model: ModelId,
    repositories: Vec<FakeRepository>,
    runs: Vec<RunRecord>,
}

struct FakeRepository {
    record: RepositoryRecord,
    published: Option<PublishedGeneration>,
    chunks: Vec<ChunkRecord>,
    nodes: Vec<NodeRecord>,
    edges: Vec<EdgeRecord>,
    patterns: Vec<PatternRecord>,
    symbols: Vec<SymbolEntry>,
    files: Vec<RepoPath>,
    texts: Vec<TextFile>,
}

/// The content of a repository in a fake index, as a test describes it.
pub struct FakeContent {
    id: RepositoryId,
    tenant: Tenant,
    name: RepositoryName,
    commit: String,
    texts: BTreeMap<RepoPath, (String, String)>,
    skipped: Vec<(RepoPath, Reason)>,
    symbols: Vec<SymbolEntry>,
    /// For each file that is not divided into one chunk per symbol: the lines of its chunks.
    divided: BTreeMap<RepoPath, Vec<LineSpan>>,
    edges: Vec<EdgeRecord>,
    /// The ecosystems and names of the packages on which the repository depends.
    packages: Vec<(String, String)>,
    modules: Vec<String>,
    patterns: Vec<PatternRecord>,
    /// `None` for a repository with a run. `Some(None)` if there is no run because the sync is still waiting;
    /// `Some(Some(outcome))` if there is no run because the sync failed with this outcome.
    unindexed: Option<Option<SyncOutcome>>,
    /// The commit and the state of a run that is newer than the published run.
    newer_run: Option<(String, RunState)>,
    /// The time of the last successful sync, if a sync has ended successfully.
    synced_at_ms: Option<i64>,
}

impl FakeContent {
    /// A repository of the local tenant. `commit` is the commit id that the stamps of answers show.
    pub fn new(name: &str, commit: &str) -> Self {
        Self::of(Tenant::local(), name, commit)
    }

    /// A repository of the given tenant.
    pub fn of(tenant: Tenant, name: &str, commit: &str) -> Self {
        let name = RepositoryName::new(name);
        Self {
            id: RepositoryId::derive(&tenant, &name),
            tenant,
            name,
            commit: commit.to_owned(),
            texts: BTreeMap::new(),
            skipped: Vec::new(),
            symbols: Vec::new(),
            divided: BTreeMap::new(),
            edges: Vec::new(),
            packages: Vec::new(),
            modules: Vec::new(),
            patterns: Vec::new(),
            unindexed: None,
            newer_run: None,
            synced_at_ms: None,
        }
    }

    /// Adds a run that is newer than the published run. The new run began 1 s after the publication and,
    /// unless it is still running, ended 2 s after the publication.
    #[must_use]
    pub fn newer_run(self, commit: &str, state: RunState) -> Self {
        Self { newer_run: Some((commit.to_owned(), state)), ..self }
    }

    /// Records that a sync of the repository ended successfully `after_ms` milliseconds after the
    /// publication.
    #[must_use]
    pub fn synced_after(self, after_ms: i64) -> Self {
        Self { synced_at_ms: Some(INDEXED_AT_MS + after_ms), ..self }
    }

    /// Marks the repository as registered but not indexed, because its sync is waiting.
    #[must_use]
    pub fn waiting(self) -> Self {
        Self { unindexed: Some(None), ..self }
    }

    fn synced(&self) -> Option<SyncOutcome> {
        self.synced_at_ms.map(|at_ms| SyncOutcome { at_ms, failure: None })
    }

    /// Marks the repository as registered but not indexed, because its sync failed with this code and this
    /// chain of causes.
    #[must_use]
    pub fn failed(self, code: &str, chain: &str) -> Self {
        let failure = Some((FailureCode::of_stored(code), chain.to_owned()));
        Self { unindexed: Some(Some(SyncOutcome { at_ms: INDEXED_AT_MS, failure })), ..self }
    }

    #[must_use]
    pub fn file(mut self, path: &str, language: &str, text: &str) -> Self {
        self.texts.insert(parsed(path), (language.to_owned(), text.to_owned()));
        self
    }

    #[must_use]
    pub fn skipped(mut self, path: &str, reason: Reason) -> Self {
        self.skipped.push((parsed(path), reason));
        self
    }

    /// Adds a symbol with its qualified name, in a file that was added before.
    #[must_use]
    pub fn symbol(mut self, path: &str, qualified_name: &str, kind: SymbolKind, lines: (u32, u32)) -> Self {
        let path = parsed(path);
        let language = self.texts.get(&path).map_or_else(String::new, |(language, _)| language.clone());
        let module_path = path.directory().replace('/', ".");
        let entry = SymbolEntry {
            name: qualified_name.rsplit('.').next().unwrap_or(qualified_name).to_owned(),
            qualified_name: qualified_name.to_owned(),
            kind,
            line: lines.0,
            span: LineSpan::new(lines.0, lines.1),
            chunk: None,
            node: NodeKey::symbol(self.id, &path, qualified_name, kind, 0),
            path,
            language,
            module_path,
            exported: true,
            documented: false,
            is_test: false,
        };
        self.symbols.push(entry);
        self
    }

    /// Divides a file into chunks with these first and last lines, instead of one chunk for each symbol. The
    /// symbol of a chunk is the first symbol that contains all lines of the chunk. A chunk without such a
    /// symbol is a group of several symbols.
    #[must_use]
    pub fn divided(mut self, path: &str, chunks: &[(u32, u32)]) -> Self {
        let chunks = chunks.iter().map(|(first, last)| LineSpan::new(*first, *last)).collect();
        self.divided.insert(parsed(path), chunks);
        self
    }

    /// Adds a package on which the repository depends.
    #[must_use]
    pub fn package(mut self, ecosystem: &str, name: &str) -> Self {
        self.packages.push((ecosystem.to_owned(), name.to_owned()));
        let (root, package) = (NodeKey::repository(self.id), NodeKey::package(self.id, ecosystem, name));
        self.edge_between(root, EdgeKind::DependsOn, package, 0, 100)
    }

    /// Adds a module that contains files that were added before.
    #[must_use]
    pub fn module(mut self, name: &str, files: &[&str]) -> Self {
        self.modules.push(name.to_owned());
        let module = NodeKey::module(self.id, name);
        files.iter().fold(self, |content, file| {
            let file = content.node(file);
            content.edge_between(module, EdgeKind::Contains, file, 0, 100)
        })
    }

    /// The node of a symbol, a file or a package that was added before, for example `Parser.parse`,
    /// `src/api.rs` or `npm:redis`.
    fn node(&self, name: &str) -> NodeKey {
        let symbol = self.symbols.iter().find(|symbol| symbol.qualified_name == name).map(|symbol| symbol.node);
        let file = || self.texts.keys().find(|path| path.as_str() == name).map(|path| NodeKey::file(self.id, path));
        let package = || {
            let (ecosystem, name) = name.split_once(':')?;
            let is_known = self.packages.iter().any(|known| known.0 == ecosystem && known.1 == name);
            is_known.then(|| NodeKey::package(self.id, ecosystem, name))
        };
        symbol.or_else(file).or_else(package).unwrap_or_else(|| panic!("no node {name} was added"))
    }

    /// Adds an edge between two symbols, files or packages that were added before.
    #[must_use]
    pub fn edge(self, from: &str, kind: EdgeKind, to: &str, line: u32, confidence_percent: u8) -> Self {
        let (source, target) = (self.node(from), self.node(to));
        self.edge_between(source, kind, target, line, confidence_percent)
    }

    fn edge_between(
        mut self,
        source: NodeKey,
        kind: EdgeKind,
        target: NodeKey,
        line: u32,
        confidence_percent: u8,
    ) -> Self {
        self.edges.push(EdgeRecord {
            key: EdgeKey::derive(self.id, source, kind, target, self.edges.len() as u32),
            owner: self.id,
            kind,
            source,
            target,
            line,
            resolution: if confidence_percent == 100 { Resolution::Exact } else { Resolution::Heuristic },
            confidence_percent,
        });
        self
    }

    #[must_use]
    pub fn pattern(mut self, pattern: PatternRecord) -> Self {
        self.patterns.push(pattern);
        self
    }

    /// One chunk for each symbol, for each pattern, and for each file without symbols.
    fn chunks(&self) -> Vec<ChunkRecord> {
        let mut chunks = Vec::new();
        for (path, (language, text)) in &self.texts {
            let of_file: Vec<_> = self.symbols.iter().filter(|symbol| symbol.path == *path).collect();
            if of_file.is_empty() {
                let num_lines = text.lines().count().max(1) as u32;
                chunks.push(self.chunk(path, language, LineSpan::new(1, num_lines), text.clone(), None));
            }
            for pattern in &self.patterns {
                chunks.extend(self.pattern_chunk(pattern).filter(|chunk| chunk.path == *path));
            }
            let lines_of = |span: LineSpan| -> String {
                let lines = text.lines().skip(span.start as usize - 1).take(span.num_lines() as usize);
                lines.map(|line| format!("{line}\n")).collect()
            };
            match self.divided.get(path) {
                Some(spans) => chunks.extend(spans.iter().map(|span| {
                    let contains =
                        |symbol: &&&SymbolEntry| symbol.span.contains(span.start) && symbol.span.contains(span.end);
                    let symbol = of_file.iter().find(contains).copied();
                    let chunk = self.chunk(path, language, *span, lines_of(*span), symbol);
                    let is_group = symbol.is_none() && !of_file.is_empty();
                    ChunkRecord { kind: if is_group { ChunkKind::Group } else { chunk.kind }, ..chunk }
                })),
                None => chunks.extend(
                    of_file
                        .into_iter()
                        .map(|symbol| self.chunk(path, language, symbol.span, lines_of(symbol.span), Some(symbol))),
                ),
            }
        }
        chunks
    }

    fn chunk(
        &self,
        path: &RepoPath,
        language: &str,
        span: LineSpan,
        text: String,
        symbol: Option<&SymbolEntry>,
    ) -> ChunkRecord {
        let content_hash = ContentHash::of(&text);
        ChunkRecord {
            key: ChunkKey::derive(self.id, path, content_hash, span.start),
            repository: self.id,
            path: path.clone(),
            language: language.to_owned(),
            kind: match symbol.map(|symbol| symbol.kind.is_container()) {
                Some(true) => ChunkKind::Class,
                Some(false) => ChunkKind::Function,
                None if path.file_name() == "AGENTS.md" => ChunkKind::Navigation,
                None => ChunkKind::Section,
            },
            span,
            symbol: symbol.map(|symbol| symbol.qualified_name.clone()),
            symbol_kind: symbol.map(|symbol| symbol.kind),
            heading: None,
            header: String::new(),
            text,
            content_hash,
            module_path: path.directory().replace('/', "."),
            is_test: false,
            exported: true,
            documented: false,
            has_secrets: false,
            weight_percent: 100,
            tags: Arc::default(),
            changed_at: None,
        }
    }

    fn pattern_chunk(&self, pattern: &PatternRecord) -> Option<ChunkRecord> {
        let member = pattern.members.get(pattern.canonical as usize)?;
        let text = format!("{}: {}\n", pattern.name, pattern.description);
        let chunk = self.chunk(&member.path, &pattern.language, member.span, text, None);
        Some(ChunkRecord { kind: ChunkKind::Pattern, symbol: Some(pattern.name.clone()), ..chunk })
    }

    fn nodes(&self) -> Vec<NodeRecord> {
        let node = |key, kind, name: &str, qualified_name: &str, path: Option<&RepoPath>| NodeRecord {
            key,
            repository: self.id,
            kind,
            name: name.to_owned(),
            qualified_name: qualified_name.to_owned(),
            path: path.cloned(),
            span: None,
            symbol_kind: None,
            signature: String::new(),
            doc: None,
            visibility: None,
            exported: true,
            is_test: false,
            language: None,
            module_path: String::new(),
            decorators: Vec::new(),
        };
        let files = self.texts.keys().map(|path| {
            node(NodeKey::file(self.id, path), NodeKind::File, path.file_name(), path.as_str(), Some(path))
        });
        let symbols = self.symbols.iter().map(|symbol| NodeRecord {
            span: Some(symbol.span),
            symbol_kind: Some(symbol.kind),
            ..node(symbol.node, NodeKind::Symbol, &symbol.name, &symbol.qualified_name, Some(&symbol.path))
        });
        let package = |(ecosystem, name): &(String, String)| {
            let key = NodeKey::package(self.id, ecosystem, name);
            node(key, NodeKind::Package, name, &format!("{ecosystem}:{name}"), None)
        };
        let (name, root) = (self.name.as_str(), NodeKey::repository(self.id));
        let repository = node(root, NodeKind::Repository, name, name, None);
        let module = |name: &String| node(NodeKey::module(self.id, name), NodeKind::Module, name, name, None);
        let modules = self.modules.iter().map(module);
        files.chain(symbols).chain(self.packages.iter().map(package)).chain(modules).chain([repository]).collect()
    }
}

fn parsed(path: &str) -> RepoPath {
    RepoPath::parse(path).unwrap_or_else(|error| panic!("{error}"))
}

impl FakeIndex {
    pub fn empty() -> Self {
        Self {
            blobs: Arc::new(MemoryBlobs::new()),
            model: ModelId { name: "fake-1".to_owned(), dimensions: 1 },
            repositories: Vec::new(),
            runs: Vec::new(),
        }
    }

    pub async fn new(contents: Vec<FakeContent>) -> anyhow::Result<Self> {
        let mut index = Self::empty();
        for (generation, content) in (1..).zip(contents) {
            index.add(content, generation).await?;
        }
        index.repositories.sort_by(|left, right| left.record.name.cmp(&right.record.name));
        Ok(index)
    }

    async fn add(&mut self, content: FakeContent, generation: u64) -> anyhow::Result<()> {
        let pack = self.put_pack(&content).await?;
        let manifest = self.put_manifest(&content, &pack).await?;
        let run = RunId { repository: content.id, generation: GenerationId(generation) };
        let chunks = content.chunks();
        let result = run_result(&content, chunks.len());
        let record_of_run = run_record(&content, run, &manifest, &result);
        let published = PublishedGeneration {
            run,
            seq: PublishedSeq(generation),
            manifest,
            revision: content.commit.clone(),
            branch: None,
            indexed_at_ms: INDEXED_AT_MS,
            state: RunState::Published,
            result,
            model: self.model.name.clone(),
        };
        let source = Source::Directory { path: format!("/somewhere/{}", content.name) };
        let record = RepositoryRecord {
            settings: "{}".to_owned(),
            last_sync: content.unindexed.clone().flatten().or(content.synced()),
            pending_sync: (content.unindexed == Some(None)).then(SyncProgress::default),
            ..RepositoryRecord::new(content.tenant.clone(), content.name.clone(), source)
        };
        let is_indexed = content.unindexed.is_none();
        let newer = content.newer_run.clone().map(|(revision, state)| RunRecord {
            id: RunId { generation: GenerationId(NEWER_GENERATION + generation), ..run },
            previous: Some(run.generation),
            revision,
            state,
            started_at_ms: INDEXED_AT_MS + 1_000,
            ended_at_ms: state.is_finished().then_some(INDEXED_AT_MS + 2_000),
            ..record_of_run.clone()
        });
        self.runs.extend(is_indexed.then_some(record_of_run));
        self.runs.extend(newer);
        let nodes = content.nodes();
        self.repositories.push(FakeRepository {
            record,
            published: is_indexed.then_some(published),
            nodes,
            files: content.texts.keys().cloned().collect(),
            texts: texts::files(&content, &Arc::new(pack)),
            symbols: content.symbols.into_iter().map(|symbol| shown_by(symbol, &chunks)).collect(),
            chunks,
            edges: content.edges,
            patterns: content.patterns,
        });
        Ok(())
    }

    async fn put_pack(&self, content: &FakeContent) -> anyhow::Result<ArtifactRef> {
        let mut pack = PackWriter::new(ArtifactKind::SourcePack);
        for (path, (language, text)) in &content.texts {
            pack.push(&SourceText {
                facts_key: FactsKey(Digester::new("fake").text(path.as_str()).key()),
                blob: BlobId([1; 20]),
                language: Some(language.clone()),
                text: text.clone(),
                secrets: Vec::new(),
            });
        }
        self.put(&format!("packs/{}", content.id), pack.finish()).await
    }

    async fn put_manifest(&self, content: &FakeContent, packs: &ArtifactRef) -> anyhow::Result<ArtifactRef> {
        let texts = content.texts.iter().zip(0..).map(|((path, (language, text)), index)| ManifestEntry {
            language: Some(language.clone()),
            source: Some(Slot { artifact: packs.clone(), index }),
            num_lines: text.lines().count() as u32,
            ..manifest_entry(path.clone(), Outcome::Indexed(None))
        });
        let skipped =
            content.skipped.iter().map(|(path, reason)| manifest_entry(path.clone(), Outcome::Skipped(*reason)));
        let mut entries: Vec<ManifestEntry> = texts.chain(skipped).collect();
        entries.sort_by(|left, right| left.path.cmp(&right.path));
        let mut counter = TermCounter::default();
        content.chunks().iter().for_each(|chunk| counter.begin(chunk, &vectors::terms_of(chunk)));
        let counts = encode(ArtifactKind::TermCounts, &counter.finish());
        let terms = vec![self.put(&format!("terms/{}", content.id), counts).await?];
        let manifest = Manifest { entries, terms, ..Manifest::default() };
        self.put(&format!("manifests/{}", content.id), encode(ArtifactKind::Manifest, &manifest)).await
    }

    async fn put(&self, key: &str, bytes: Vec<u8>) -> anyhow::Result<ArtifactRef> {
        let hash = *ContentHash::of_bytes(&bytes).0.first_chunk().unwrap_or(&[0; 32]);
        let reference = ArtifactRef { key: key.to_owned(), size_bytes: bytes.len() as u64, hash };
        self.blobs.put(key, Bytes::from(bytes)).await?;
        Ok(reference)
    }

    /// The repositories that are in scope.
    fn within<'a>(&'a self, scope: &'a Scope) -> impl Iterator<Item = &'a FakeRepository> {
        let is_seen = |record: &RepositoryRecord| record.tenant == scope.tenant && scope.contains(record.id);
        self.repositories.iter().filter(move |repository| is_seen(&repository.record))
    }
}

/// Sets the chunk key of a symbol to the key of the smallest chunk that contains the line of the symbol's
/// name.
fn shown_by(symbol: SymbolEntry, chunks: &[ChunkRecord]) -> SymbolEntry {
    let shows = |chunk: &&ChunkRecord| chunk.path == symbol.path && chunk.span.contains(symbol.line);
    let smallest = chunks.iter().filter(shows).min_by_key(|chunk| chunk.span.num_lines());
    SymbolEntry { chunk: smallest.map(|chunk| chunk.key), ..symbol }
}

#[async_trait]
impl Catalogue for FakeIndex {
    async fn register(&self, repository: RepositoryRecord) -> Result<(), CatalogueError> {
        Err(CatalogueError::new(ErrorKind::Forbidden, "register", repository.name.as_str()))
    }

    async fn register_listed(&self, repository: RepositoryRecord) -> Result<(), CatalogueError> {
        self.register(repository).await
    }

    async fn change_settings(&self, repository: RepositoryId, _: &str, _: &str) -> Result<(), CatalogueError> {
        Err(CatalogueError::new(ErrorKind::Forbidden, "change_settings", repository.to_string()))
    }

    async fn repositories(&self, scope: &Scope) -> Result<Vec<RepositoryRecord>, CatalogueError> {
        Ok(self.within(scope).map(|repository| repository.record.clone()).collect())
    }

    async fn visible(&self, tenant: &Tenant, may_see: &MaySee<'_>) -> Result<Vec<RepositoryRecord>, CatalogueError> {
        let all = Scope::all(tenant.clone());
        let seen = self.within(&all).filter(|repository| may_see(&repository.record.name));
        Ok(seen.map(|repository| repository.record.clone()).collect())
    }

    async fn view(&self) -> Result<View, CatalogueError> {
        let next_gen = self.repositories.len() as u64 + 1;
        Ok(View { seq: PublishedSeq(next_gen - 1), next_gen, ..View::default() })
    }

    async fn view_at(&self, seq: PublishedSeq) -> Result<Option<View>, CatalogueError> {
        Ok(Some(self.view().await?).filter(|view| view.seq == seq))
    }

    async fn published_of(
        &self,
        _view: &View,
        repositories: &[RepositoryId],
    ) -> Result<Vec<PublishedGeneration>, CatalogueError> {
        let found = self.repositories.iter().filter(|known| repositories.contains(&known.record.id));
        Ok(found.filter_map(|known| known.published.clone()).collect())
    }

    async fn publish(&self, published: PublishedGeneration) -> Result<PublishedSeq, CatalogueError> {
        Err(CatalogueError::new(ErrorKind::Forbidden, "publish", published.run.to_string()))
    }

    async fn delete(&self, repository: RepositoryId, _now_ms: i64) -> Result<GenerationId, CatalogueError> {
        Err(CatalogueError::new(ErrorKind::Forbidden, "delete", repository.to_string()))
    }
}

#[async_trait]
impl LedgerRead for FakeIndex {
    async fn run(&self, run: RunId) -> Result<RunRecord, LedgerError> {
        let found = self.runs.iter().find(|record| record.id == run);
        found.cloned().ok_or_else(|| LedgerError::new(ErrorKind::NotFound, "run", run.to_string()))
    }

    async fn part_status(&self, run: RunId, _: PartId) -> Result<PartStatus, LedgerError> {
        let state = self.run(run).await?.state;
        Ok(PartStatus { state, is_ended: true, aborted: BTreeSet::new() })
    }

    async fn runs(&self, repository: Option<RepositoryId>, limit: usize) -> Result<Vec<RunRecord>, LedgerError> {
        let newest_first = self.runs.iter().rev();
        let asked = newest_first.filter(|run| repository.is_none_or(|repository| run.id.repository == repository));
        Ok(asked.take(limit).cloned().collect())
    }

    async fn runs_of(
        &self,
        repositories: &[RepositoryId],
        of_each: usize,
        in_all: usize,
    ) -> Result<Vec<RunRecord>, LedgerError> {
        let mut found = Vec::new();
        for repository in repositories {
            found.extend(self.runs(Some(*repository), of_each).await?);
        }
        found.sort_by_key(|run| std::cmp::Reverse(run.id.generation));
        found.truncate(in_all);
        Ok(found)
    }

    async fn unfinished(&self) -> Result<Vec<RunRecord>, LedgerError> {
        Ok(self.runs.iter().filter(|run| !run.state.is_finished()).cloned().collect())
    }

    async fn parts(&self, _run: RunId) -> Result<Vec<PartRecord>, LedgerError> {
        Ok(Vec::new())
    }
}

#[async_trait]
impl Embedder for FakeIndex {
    fn model(&self) -> &ModelId {
        &self.model
    }

    /// Returns the same vector for every text, so that dense scores do not influence the order.
    async fn embed(&self, _input_type: InputType, texts: &[&str]) -> Result<Vec<DenseVector>, EmbedderError> {
        Ok(texts.iter().map(|_| DenseVector(vec![1])).collect())
    }
}

fn refused(operation: &'static str, repository: RepositoryId) -> MaintenanceError {
    MaintenanceError::new(ErrorKind::Forbidden, operation, repository.to_string())
}

#[async_trait]
impl Generations for FakeIndex {
    async fn sweep_retired(&self, repository: RepositoryId, _: &[GenerationId]) -> Result<u64, MaintenanceError> {
        Err(refused("sweep_retired", repository))
    }

    async fn sweep_aborted(&self, repository: RepositoryId, _: GenerationId) -> Result<u64, MaintenanceError> {
        Err(refused("sweep_aborted", repository))
    }

    async fn remove_repository(
        &self,
        _: &Tenant,
        repository: RepositoryId,
        _: GenerationId,
    ) -> Result<(), MaintenanceError> {
        Err(refused("remove_repository", repository))
    }

    async fn compact(&self, repository: RepositoryId) -> Result<bool, MaintenanceError> {
        Err(refused("compact", repository))
    }

    async fn verify(&self, _repository: RepositoryId) -> Result<(), MaintenanceError> {
        Ok(())
    }
}

/// A digest for any record. Tests do not use the value of the digest.
fn vector_digest() -> Digest {
    Digester::new("fake-vector").digest()
}

fn run_result(content: &FakeContent, num_chunks: usize) -> RunResult {
    RunResult {
        repository: content.name.to_string(),
        commit: content.commit.clone(),
        files_indexed: content.texts.len() as u64,
        files: BTreeMap::from([("indexed".to_owned(), content.texts.len() as u64)]),
        symbols: content.symbols.len() as u64,
        chunks: num_chunks as u64,
        edges: content.edges.len() as u64,
        patterns: content.patterns.len() as u64,
        indexed_at_ms: INDEXED_AT_MS,
        ..RunResult::default()
    }
}

/// The record of the run that published the content.
fn run_record(content: &FakeContent, run: RunId, manifest: &ArtifactRef, result: &RunResult) -> RunRecord {
    RunRecord {
        tenant: content.tenant.clone(),
        lane: Lane::Bulk,
        id: run,
        previous: None,
        plan: manifest.clone(),
        manifest: manifest.clone(),
        revision: content.commit.clone(),
        branch: None,
        state: RunState::Published,
        num_parts: 3,
        num_ended: 3,
        num_failed: 0,
        result: result.clone(),
        started_at_ms: INDEXED_AT_MS - 1_000,
        progressed_at_ms: INDEXED_AT_MS,
        ended_at_ms: Some(INDEXED_AT_MS),
        message: None,
        postponed: Vec::new(),
    }
}
