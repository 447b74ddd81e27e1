//! Tests the settings that a call to index may contain: what they change, and which values are refused.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use async_trait::async_trait;
use cairn_domain::{Lane, PublishedSeq, RunId, Tenant, View};
use cairn_gateway::{IndexCall, IndexStatus};
use cairn_ports::{RepositoryQuery, RepositoryRecord, Requests, RunDocuments, RunDocumentsError, RunQuery};
use cairn_runs::{Command, CommandReply, EndedPart, Registry, RepositoryDocument, RunDocument};
use cairn_search::QueryErrorCode;
use cairn_testkit::MemoryRuns;
use cairn_wire::{GivenSettings, RequestSettings};

use super::registration::{SHOP, Service};

#[tokio::test]
async fn invalid_settings_are_refused_before_writing() -> Result<()> {
    let service = Service::of(&["*"]).await?;
    let refused = [
        (including(&["a["], None), ["include_patterns", "a["]),
        (including(&["*.py"], Some(99_999_999)), ["max_allowed 10485760", "provided 99999999"]),
    ];
    for (call, expect) in &refused {
        let error = service.call(call.clone()).await.expect_err("it is registered");
        ensure!(expect.iter().all(|part| error.message.contains(part)), "{error:?}");
    }
    ensure!(service.registered().await?.is_empty());
    // The same values are refused for a registered repository.
    service.call(including(&["*.py"], Some(4096))).await?;
    let before = service.registered().await?;
    for (call, _) in refused {
        let error = service.call(call).await.expect_err("it is changed");
        ensure!(error.code == QueryErrorCode::ValidationError, "{error:?}");
    }
    ensure!(service.registered().await? == before);
    Ok(())
}

/// The answer to a call contains the source and the settings that the run will use, for a new and for a
/// registered repository. The state of the waiting request contains the same source and settings.
#[tokio::test]
async fn answer_contains_the_settings_of_the_run() -> Result<()> {
    let service = Service::of(&["*"]).await?;
    let expect = |status: &IndexStatus, include: &[&str], exclude: &[&str], max_file_size: u64| {
        let result = &status.result;
        ensure!(result.path == SHOP && result.repository == "github.com/acme/shop", "{result:?}");
        ensure!(result.include == include && result.exclude == exclude, "{result:?}");
        ensure!(result.max_file_size == max_file_size && result.indexed_at_ms == 0, "{result:?}");
        Ok(())
    };
    let asked = service.call(including(&["*.md"], None)).await?;
    expect(&asked, &["*.md"], &[], 1_048_576)?;
    let asked = service.call(including(&["*.go"], Some(4096))).await?;
    expect(&asked, &["*.go"], &[], 4096)?;
    let exclude_patterns = Some(vec!["docs/**".to_owned()]);
    let call = IndexCall { target: "shop".to_owned(), exclude_patterns, ..IndexCall::default() };
    expect(&service.call(call).await?, &["*.go"], &["docs/**"], 1_048_576)?;
    // The value 0 selects the hard cap. A call without settings keeps the patterns, but not the size.
    let asked = service.call(including(&[], Some(0))).await?;
    expect(&asked, &[], &["docs/**"], 10_485_760)?;
    expect(&service.progress(&asked).await?, &[], &["docs/**"], 10_485_760)?;
    expect(&service.index(SHOP).await?, &[], &["docs/**"], 1_048_576)
}

/// A call to index the repository `SHOP` with these `include_patterns`.
fn including(include: &[&str], max_file_size: Option<u64>) -> IndexCall {
    let include_patterns = Some(include.iter().map(ToString::to_string).collect());
    IndexCall { target: SHOP.to_owned(), include_patterns, max_file_size, ..IndexCall::default() }
}

#[tokio::test]
async fn last_call_with_a_field_sets_the_field() -> Result<()> {
    let service = Service::of(&["*"]).await?;
    let expect = async |include: &[&str], exclude: &[&str], max_file_size| {
        let [record] = &service.registered().await?[..] else {
            anyhow::bail!("expected exactly one registered repository")
        };
        let stored = RequestSettings::from_json(&record.settings).map_err(anyhow::Error::msg)?;
        ensure!(stored.include == include && stored.exclude == exclude, "{stored:?}");
        ensure!(stored.max_file_size == max_file_size && record.source.location() == SHOP, "{record:?}");
        Ok(())
    };
    let first = service.call(including(&["*.py"], Some(4096))).await?;
    expect(&["*.py"], &[], Some(4096)).await?;
    service.index(SHOP).await?;
    expect(&["*.py"], &[], None).await?;
    // The sync of the first request has started, so a change of the settings must lead to a second request.
    let id = service.registered().await?[0].id;
    service.runs.dispatch(1, 2_000, 60_000).await?;
    let second = service.call(including(&["*.go"], None)).await?;
    ensure!(second.request > first.request, "the request with new patterns was joined to the running sync");
    expect(&["*.go"], &[], None).await?;
    ensure!(service.runs.asked(id, second.request.context("no request")?).await?.is_some());
    // This call contains the repository's name instead of its address, and sets only `exclude_patterns`.
    let exclude_patterns = Some(vec!["docs/**".to_owned()]);
    let call = IndexCall { target: "shop".to_owned(), exclude_patterns, ..IndexCall::default() };
    service.call(call).await?;
    expect(&["*.go"], &["docs/**"], None).await?;
    service.call(including(&[], None)).await?;
    expect(&[], &["docs/**"], None).await?;
    Ok(())
}

#[tokio::test]
async fn caller_cannot_change_hidden_repository() -> Result<()> {
    let service = Service::of(&["github.com/acme/*"]).await?;
    let theirs = service.register("github.com/rival/app", "https://github.com/rival/app.git").await?;
    for target in ["https://github.com/rival/app.git", "github.com/rival/app", "app"] {
        let call = IndexCall { target: target.to_owned(), ..including(&["*.go"], None) };
        let error = service.call(call).await.expect_err("it is changed");
        ensure!(error.code == QueryErrorCode::NotFound, "{error:?}");
    }
    ensure!(service.registered().await? == [theirs]);
    Ok(())
}

/// Yields before each change, so that a concurrent call can read the old state first.
struct YieldingRuns(MemoryRuns);

#[async_trait]
impl RunDocuments for YieldingRuns {
    async fn change(&self, command: Command) -> Result<CommandReply, RunDocumentsError> {
        tokio::task::yield_now().await;
        self.0.change(command).await
    }

    async fn registry(&self) -> Result<Registry, RunDocumentsError> {
        self.0.registry().await
    }

    async fn publication(&self, seq: PublishedSeq) -> Result<Option<View>, RunDocumentsError> {
        self.0.publication(seq).await
    }

    async fn repositories(&self, query: RepositoryQuery) -> Result<Vec<RepositoryDocument>, RunDocumentsError> {
        self.0.repositories(query).await
    }

    async fn runs(&self, query: RunQuery) -> Result<Vec<RunDocument>, RunDocumentsError> {
        self.0.runs(query).await
    }

    async fn parts(&self, run: RunId) -> Result<Vec<EndedPart>, RunDocumentsError> {
        self.0.parts(run).await
    }

    async fn forget_publications(&self, until_ms: i64) -> Result<(), RunDocumentsError> {
        self.0.forget_publications(until_ms).await
    }
}

/// Checks that both changes are stored if two concurrent calls change different fields.
#[tokio::test]
async fn changes_at_the_same_time_are_both_kept() -> Result<()> {
    let service = Service::over(Arc::new(YieldingRuns(MemoryRuns::new())), &["*"]).await?;
    service.index(SHOP).await?;
    let exclude_patterns = Some(vec!["docs/**".to_owned()]);
    let exclude = IndexCall { target: SHOP.to_owned(), exclude_patterns, ..IndexCall::default() };
    let include = service.call(including(&["*.go"], None));
    let (one, other) = tokio::join!(include, service.call(exclude));
    one?;
    other?;
    let stored = RequestSettings::from_json(&service.registered().await?[0].settings).map_err(anyhow::Error::msg)?;
    ensure!(stored.include == ["*.go"] && stored.exclude == ["docs/**"], "{stored:?}");
    Ok(())
}

/// An entry of an operator's list changes only the fields that it contains, and is validated like a call.
#[tokio::test]
async fn list_of_an_operator_changes_given_fields_only() -> Result<()> {
    let service = Service::of(&["*"]).await?;
    let mut known = Vec::new();
    let enqueue = async |given: GivenSettings, known: &mut Vec<RepositoryRecord>| {
        let (source, name) = (service.indexing.locate)(SHOP).map_err(anyhow::Error::msg)?.context("an address")?;
        let record = RepositoryRecord::new(Tenant::new("acme"), name, source);
        anyhow::Ok(service.indexing.register(record, given, known, Lane::Bulk, false).await?)
    };
    let include = |pattern: &str| Some(vec![pattern.to_owned()]);
    let error = enqueue(GivenSettings { include: include("a["), ..GivenSettings::default() }, &mut known).await;
    ensure!(error.is_err() && service.registered().await?.is_empty(), "{error:?}");
    enqueue(GivenSettings { include: include("*.go"), ..GivenSettings::default() }, &mut known).await?;
    enqueue(GivenSettings { exclude: include("docs/**"), ..GivenSettings::default() }, &mut known).await?;
    enqueue(GivenSettings::default(), &mut known).await?;
    let stored = RequestSettings::from_json(&service.registered().await?[0].settings).map_err(anyhow::Error::msg)?;
    ensure!(stored.include == ["*.go"] && stored.exclude == ["docs/**"], "{stored:?}");
    Ok(())
}
