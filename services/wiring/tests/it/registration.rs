//! Tests the registration of repositories by a call to index: permissions, and the replies about repositories
//! that the caller may not see.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use cairn_domain::{
    ArtifactRef, FailureCode, Hosted, Lane, PartId, RepositoryName, RunId, RunState, Scope, Source, StageName,
    SyncProgress, Tenant,
};
use cairn_gateway::{IndexCall, IndexStatus, IndexTicket, Indexing, LedgerIndexing};
use cairn_git::RemotePolicy;
use cairn_metastore::Metastore;
use cairn_ports::{Catalogue, Clock, Ledger, NewRun, PublishedGeneration, RepositoryRecord, Requests, RunDocuments};
use cairn_search::{Allowed, Caller, CursorKey, QueryError, QueryErrorCode, RepositorySelection, Searcher};
use cairn_testkit::{FakeIndex, ManualClock, MemoryRuns};
use cairn_wire::{GivenSettings, RunResult};

pub(crate) const SHOP: &str = "https://github.com/acme/shop.git";

pub(crate) struct Service {
    pub(crate) runs: Arc<Metastore>,
    searcher: Searcher,
    pub(crate) indexing: LedgerIndexing,
}

impl Service {
    /// A service whose caller has a key that may see only repositories with these names.
    pub(crate) async fn of(names: &[&str]) -> Result<Self> {
        Self::over(Arc::new(MemoryRuns::new()), names).await
    }

    pub(crate) async fn over(documents: Arc<dyn RunDocuments>, names: &[&str]) -> Result<Self> {
        let runs = Arc::new(Metastore::new(documents));
        let clock: Arc<dyn Clock> = Arc::new(ManualClock::new(1_000));
        let index = Arc::new(FakeIndex::new(Vec::new()).await?);
        let allowed = Allowed::Only(names.iter().map(ToString::to_string).collect());
        let searcher = Searcher {
            caller: Caller { tenant: Tenant::new("acme"), allowed, name: "key".to_owned() },
            catalogue: runs.clone(),
            ledger: runs.clone(),
            blobs: index.blobs.clone(),
            vectors: index.clone(),
            graph: index.clone(),
            names: index.clone(),
            texts: index.clone(),
            packs: Arc::default(),
            embedder: index,
            similarity: cairn_wiring::word_table()?,
            clock: Arc::clone(&clock),
            cursor_key: CursorKey([7; 32]),
            signals: Default::default(),
            term_tables: Arc::default(),
            synonyms: Arc::default(),
            changed: None,
            heads: None,
            answers: Arc::default(),
            known_texts: Arc::default(),
            pattern_members: Arc::default(),
            file_places: Arc::default(),
        };
        let indexing = cairn_wiring::indexing(&runs, &clock, RemotePolicy::default());
        Ok(Self { runs, searcher, indexing })
    }

    pub(crate) async fn index(&self, target: &str) -> Result<IndexStatus, QueryError> {
        self.call(IndexCall { target: target.to_owned(), ..IndexCall::default() }).await
    }

    pub(crate) async fn call(&self, call: IndexCall) -> Result<IndexStatus, QueryError> {
        self.indexing.index(&self.searcher, call).await
    }

    pub(crate) async fn register(&self, name: &str, url: &str) -> Result<RepositoryRecord> {
        let source = Source::Url { url: url.to_owned() };
        let record = RepositoryRecord::new(Tenant::new("acme"), RepositoryName::new(name), source);
        self.runs.register(record.clone()).await?;
        Ok(record)
    }

    pub(crate) async fn registered(&self) -> Result<Vec<RepositoryRecord>> {
        Ok(self.runs.repositories(&Scope::all(Tenant::new("acme"))).await?)
    }

    pub(crate) async fn progress(&self, asked: &IndexStatus) -> Result<IndexStatus> {
        let asked = IndexTicket {
            repository: asked.repository.clone(),
            request: asked.request.context("the answer contains no request")?,
            previous_run: asked.previous_run.clone(),
        };
        Ok(self.indexing.progress(&self.searcher, asked).await?)
    }

    /// Begins a run for the request, and answers the request, as a cloner does.
    async fn begin(&self, record: &RepositoryRecord, request: u64, previous: Option<RunId>) -> Result<RunId> {
        let artifact = |key: &str| ArtifactRef { key: key.to_owned(), size_bytes: 1, hash: [0; 32] };
        let lease = self.runs.lease(record.id, 0, 1_000).await?;
        let new = NewRun {
            repository: record.id,
            previous: previous.map(|run| run.generation),
            manifest: artifact("manifest"),
            plan: artifact("plan"),
            parts: vec![PartId { stage: StageName::Publish, number: 0 }],
            lane: cairn_domain::Lane::Interactive,
            window: 1,
            revision: "1".to_owned(),
            branch: None,
            result: RunResult::default(),
            started_at_ms: 0,
        };
        let run = self.runs.begin(lease, new).await?;
        self.runs.renew(lease, 0, 0, SyncProgress::default()).await?;
        self.runs.answer(record.id, request, None, 2_000).await?;
        Ok(run)
    }

    async fn publish(&self, run: RunId, files_indexed: u64) -> Result<()> {
        let published = PublishedGeneration {
            run,
            seq: cairn_domain::PublishedSeq::default(),
            manifest: ArtifactRef { key: "manifest".to_owned(), size_bytes: 1, hash: [0; 32] },
            revision: "1".to_owned(),
            branch: None,
            indexed_at_ms: 3_000,
            state: RunState::Published,
            result: RunResult { files_indexed, ..RunResult::default() },
            model: "m".to_owned(),
        };
        self.runs.publish(published).await?;
        Ok(())
    }
}

#[tokio::test]
async fn unknown_address_is_registered_and_synced() -> Result<()> {
    let service = Service::of(&["github.com/acme/*"]).await?;
    let asked = service.index(SHOP).await?;
    ensure!(asked.repository == "github.com/acme/shop" && asked.run.is_none(), "{asked:?}");
    let registered = service.registered().await?;
    ensure!(registered.len() == 1 && registered[0].source.location() == SHOP, "{registered:?}");
    let request = asked.request.context("the answer contains no request")?;
    ensure!(service.runs.asked(registered[0].id, request).await?.is_some(), "the request does not exist");
    // No call registers the repository again, whether the call contains the name or an address. All these
    // calls return the same request.
    for target in [SHOP, "github.com/acme/shop", "shop"] {
        ensure!(service.index(target).await?.request == Some(request), "{target} created a second request");
    }
    ensure!(service.registered().await?.len() == 1);
    Ok(())
}

#[tokio::test]
async fn withdrawn_request_is_cancelled() -> Result<()> {
    let service = Service::of(&["github.com/acme/*"]).await?;
    let asked = service.index(SHOP).await?;
    let ids = [service.registered().await?[0].id];
    ensure!(service.indexing.cancel_requests(&ids).await? == ids);
    let stands = service.progress(&asked).await?;
    ensure!((stands.state, stands.request) == (RunState::Cancelled, None), "{stands:?}");
    ensure!(service.indexing.cancel_requests(&ids).await?.is_empty(), "the request was cancelled twice");
    let again = service.index(SHOP).await?;
    ensure!(service.progress(&again).await?.state == RunState::Running, "the repository cannot be requested again");
    Ok(())
}

#[tokio::test]
async fn old_run_is_found_by_repository() -> Result<()> {
    let service = Service::of(&["github.com/acme/*"]).await?;
    let record = service.register("github.com/acme/shop", SHOP).await?;
    // A second repository is needed. If the key could see only one repository, the service would search the
    // older runs of this repository even if the call did not name it.
    service.register("github.com/acme/other", "https://github.com/acme/other.git").await?;
    let mut runs = Vec::new();
    for _ in 0..51 {
        let run = service.begin(&record, 0, runs.last().copied()).await?;
        service.publish(run, 1).await?;
        runs.push(run);
    }
    let (all, shop) = (RepositorySelection::default(), RepositorySelection(vec!["shop".to_owned()]));
    let id = |run: usize| service.searcher.run_id(runs[run]);
    ensure!(service.searcher.find_run(&all, &id(1)).await?.record.id == runs[1]);
    let lost = service.searcher.find_run(&all, &id(0)).await.expect_err("all runs of all repositories are read");
    let hint = lost.hint.clone().unwrap_or_default();
    ensure!(lost.code == QueryErrorCode::NotFound && hint.contains("name the repository"), "{lost:?}");
    ensure!(service.searcher.find_run(&shop, &id(0)).await?.record.id == runs[0]);
    Ok(())
}

#[tokio::test]
async fn hidden_repository_looks_unknown() -> Result<()> {
    let service = Service::of(&["github.com/acme/*"]).await?;
    const THEIRS: &str = "https://github.com/rival/app.git";
    let unknown = service.index(THEIRS).await.expect_err("the repository is registered for another caller");
    ensure!(unknown.code == QueryErrorCode::NotFound && service.registered().await?.is_empty(), "{unknown:?}");
    service.register("github.com/rival/app", THEIRS).await?;
    let forbidden = service.index(THEIRS).await.expect_err("a forbidden repository is indexed");
    ensure!(forbidden == unknown, "{forbidden:?}\n{unknown:?}");
    // The repository previously had a name that the caller may see, and its id has not changed.
    let renamed = service.register("github.com/acme/old", "https://github.com/acme/old.git").await?;
    let source = Source::Url { url: "https://github.com/rival/new.git".to_owned() };
    let name = RepositoryName::new("github.com/rival/new");
    service.runs.register(RepositoryRecord { name, source, ..renamed }).await?;
    let old = service.index("https://github.com/acme/old.git").await.expect_err("a renamed repository is indexed");
    ensure!(old.code == QueryErrorCode::NotFound && old.similar_repositories.is_empty(), "{old:?}");
    let sources: Vec<String> =
        service.registered().await?.iter().map(|record| record.source.location().to_owned()).collect();
    ensure!(sources == [THEIRS, "https://github.com/rival/new.git"], "{sources:?}");
    Ok(())
}

#[tokio::test]
async fn key_cannot_change_the_address() -> Result<()> {
    let service = Service::of(&["*"]).await?;
    service.register("github.com/acme/shop", "https://git.internal.example/shop.git").await?;
    let error = service.index(SHOP).await.expect_err("the address of the repository was changed");
    ensure!(error.code == QueryErrorCode::ValidationError && error.message.contains("another address"), "{error:?}");
    // The repository is found by its address, although its name differs from the address.
    let asked = service.index("https://git.internal.example/shop.git").await?;
    ensure!(asked.repository == "github.com/acme/shop");
    let registered = service.registered().await?;
    ensure!(registered.len() == 1 && registered[0].source.location().contains("internal"), "{registered:?}");
    Ok(())
}

#[tokio::test]
async fn cloning_rules_are_checked_before_writing() -> Result<()> {
    let service = Service::of(&["*"]).await?;
    for refused in [
        "http://github.com/acme/shop.git",
        "file:///srv/git/shop.git",
        "git@github.com:acme/shop.git",
        "ssh://git@github.com/acme/shop.git",
        "https://bob:hunter2@github.com/acme/shop.git",
        "https://127.0.0.1/shop.git",
        "https://169.254.169.254/latest/shop.git",
        "https://[::1]/shop.git",
        "ext::sh -c hunter2",
    ] {
        let error = service.index(refused).await.expect_err(refused);
        ensure!(error.code == QueryErrorCode::ValidationError, "{refused}: {error:?}");
        ensure!(!error.message.contains("hunter2"), "{error:?}");
    }
    // A path on the server's machine is treated like an unknown name.
    let path = service.index("/etc").await.expect_err("a path");
    ensure!(path.code == QueryErrorCode::NotFound, "{path:?}");
    ensure!(service.registered().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn request_is_followed_to_its_end() -> Result<()> {
    let service = Service::of(&["*"]).await?;
    let asked = service.index(SHOP).await?;
    let record = service.registered().await?.remove(0);
    let state = service.progress(&asked).await?;
    ensure!(state.state == RunState::Running && state.request == asked.request && state.run.is_none(), "{state:?}");
    let first = service.begin(&record, asked.request.unwrap_or_default(), None).await?;
    let state = service.progress(&asked).await?;
    ensure!(state.state == RunState::Running && state.run.is_some() && state.request.is_none(), "{state:?}");
    service.publish(first, 5).await?;
    let ended = service.progress(&asked).await?;
    ensure!(
        ended.state == RunState::Published && ended.run == state.run && ended.result.files_indexed == 5,
        "{ended:?}"
    );

    // Nothing has changed, so no run begins.
    let asked = service.index(SHOP).await?;
    ensure!(asked.previous_run == ended.run, "{asked:?}");
    ensure!(service.progress(&asked).await?.request.is_some());
    service.runs.answer(record.id, asked.request.unwrap_or_default(), None, 4_000).await?;
    let unchanged = service.progress(&asked).await?;
    ensure!(unchanged.state == RunState::Published && unchanged.run.is_none(), "{unchanged:?}");
    ensure!(unchanged.result.files_indexed == 5, "{unchanged:?}");

    // The sync fails. If the cause of the failure is outside the repository, only the error code is reported.
    for (code, chain, expect) in [
        (FailureCode::NotFound, "source: there is none", "not_found: source: there is none"),
        (FailureCode::Timeout, "blob store: http://10.0.0.7", "timeout"),
        (
            FailureCode::Forbidden,
            "blob store: put of `packs/x` failed: forbidden: arn:aws:iam::1:user/cairn",
            "forbidden",
        ),
    ] {
        let asked = service.index(SHOP).await?;
        let failure = Some((code, chain.to_owned()));
        service.runs.answer(record.id, asked.request.unwrap_or_default(), failure, 5_000).await?;
        let failed = service.progress(&asked).await?;
        ensure!(failed.state == RunState::Failed && failed.message.as_deref() == Some(expect), "{failed:?}");
    }
    Ok(())
}

/// An address in the operator's list refers to the repository that has this address now, even if the
/// repository was registered under a different name.
#[tokio::test]
async fn renamed_repository_keeps_its_identity() -> Result<()> {
    let service = Service::of(&["*"]).await?;
    let hosted = Hosted {
        host: "github.com".to_owned(),
        id: "7".to_owned(),
        organisation: "acme".to_owned(),
        default_branch: None,
        description: None,
        topics: Vec::new(),
    };
    let before = service.register("github.com/acme/old", "https://github.com/acme/old.git").await?;
    let renamed = RepositoryRecord {
        name: RepositoryName::new("github.com/acme/shop"),
        source: Source::Url { url: SHOP.to_owned() },
        hosted: Some(hosted),
        aliases: vec![before.name.clone()],
        ..before
    };
    service.runs.register(renamed.clone()).await?;
    let mut known = service.registered().await?;
    let enqueue = async |url: &str, branch: Option<&str>, known: &mut Vec<RepositoryRecord>| {
        let (source, name) = (service.indexing.locate)(url).map_err(anyhow::Error::msg)?.context("an address")?;
        let branch = branch.map(ToOwned::to_owned);
        let record = RepositoryRecord { branch, ..RepositoryRecord::new(Tenant::new("acme"), name, source) };
        let given = GivenSettings::default();
        anyhow::Ok(service.indexing.register(record, given, known, Lane::Bulk, false).await?)
    };
    for url in [SHOP, "https://github.com/acme/shop", "https://github.com/acme/old.git"] {
        let asked = enqueue(url, None, &mut known).await?;
        ensure!(asked.repository == "github.com/acme/shop", "{url}: {asked:?}");
    }
    enqueue(SHOP, Some("stable"), &mut known).await?;
    let [registered] = &service.registered().await?[..] else { anyhow::bail!("a repository was registered twice") };
    let expect = RepositoryRecord { branch: Some("stable".to_owned()), ..renamed };
    let reply = RepositoryRecord { pending_sync: None, ..registered.clone() };
    ensure!(reply == expect && known == [expect], "{reply:?} {known:?}");

    // A repository that is not registered yet is registered once, even if the list contains it twice, with
    // and without a branch.
    enqueue("https://github.com/acme/new", Some("next"), &mut known).await?;
    enqueue("https://github.com/acme/new", None, &mut known).await?;
    let branches: Vec<_> = service.registered().await?.into_iter().map(|record| record.branch).collect();
    ensure!(branches == [Some("next".to_owned()), Some("stable".to_owned())], "{branches:?}");
    Ok(())
}
