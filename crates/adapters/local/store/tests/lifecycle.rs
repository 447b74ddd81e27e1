//! Tests a run from the lease to the sweep. Also checks the store's files, which the suites of the ports
//! cannot check.

use std::sync::Arc;

use cairn_domain::{
    ArtifactRef, EdgeKey, EdgeKind, EdgeRecord, GenerationId, Lane, NodeKey, NodeKind, NodeRecord, PartEnd, PartId,
    RepoPath, RepositoryId, RepositoryName, Resolution, RunId, RunState, Scope, Source, StageName, SyncProgress,
    Tenant,
};
use cairn_local_store::LocalStore;
use cairn_metastore::Metastore;
use cairn_ports::{
    Catalogue, CatalogueSweep, Direction, ErrorKind, Generations, GraphStore, Ledger, LedgerRead, NewRun,
    PublishedGeneration, RepositoryRecord, StagedGraph, Staging, VectorCache,
};
use cairn_wire::RunResult;

fn runs(store: &LocalStore) -> Metastore {
    Metastore::new(Arc::new(store.clone()))
}

const PUBLISH: PartId = PartId { stage: StageName::Publish, number: 0 };
const LINK: PartId = PartId { stage: StageName::Link, number: 0 };

struct Fixture {
    store: LocalStore,
    directory: tempfile::TempDir,
    repository: RepositoryId,
}

impl Fixture {
    async fn new() -> anyhow::Result<Self> {
        let directory = tempfile::tempdir()?;
        let store = LocalStore::open(directory.path())?;
        let name = RepositoryName::new("one");
        let source = Source::Directory { path: "one".to_owned() };
        let record = RepositoryRecord::new(Tenant::local(), name, source);
        let repository = record.id;
        runs(&store).register(record).await?;
        Ok(Self { store, directory, repository })
    }

    async fn begin(&self, previous: Option<RunId>, now_ms: i64) -> anyhow::Result<RunId> {
        let lease = runs(&self.store).lease(self.repository, now_ms, 60_000).await?;
        let run = NewRun {
            repository: self.repository,
            previous: previous.map(|run| run.generation),
            manifest: artifact("manifest"),
            plan: artifact("plan"),
            parts: vec![LINK, PUBLISH],
            lane: Lane::Bulk,
            window: u32::MAX,
            revision: "r".to_owned(),
            branch: None,
            result: RunResult::default(),
            started_at_ms: now_ms,
        };
        let run = runs(&self.store).begin(lease, run).await?;
        runs(&self.store).renew(lease, now_ms, 0, SyncProgress::default()).await?;
        Ok(run)
    }

    async fn publish(&self, run: RunId, now_ms: i64) -> anyhow::Result<()> {
        runs(&self.store).end_part(run, LINK, PartEnd::Done, String::new(), 0).await?;
        let published = PublishedGeneration {
            run,
            seq: Default::default(),
            manifest: artifact("manifest"),
            revision: "r".to_owned(),
            branch: None,
            indexed_at_ms: now_ms,
            state: RunState::Published,
            result: RunResult::default(),
            model: "model".to_owned(),
        };
        runs(&self.store).publish(published).await?;
        Ok(())
    }

    async fn stage(&self, run: RunId, staged: StagedGraph) -> Result<(), cairn_ports::GraphStoreError> {
        let aborted = runs(&self.store).part_status(run, LINK).await.expect("a run").aborted;
        self.store.stage(&Staging { aborted, ..Staging::new(Tenant::local(), run, LINK) }, staged).await
    }

    fn node(&self, name: &str) -> NodeRecord {
        let path = RepoPath::parse(name).expect("a path");
        NodeRecord {
            key: NodeKey::file(self.repository, &path),
            repository: self.repository,
            kind: NodeKind::File,
            name: name.to_owned(),
            qualified_name: name.to_owned(),
            path: Some(path),
            span: None,
            symbol_kind: None,
            signature: String::new(),
            doc: None,
            visibility: None,
            exported: false,
            is_test: false,
            language: None,
            module_path: String::new(),
            decorators: Vec::new(),
        }
    }

    fn edge(&self, source: &str, target: &str) -> EdgeRecord {
        let (source, target) = (self.node(source).key, self.node(target).key);
        EdgeRecord {
            key: EdgeKey::derive(self.repository, source, EdgeKind::Imports, target, 0),
            owner: self.repository,
            kind: EdgeKind::Imports,
            source,
            target,
            line: 1,
            resolution: Resolution::Exact,
            confidence_percent: 100,
        }
    }

    async fn callers(&self, target: &str) -> anyhow::Result<Vec<String>> {
        let (view, scope) = (runs(&self.store).view().await?, Scope::all(Tenant::local()));
        let key = self.node(target).key;
        let (found, _) = self.store.neighbours(&view, &scope, key, Direction::In, &[], 10).await?;
        Ok(found.into_iter().map(|neighbour| neighbour.node.name).collect())
    }
}

fn artifact(key: &str) -> ArtifactRef {
    ArtifactRef { key: key.to_owned(), size_bytes: 1, hash: [1; 32] }
}

#[tokio::test]
async fn next_run_retires_records_of_an_aborted_run() -> anyhow::Result<()> {
    let fixture = Fixture::new().await?;
    let first = fixture.begin(None, 0).await?;
    let (nodes, edges) = (vec![fixture.node("a"), fixture.node("b")], vec![fixture.edge("a", "b")]);
    fixture.stage(first, StagedGraph { nodes, edges, ..StagedGraph::default() }).await?;
    fixture.publish(first, 0).await?;
    assert_eq!(fixture.callers("b").await?, ["a"]);

    let retired = StagedGraph {
        retired_nodes: vec![fixture.node("a").key],
        retired_edges: vec![fixture.edge("a", "b").key],
        ..StagedGraph::default()
    };
    let second = fixture.begin(Some(first), 1).await?;
    fixture.stage(second, retired.clone()).await?;
    runs(&fixture.store).abort(second, RunState::Cancelled, "by a person", 2).await?;
    assert_eq!(fixture.callers("b").await?, ["a"]);
    let late = fixture.stage(second, retired.clone()).await.expect_err("a late writer");
    assert_eq!(late.kind, ErrorKind::Conflict);

    // The aborted run is not swept yet. The next run can nevertheless retire the same records.
    let third = fixture.begin(Some(first), 3).await?;
    fixture.stage(third, retired).await?;
    fixture.publish(third, 4).await?;
    assert_eq!(fixture.callers("b").await?, Vec::<String>::new());
    let list = runs(&fixture.store).sweep_list(5, 0).await?;
    assert_eq!((list.aborted.as_slice(), list.retired.as_slice()), ([second].as_slice(), [first, third].as_slice()));
    assert_eq!(fixture.store.sweep_aborted(fixture.repository, second.generation).await?, 0);
    fixture.store.sweep_retired(fixture.repository, &[third.generation]).await?;
    runs(&fixture.store).swept(&list, 5, 0).await?;
    fixture.store.verify(fixture.repository).await?;
    assert_eq!(fixture.callers("b").await?, Vec::<String>::new());
    Ok(())
}

#[tokio::test]
async fn second_process_reads_published_records() -> anyhow::Result<()> {
    let fixture = Fixture::new().await?;
    let other = LocalStore::open(fixture.directory.path())?;
    let run = fixture.begin(None, 0).await?;
    assert_eq!(runs(&other).unfinished().await?.len(), 1);
    fixture.publish(run, 0).await?;
    let view = runs(&other).view().await?;
    assert_eq!(view.next_gen, run.generation.0 + 1);
    assert!(runs(&other).published(&view, fixture.repository).await?.is_some());
    Ok(())
}

#[tokio::test]
async fn copied_store_can_be_opened() -> anyhow::Result<()> {
    let fixture = Fixture::new().await?;
    let run = fixture.begin(None, 0).await?;
    fixture.publish(run, 0).await?;
    let elsewhere = tempfile::tempdir()?;
    for entry in std::fs::read_dir(fixture.directory.path())? {
        let entry = entry?;
        std::fs::copy(entry.path(), elsewhere.path().join(entry.file_name()))?;
    }
    let copy = LocalStore::open(elsewhere.path())?;
    assert_eq!(runs(&copy).run(run).await?.state, RunState::Published);
    Ok(())
}

#[tokio::test]
async fn damaged_file_error_names_the_remedy() -> anyhow::Result<()> {
    let directory = tempfile::tempdir()?;
    std::fs::write(directory.path().join("cairn.db"), vec![7; 8192])?;
    check_refused(directory.path(), "delete the index directory and index again")
}

/// Stages nodes and edges that fill several hundred pages.
async fn stage_many(fixture: &Fixture) -> anyhow::Result<usize> {
    let names: Vec<String> = (0..4000).map(|number| format!("folder{}/file{number}.py", number % 50)).collect();
    let nodes: Vec<NodeRecord> = names.iter().map(|name| fixture.node(name)).collect();
    let edges: Vec<EdgeRecord> =
        names.iter().zip(names.iter().skip(7)).map(|(from, to)| fixture.edge(from, to)).collect();
    let run = fixture.begin(None, 0).await?;
    let count = nodes.len() + edges.len();
    fixture.stage(run, StagedGraph { nodes, edges, ..StagedGraph::default() }).await?;
    fixture.publish(run, 0).await?;
    fixture.store.compact(fixture.repository).await?;
    Ok(count)
}

/// Reads and verifies all records. Returns the number of records if no fault is found.
async fn read_all(directory: &std::path::Path, repository: RepositoryId) -> anyhow::Result<usize> {
    let store = LocalStore::open(directory)?;
    let (view, scope) = (runs(&store).view().await?, Scope::all(Tenant::local()));
    let mut count = 0;
    let (mut from_node, mut from_edge) = (Some(0), Some(0));
    while let Some(from) = from_node {
        let page = store.scroll_nodes(&view, &scope, repository, from).await?;
        count += page.items.len();
        from_node = page.next;
    }
    while let Some(from) = from_edge {
        let page = store.scroll_edges(&view, &scope, repository, None, from).await?;
        count += page.items.len();
        from_edge = page.next;
    }
    store.verify(repository).await?;
    Ok(count)
}

#[tokio::test]
async fn any_damage_is_detected_and_names_the_remedy() -> anyhow::Result<()> {
    let fixture = Fixture::new().await?;
    let expected = stage_many(&fixture).await?;
    let Fixture { store, directory, repository } = fixture;
    drop(store);
    let sound = std::fs::read(directory.path().join("cairn.db"))?;
    assert_eq!(read_all(directory.path(), repository).await?, expected);
    let mut num_noticed = 0;
    for round in 0..60 {
        let copy = tempfile::tempdir()?;
        let mut bytes = sound.clone();
        if round % 10 == 0 {
            bytes.truncate(bytes.len() * (round + 5) / 70);
        } else {
            let at = bytes.len() / 61 * round + round * 17;
            bytes[at..at + 48].fill(0xA5);
        }
        std::fs::write(copy.path().join("cairn.db"), bytes)?;
        match read_all(copy.path(), repository).await {
            // Reading can succeed only if no record is damaged.
            Ok(count) => assert_eq!(count, expected, "round {round}: records are missing without an error"),
            Err(error) => {
                let chain = format!("{error:#}");
                assert!(chain.contains("delete the index directory and index again"), "round {round}: {chain}");
                num_noticed += 1;
            }
        }
    }
    assert!(num_noticed > 40, "damage was noticed only {num_noticed} times");
    Ok(())
}

#[tokio::test]
async fn file_of_a_newer_version_is_refused() -> anyhow::Result<()> {
    let directory = tempfile::tempdir()?;
    drop(LocalStore::open(directory.path())?);
    rusqlite::Connection::open(directory.path().join("cairn.db"))?.pragma_update(None, "user_version", 99)?;
    check_refused(directory.path(), "written by a newer Cairn")
}

fn check_refused(directory: &std::path::Path, message: &str) -> anyhow::Result<()> {
    let error = LocalStore::open(directory).err().expect("refused");
    let chain = format!("{:#}", anyhow::Error::from(error));
    assert!(chain.contains(message), "{chain}");
    Ok(())
}

#[tokio::test]
async fn generations_are_never_reused() -> anyhow::Result<()> {
    let fixture = Fixture::new().await?;
    let first = fixture.begin(None, 0).await?;
    fixture.publish(first, 0).await?;
    let deletion = runs(&fixture.store).delete(fixture.repository, 0).await?;
    runs(&fixture.store).swept(&runs(&fixture.store).sweep_list(0, 0).await?, 0, 0).await?;
    let view = runs(&fixture.store).view().await?;
    assert_eq!((view.next_gen, view.hidden.len(), view.hidden_repositories.len()), (2, 0, 0));
    let source = Source::Directory { path: "one".to_owned() };
    let record = RepositoryRecord::new(Tenant::local(), RepositoryName::new("one"), source);
    runs(&fixture.store).register(record).await?;
    let again = fixture.begin(None, 0).await?;
    assert_eq!(again.generation, GenerationId(deletion.0 + 1));
    Ok(())
}

#[tokio::test]
async fn damaged_vector_is_detected_and_recomputed() {
    let directory = tempfile::tempdir().expect("a folder");
    let model = cairn_domain::ModelId { name: "m".to_owned(), dimensions: 16 };
    let key = cairn_domain::VectorKey { model, content: cairn_domain::ContentHash([7; 32]) };
    let vector = cairn_domain::DenseVector((0..16).collect());
    let tenant = cairn_domain::Tenant::local();
    let store = LocalStore::open(directory.path()).expect("a store");
    store.verify_vectors().await.expect("a missing cache is valid");
    VectorCache::put(&store, &tenant, &[(key.clone(), vector.clone())]).await.expect("written");
    store.verify_vectors().await.expect("sound");
    let file = rusqlite::Connection::open(directory.path().join("vectors.db")).expect("the file");
    let flipped = "UPDATE vector SET vector = CAST(x'FF' || substr(vector, 2) AS BLOB)";
    assert_eq!(file.execute(flipped, []).expect("changed"), 1);
    let fault = store.verify_vectors().await.expect_err("damaged");
    let reported = std::error::Error::source(&fault).expect("a cause").to_string();
    assert!(reported.contains("1 vectors") && reported.contains("delete `vectors.db`"), "{reported}");
    let found = VectorCache::get(&store, &tenant, std::slice::from_ref(&key)).await.expect("read");
    assert_eq!(found, [None]);
    VectorCache::put(&store, &tenant, &[(key.clone(), vector.clone())]).await.expect("written");
    store.verify_vectors().await.expect("sound again");
    let found = VectorCache::get(&store, &tenant, &[key]).await.expect("read");
    assert_eq!(found, [Some(vector)]);
}
