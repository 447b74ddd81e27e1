//! The conformance suite of the port `RunDocuments`: commands are atomic, serial and durable. The rules that
//! commands apply are tested in the crate `cairn_runs`. The module `runs` also tests these rules, through the
//! ports that are built on this port.

use anyhow::{Context, Result, ensure};
use async_trait::async_trait;
use cairn_domain::{
    ArtifactRef, FailureCode, Hosted, Lane, PartEnd, PartId, PublishedSeq, RepositoryName, RunId, RunState, Source,
    StageName, View,
};
use cairn_ports::{RepositoryQuery, RunDocuments, RunDocumentsError, RunQuery};
use cairn_runs::{
    Beginning, Command, CommandReply, EndedPart, Publishing, Registry, RepositoryDetails, RepositoryDocument,
    RunDetails, RunDocument, SyncOutcome,
};
use futures::future::try_join_all;

use crate::Case;
use crate::case::part;
use crate::faulty::{Faulty, planted};
use crate::suite::{Check, PlantedFault, checks, expect_eq, expect_kind};

pub fn checks() -> Vec<Check<dyn RunDocuments>> {
    checks![
        documents_are_read_as_written,
        a_refused_command_changes_nothing,
        commands_at_once_are_one_after_the_other,
        exactly_one_command_sees_the_last_part,
        runs_are_found_by_their_state,
        retries_are_dispatched_after_other_requests,
        publications_are_kept_until_they_are_forgotten,
    ]
}

/// The data of one check, and the store under test.
struct Subject<'a> {
    store: &'a dyn RunDocuments,
    case: Case,
}

impl<'a> Subject<'a> {
    fn new(store: &'a dyn RunDocuments, check: &str) -> Self {
        Self { store, case: Case::new(check) }
    }

    fn details(&self, name: &str) -> RepositoryDetails {
        RepositoryDetails {
            tenant: self.case.tenant.clone(),
            name: RepositoryName::new(name),
            source: Source::Url { url: format!("https://example.org/{name}") },
            branch: Some("trunk".to_owned()),
            settings: "{\"include\":[\"ä\"]}".to_owned(),
            aliases: vec![RepositoryName::new("before")],
            hosted: Some(Hosted {
                host: "git.example".to_owned(),
                id: "7".to_owned(),
                organisation: "acme".to_owned(),
                default_branch: None,
                description: Some("ä".to_owned()),
                topics: vec!["t".to_owned()],
            }),
        }
    }

    async fn register(&self, name: &str) -> Result<()> {
        let details = Box::new(self.details(name));
        let repository = self.case.repository(name);
        self.store.change(Command::Register { repository, details, keeps_settings: false }).await?;
        Ok(())
    }

    async fn repository(&self, name: &str) -> Result<RepositoryDocument> {
        let found = self.store.repositories(RepositoryQuery::One(self.case.repository(name))).await?;
        found.into_iter().next().context("no repository")
    }

    async fn run(&self, run: RunId) -> Result<RunDocument> {
        self.store.runs(RunQuery::One(run)).await?.pop().context("no run")
    }

    fn run_details(&self) -> RunDetails {
        let artifact = |key: &str| ArtifactRef { key: key.to_owned(), size_bytes: 7, hash: [3; 32] };
        RunDetails {
            tenant: self.case.tenant.clone(),
            manifest: artifact("manifests/x"),
            plan: artifact("plans/x"),
            revision: "abc".to_owned(),
            branch: None,
            model: String::new(),
            result: "{}".to_owned(),
            started_at_ms: 5,
            message: None,
        }
    }

    async fn begin(&self, name: &str, parts: Vec<PartId>) -> Result<RunId> {
        let repository = self.case.repository(name);
        let lease = Command::Lease { repository, now_ms: 0, ttl_ms: 0 };
        let CommandReply::Epoch(epoch) = self.store.change(lease).await? else { anyhow::bail!("no epoch") };
        let previous = self.repository(name).await?.state.published;
        let beginning = Box::new(Beginning { epoch, previous, parts, lane: Lane::Bulk, window: 1000, now_ms: 5 });
        let begin = Command::Begin { repository, beginning, details: Box::new(self.run_details()) };
        match self.store.change(begin).await? {
            CommandReply::Begun(run) => Ok(run),
            other => anyhow::bail!("expected a run, but the store returned {other:?}"),
        }
    }

    async fn publish(&self, run: RunId, now_ms: i64) -> Result<PublishedSeq> {
        let RunDetails { manifest, revision, branch, result, .. } = self.run_details();
        let (state, model) = (RunState::Published, "model-1".to_owned());
        let publishing = Publishing { state, manifest, revision, branch, model, result, now_ms };
        match self.store.change(Command::Publish { run, publishing: Box::new(publishing) }).await? {
            CommandReply::Published(seq) => Ok(seq),
            other => anyhow::bail!("expected a publication number, but the store returned {other:?}"),
        }
    }

    /// The runs of this check that a query finds.
    async fn found(&self, query: RunQuery) -> Result<Vec<RunId>> {
        let own = |run: &RunDocument| run.details.tenant == self.case.tenant;
        Ok(self.store.runs(query).await?.into_iter().filter(own).map(|run| run.ledger.id).collect())
    }
}

fn end(run: RunId, part: PartId) -> Command {
    Command::EndPart { run, part, end: PartEnd::Done, report: "{}".to_owned(), now_ms: 9 }
}

async fn documents_are_read_as_written(store: &dyn RunDocuments) -> Result<()> {
    let subject = Subject::new(store, "whole");
    subject.register("a").await?;
    subject.register("b").await?;
    let a = subject.repository("a").await?;
    expect_eq!((a.id, &a.details), (subject.case.repository("a"), &subject.details("a")));
    let parts = vec![part(StageName::Parse, 0), part(StageName::Parse, 130), part(StageName::Publish, 0)];
    let run = subject.begin("a", parts).await?;
    let document = subject.run(run).await?;
    expect_eq!((&document.details, document.ledger.id), (&subject.run_details(), run));
    expect_eq!(document.ledger.in_flight(), [part(StageName::Parse, 0), part(StageName::Parse, 130)]);
    let failed = PartEnd::Failed { code: FailureCode::TooLarge, message: "it is".to_owned() };
    let ended = EndedPart { run, part: part(StageName::Parse, 130), end: failed, report: "{\"ä\":1}".to_owned() };
    let EndedPart { part, end, report, .. } = ended.clone();
    store.change(Command::EndPart { run, part, end, report, now_ms: 7 }).await?;
    expect_eq!(store.parts(run).await?, [ended]);
    let of_tenant = store.repositories(RepositoryQuery::OfTenant(Some(subject.case.tenant.clone()))).await?;
    expect_eq!(of_tenant.iter().map(|document| document.details.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    Ok(())
}

async fn a_refused_command_changes_nothing(store: &dyn RunDocuments) -> Result<()> {
    let subject = Subject::new(store, "refused");
    let nobody = subject.case.repository("nobody");
    expect_kind!(store.change(Command::Lease { repository: nobody, now_ms: 0, ttl_ms: 9 }).await, NotFound);
    subject.register("a").await?;
    let run = subject.begin("a", vec![part(StageName::Parse, 0), part(StageName::Publish, 0)]).await?;
    let (before, document) = (subject.repository("a").await?, subject.run(run).await?);
    let RunDetails { manifest, revision, branch, result, .. } = subject.run_details();
    let (state, model) = (RunState::Published, "m".to_owned());
    let publishing = Box::new(Publishing { state, manifest, revision, branch, model, result, now_ms: 1 });
    expect_kind!(store.change(Command::Publish { run, publishing }).await, Conflict);
    expect_kind!(store.change(end(run, part(StageName::Link, 0))).await, NotFound);
    let elsewhere = RunId { repository: nobody, ..run };
    expect_kind!(store.change(end(elsewhere, part(StageName::Parse, 0))).await, NotFound);
    expect_eq!(subject.repository("a").await?, before);
    expect_eq!(subject.run(run).await?, document);
    expect_eq!(store.parts(run).await?, []);
    Ok(())
}

async fn commands_at_once_are_one_after_the_other(store: &dyn RunDocuments) -> Result<()> {
    let subject = Subject::new(store, "at-once");
    let names: Vec<String> = (0..8).map(|number| format!("r{number}")).collect();
    for name in &names {
        subject.register(name).await?;
    }
    let parts = || vec![part(StageName::Publish, 0)];
    let runs = try_join_all(names.iter().map(|name| subject.begin(name, parts()))).await?;
    let mut generations: Vec<_> = runs.iter().map(|run| run.generation).collect();
    generations.sort_unstable();
    generations.dedup();
    expect_eq!(generations.len(), names.len());
    let mut seqs = try_join_all(runs.iter().map(|run| subject.publish(*run, 10))).await?;
    seqs.sort_unstable();
    seqs.dedup();
    expect_eq!(seqs.len(), names.len());
    let view = store.registry().await?.view();
    ensure!(runs.iter().all(|run| view.published(run.generation)), "a publication was lost");
    let repository = subject.case.repository("r0");
    let lease = || store.change(Command::Lease { repository, now_ms: 100, ttl_ms: 1000 });
    let leases = futures::future::join_all((0..8).map(|_| lease())).await;
    expect_eq!(leases.iter().filter(|lease| lease.is_ok()).count(), 1);
    Ok(())
}

async fn exactly_one_command_sees_the_last_part(store: &dyn RunDocuments) -> Result<()> {
    let subject = Subject::new(store, "last");
    subject.register("a").await?;
    let mut parts: Vec<_> = (0..16).map(|number| part(StageName::Parse, number)).collect();
    parts.push(part(StageName::Publish, 0));
    let run = subject.begin("a", parts.clone()).await?;
    // The end of each part is reported twice, and all reports are sent at the same time.
    let ends = parts[..16].iter().chain(&parts[..16]).map(|part| store.change(end(run, *part)));
    let answers = try_join_all(ends).await?;
    let released = CommandReply::Released(vec![part(StageName::Publish, 0)]);
    expect_eq!(answers.iter().filter(|answer| **answer == released).count(), 1);
    expect_eq!(answers.iter().filter(|answer| **answer == CommandReply::Released(Vec::new())).count(), 31);
    expect_eq!(store.parts(run).await?.len(), 16);
    expect_eq!(subject.run(run).await?.ledger.counts(), (17, 16, 0));
    Ok(())
}

async fn runs_are_found_by_their_state(store: &dyn RunDocuments) -> Result<()> {
    let subject = Subject::new(store, "queries");
    subject.register("a").await?;
    let parts = || vec![part(StageName::Publish, 0)];
    let first = subject.begin("a", parts()).await?;
    let seq = subject.publish(first, 100).await?;
    let second = subject.begin("a", parts()).await?;
    subject.publish(second, 200).await?;
    let third = subject.begin("a", parts()).await?;
    let repository = Some(first.repository);
    let newest = |limit| RunQuery::Newest { repository, limit };
    expect_eq!(subject.found(newest(2)).await?, [third, second]);
    expect_eq!(subject.found(RunQuery::Newest { repository: None, limit: usize::MAX }).await?, [third, second, first]);
    expect_eq!(subject.found(RunQuery::Unfinished).await?, [third]);
    expect_eq!(subject.found(RunQuery::Unsent { limit: usize::MAX }).await?, [third]);
    store.change(Command::Sent { run: third, parts: parts() }).await?;
    expect_eq!(subject.found(RunQuery::Unsent { limit: usize::MAX }).await?, []);
    let each = |of_each, in_all| RunQuery::NewestOfEach { repositories: vec![first.repository], of_each, in_all };
    expect_eq!(subject.found(each(1, usize::MAX)).await?, [third]);
    expect_eq!(subject.found(each(2, usize::MAX)).await?, [third, second]);
    expect_eq!(subject.found(each(2, 1)).await?, [third]);
    let at = |seq| RunQuery::PublishedAt { repositories: vec![first.repository], seq };
    expect_eq!(subject.found(at(seq)).await?, [first]);
    expect_eq!(subject.found(at(PublishedSeq(i64::MAX as u64))).await?, [second]);
    expect_eq!(subject.found(RunQuery::Retired { until_ms: 199 }).await?, [first]);
    store.change(Command::MarkSwept { run: first }).await?;
    expect_eq!(subject.found(RunQuery::Retired { until_ms: 200 }).await?, [second]);
    expect_eq!(subject.found(RunQuery::Live { until_ms: 199 }).await?, [first, second, third]);
    expect_eq!(subject.found(RunQuery::Live { until_ms: 200 }).await?, [second, third]);
    let (state, message) = (RunState::Cancelled, "by a person".to_owned());
    store.change(Command::Abort { run: third, state, message, now_ms: 300 }).await?;
    expect_eq!(subject.found(RunQuery::Live { until_ms: 200 }).await?, [second]);
    expect_eq!(subject.repository("a").await?.state.aborted_generations().len(), 1);
    Ok(())
}

/// If a host with thousands of repositories does not answer, its repositories must not fill the list of
/// requests that dispatch reads.
async fn retries_are_dispatched_after_other_requests(store: &dyn RunDocuments) -> Result<()> {
    let subject = Subject::new(store, "line");
    for (name, lane, now_ms) in [
        ("first", Lane::Bulk, 1),
        ("second", Lane::Bulk, 2),
        ("third", Lane::Bulk, 30),
        ("passes", Lane::Interactive, 9),
    ] {
        subject.register(name).await?;
        let repository = subject.case.repository(name);
        store.change(Command::Ask { repository, lane, rebuild: false, now_ms }).await?;
    }
    let line = async || {
        let found = store.repositories(RepositoryQuery::Asked { limit: usize::MAX }).await?;
        let own = found.into_iter().filter(|document| document.details.tenant == subject.case.tenant);
        anyhow::Ok(own.map(|document| document.details.name.as_str().to_owned()).collect::<Vec<_>>())
    };
    expect_eq!(line().await?, ["passes", "first", "second", "third"]);
    let repository = subject.case.repository("first");
    let dispatched = store.change(Command::Dispatch { repository, now_ms: 3, again_after_ms: 1000 }).await?;
    let CommandReply::Dispatched(Some(request)) = dispatched else { anyhow::bail!("{dispatched:?}") };
    expect_eq!(line().await?, ["passes", "first", "second", "third"]);
    let failure = Some((FailureCode::Unavailable, "the host is unavailable".to_owned()));
    let outcome = SyncOutcome { at_ms: 4, failure };
    store.change(Command::Postpone { repository, request: request.number, outcome, until_ms: 20 }).await?;
    expect_eq!(line().await?, ["passes", "second", "first", "third"]);
    // A new request for the repository does not start before the time of the postponed attempt.
    store.change(Command::Ask { repository, lane: Lane::Bulk, rebuild: false, now_ms: 5 }).await?;
    expect_eq!(line().await?, ["passes", "second", "first", "third"]);
    expect_eq!(subject.repository("first").await?.state.requests.place(), Some((Lane::Bulk, 5)));
    Ok(())
}

async fn publications_are_kept_until_they_are_forgotten(store: &dyn RunDocuments) -> Result<()> {
    let subject = Subject::new(store, "publications");
    subject.register("a").await?;
    let first = subject.begin("a", vec![part(StageName::Publish, 0)]).await?;
    let seq = subject.publish(first, 100).await?;
    let view = store.publication(seq).await?.context("no view")?;
    ensure!(view.seq == seq && view.published(first.generation), "{view:?}");
    let second = subject.begin("a", vec![part(StageName::Publish, 0)]).await?;
    let newest = subject.publish(second, 150).await?;
    // The age of a publication is counted from the time of the next publication, because new views used the
    // publication until that time.
    store.forget_publications(150).await?;
    ensure!(store.publication(seq).await?.is_some(), "a publication was removed too early");
    store.forget_publications(151).await?;
    expect_eq!(store.publication(seq).await?, None);
    ensure!(store.publication(newest).await?.is_some(), "the newest publication was removed");
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    LosesCommands,
    AppliesTwice,
    ForgetsParts,
    FindsFinished,
    LosesPublications,
    AsksBackwards,
}

const ALL: [(&str, Fault, &str); 6] = [
    ("loses commands", Fault::LosesCommands, "runs_are_found_by_their_state"),
    ("applies each command twice", Fault::AppliesTwice, "documents_are_read_as_written"),
    ("forgets ended parts", Fault::ForgetsParts, "documents_are_read_as_written"),
    ("finds finished runs among the unfinished runs", Fault::FindsFinished, "runs_are_found_by_their_state"),
    ("loses publications", Fault::LosesPublications, "publications_are_kept_until_they_are_forgotten"),
    ("lists requests backwards", Fault::AsksBackwards, "retries_are_dispatched_after_other_requests"),
];

pub fn faults() -> Vec<PlantedFault<dyn RunDocuments>> {
    planted(ALL, |faulty| Box::new(faulty))
}

#[async_trait]
impl RunDocuments for Faulty<dyn RunDocuments, Fault> {
    async fn change(&self, command: Command) -> Result<CommandReply, RunDocumentsError> {
        match self.fault {
            Fault::LosesCommands if command.name() == "sent" => Ok(CommandReply::Done),
            Fault::AppliesTwice => {
                self.inner.change(command.clone()).await?;
                self.inner.change(command).await
            }
            _ => self.inner.change(command).await,
        }
    }

    async fn registry(&self) -> Result<Registry, RunDocumentsError> {
        self.inner.registry().await
    }

    async fn publication(&self, seq: PublishedSeq) -> Result<Option<View>, RunDocumentsError> {
        if self.fault == Fault::LosesPublications { Ok(None) } else { self.inner.publication(seq).await }
    }

    async fn repositories(&self, query: RepositoryQuery) -> Result<Vec<RepositoryDocument>, RunDocumentsError> {
        let is_backwards = self.fault == Fault::AsksBackwards && matches!(query, RepositoryQuery::Asked { .. });
        let mut found = self.inner.repositories(query).await?;
        if is_backwards {
            found.reverse();
        }
        Ok(found)
    }

    async fn runs(&self, query: RunQuery) -> Result<Vec<RunDocument>, RunDocumentsError> {
        let query = match (self.fault, query) {
            (Fault::FindsFinished, RunQuery::Unfinished) => RunQuery::Newest { repository: None, limit: usize::MAX },
            (_, query) => query,
        };
        self.inner.runs(query).await
    }

    async fn parts(&self, run: RunId) -> Result<Vec<EndedPart>, RunDocumentsError> {
        if self.fault == Fault::ForgetsParts { Ok(Vec::new()) } else { self.inner.parts(run).await }
    }

    async fn forget_publications(&self, until_ms: i64) -> Result<(), RunDocumentsError> {
        self.inner.forget_publications(until_ms).await
    }
}
