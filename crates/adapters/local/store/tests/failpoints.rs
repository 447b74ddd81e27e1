//! For every write, tests a failed commit and a lost reply to the commit. After a retry, the result must be
//! the same as without the fault.
//!
//! Needs the feature `failpoints`.
#![cfg(feature = "failpoints")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result, bail};
use cairn_domain::{
    ArtifactRef, ContentHash, DenseVector, EdgeKey, EdgeKind, EdgeRecord, GenerationId, Lane, ModelId, NodeKey,
    NodeKind, NodeRecord, PartEnd, PartId, RepoPath, RepositoryId, RepositoryName, Resolution, RunId, RunState, Scope,
    Source, StageName, SyncProgress, Tenant, VectorKey,
};
use cairn_local_store::{LocalStore, WRITE_OPERATIONS};
use cairn_metastore::Metastore;
use cairn_ports::{
    Catalogue, CatalogueSweep, Direction, ErrorKind, Generations, GraphStore, Ledger, LedgerRead, NewRun, PortError,
    PublishedGeneration, RepositoryRecord, StagedGraph, Staging, SweepList, VectorCache,
};
use cairn_wire::RunResult;

fn runs(store: &LocalStore) -> Metastore {
    Metastore::new(Arc::new(store.clone()))
}

const LINK: PartId = PartId { stage: StageName::Link, number: 0 };

struct Scenario {
    store: LocalStore,
    repository: RepositoryId,
    num_failures: AtomicU32,
}

impl Scenario {
    /// Repeats a step until it succeeds, as a caller with retries does. `Conflict` after a failure means that
    /// the first attempt succeeded.
    async fn until_done<T, E: PortError>(&self, step: impl AsyncFn() -> Result<T, E>) -> Result<Option<T>> {
        for attempt in 0..3 {
            match step().await {
                Ok(value) => return Ok(Some(value)),
                Err(error) if error.kind() == ErrorKind::Io => self.count_failure(),
                Err(error) if error.kind() == ErrorKind::Conflict && attempt > 0 => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        }
        bail!("every attempt of the operation failed")
    }

    fn count_failure(&self) {
        self.num_failures.fetch_add(1, Ordering::Relaxed);
    }

    fn record(&self) -> RepositoryRecord {
        let source = Source::Directory { path: "one".to_owned() };
        let record = RepositoryRecord::new(Tenant::local(), RepositoryName::new("one"), source);
        assert_eq!(record.id, self.repository);
        record
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

    fn staged(&self) -> StagedGraph {
        let nodes = vec![self.node("a"), self.node("b")];
        let (source, target) = (nodes[0].key, nodes[1].key);
        let edge = EdgeRecord {
            key: EdgeKey::derive(self.repository, source, EdgeKind::Imports, target, 0),
            owner: self.repository,
            kind: EdgeKind::Imports,
            source,
            target,
            line: 1,
            resolution: Resolution::Exact,
            confidence_percent: 100,
        };
        StagedGraph { nodes, edges: vec![edge], ..StagedGraph::default() }
    }

    async fn begin(&self, previous: Option<GenerationId>, now_ms: i64) -> Result<RunId> {
        let store = &self.store;
        // If the reply to the lease request was lost, the next attempt succeeds only after this lease has
        // expired.
        let mut lease = None;
        for at_ms in [now_ms, now_ms + 100] {
            match runs(store).lease(self.repository, at_ms, 50).await {
                Ok(taken) => lease = Some(taken),
                Err(error) if error.kind() == ErrorKind::Io => {
                    self.count_failure();
                    continue;
                }
                Err(error) => return Err(error.into()),
            }
            break;
        }
        let lease = lease.context("no lease")?;
        let artifact = |key: &str| ArtifactRef { key: key.to_owned(), size_bytes: 1, hash: [1; 32] };
        let run = NewRun {
            repository: self.repository,
            previous,
            manifest: artifact("manifest"),
            plan: artifact("plan"),
            parts: vec![LINK],
            lane: Lane::Bulk,
            window: u32::MAX,
            revision: "r".to_owned(),
            branch: None,
            result: RunResult::default(),
            started_at_ms: now_ms,
        };
        let begun = self.until_done(async || runs(store).begin(lease, run.clone()).await).await?;
        self.until_done(async || runs(store).renew(lease, now_ms, 0, SyncProgress::default()).await).await?;
        match begun {
            Some(run) => Ok(run),
            None => Ok(runs(store).unfinished().await?.first().context("no run")?.id),
        }
    }

    fn publication(&self, run: RunId) -> PublishedGeneration {
        PublishedGeneration {
            run,
            seq: Default::default(),
            manifest: ArtifactRef { key: "manifest".to_owned(), size_bytes: 1, hash: [1; 32] },
            revision: "r".to_owned(),
            branch: None,
            indexed_at_ms: 10,
            state: RunState::Published,
            result: RunResult::default(),
            model: "m".to_owned(),
        }
    }

    /// Performs every kind of write, and repeats each write until it succeeds. Returns the visible records
    /// after each write.
    async fn play(&self) -> Result<Vec<String>> {
        let (store, repository) = (&self.store, self.repository);
        let mut seen = Vec::new();
        self.until_done(async || runs(store).register(self.record()).await).await?;
        let first = self.begin(None, 1000).await?;
        let tenant = Tenant::local();
        self.until_done(async || store.stage(&Staging::new(tenant.clone(), first, LINK), self.staged()).await).await?;
        seen.push(self.visible_records().await?);
        self.until_done(async || runs(store).end_part(first, LINK, PartEnd::Done, String::new(), 0).await).await?;
        self.until_done(async || runs(store).publish(self.publication(first)).await).await?;
        seen.push(self.visible_records().await?);

        let second = self.begin(Some(first.generation), 2000).await?;
        let retired = StagedGraph { retired_nodes: vec![self.node("a").key], ..StagedGraph::default() };
        self.until_done(async || store.stage(&Staging::new(tenant.clone(), second, LINK), retired.clone()).await)
            .await?;
        self.until_done(async || runs(store).abort(second, RunState::Cancelled, "", 2001).await).await?;
        self.until_done(async || store.sweep_aborted(repository, second.generation).await).await?;
        let aborted = SweepList { aborted: vec![second], ..SweepList::default() };
        self.until_done(async || runs(store).swept(&aborted, 2001, 0).await).await?;
        seen.push(self.visible_records().await?);

        let third = self.begin(Some(first.generation), 3000).await?;
        self.until_done(async || store.stage(&Staging::new(tenant.clone(), third, LINK), retired.clone()).await)
            .await?;
        self.until_done(async || runs(store).end_part(third, LINK, PartEnd::Done, String::new(), 0).await).await?;
        self.until_done(async || runs(store).publish(self.publication(third)).await).await?;
        self.until_done(async || store.sweep_retired(repository, &[third.generation]).await).await?;
        let retired = SweepList { retired: vec![third], ..SweepList::default() };
        self.until_done(async || runs(store).swept(&retired, 3001, 0).await).await?;
        self.until_done(async || store.compact(repository).await).await?;
        seen.push(self.visible_records().await?);
        store.verify(repository).await?;

        self.play_vectors(&mut seen).await?;
        let deletion =
            self.until_done(async || runs(store).delete(repository, 9000).await).await?.context("no deletion")?;
        self.until_done(async || store.remove_repository(&tenant, repository, deletion).await).await?;
        let deleted = SweepList { deleted: vec![(tenant.clone(), repository, deletion)], ..SweepList::default() };
        self.until_done(async || runs(store).swept(&deleted, 9000, 0).await).await?;
        seen.push(self.visible_records().await?);
        Ok(seen)
    }

    async fn play_vectors(&self, seen: &mut Vec<String>) -> Result<()> {
        let (store, tenant) = (&self.store, Tenant::local());
        let model = ModelId { name: "m".to_owned(), dimensions: 2 };
        let keys = ["x", "y"].map(|text| VectorKey { model: model.clone(), content: ContentHash::of(text) });
        let entries = keys.clone().map(|key| (key, DenseVector(vec![1, 2])));
        self.until_done(async || store.put(&tenant, &entries).await).await?;
        let is_live = |key: &VectorKey| *key == keys[0];
        self.until_done(async || store.sweep(&tenant, &is_live).await).await?;
        seen.push(format!("{:?}", store.get(&tenant, &keys).await?));
        Ok(())
    }

    async fn visible_records(&self) -> Result<String> {
        let (view, scope) = (runs(&self.store).view().await?, Scope::all(Tenant::local()));
        let nodes = self.store.nodes(&view, &scope, &["a", "b"].map(|name| self.node(name).key)).await?;
        let names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
        let b = self.node("b").key;
        let (edges, _) = self.store.neighbours(&view, &scope, b, Direction::In, &[], 9).await?;
        let published = runs(&self.store).published(&view, self.repository).await?.is_some();
        let runs = runs(&self.store).runs(None, 9).await?.len();
        Ok(format!("{names:?}, {} edges, published {published}, {runs} runs", edges.len()))
    }
}

async fn play_with(fail_point: Option<&str>) -> Result<Vec<String>> {
    let directory = tempfile::tempdir()?;
    let repository = RepositoryId::derive(&Tenant::local(), &RepositoryName::new("one"));
    let scenario = Scenario { store: LocalStore::open(directory.path())?, repository, num_failures: AtomicU32::new(0) };
    if let Some(name) = fail_point {
        fail::cfg(name, "1*return(a full disk)").map_err(anyhow::Error::msg)?;
    }
    let seen =
        scenario.play().await.with_context(|| format!("the scenario failed with a failure at {fail_point:?}"))?;
    if let Some(name) = fail_point {
        fail::remove(name);
        anyhow::ensure!(scenario.num_failures.load(Ordering::Relaxed) == 1, "{name} was never reached");
    }
    Ok(seen)
}

#[tokio::test]
async fn writes_survive_failures_and_lost_replies() -> Result<()> {
    let scenario = fail::FailScenario::setup();
    let undisturbed = play_with(None).await?;
    for operation in WRITE_OPERATIONS {
        for point in ["commit", "committed"] {
            let name = format!("store::{point}::{operation}");
            assert_eq!(play_with(Some(&name)).await?, undisturbed, "{name}");
        }
    }
    scenario.teardown();
    Ok(())
}
