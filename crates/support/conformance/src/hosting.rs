//! The conformance suite of the port `Hosting`.

use anyhow::{Result, ensure};
use async_trait::async_trait;
use cairn_ports::{HostedRepository, Hosting, HostingError, Listing, Organisation};

use crate::faulty::{Faulty, planted};
use crate::suite::{Check, PlantedFault, checks, expect_eq};

/// A hosting service with one organisation. The suite sets the repositories of the organisation, and can make
/// requests fail.
pub trait HostingUnderTest: Send + Sync {
    fn hosting(&self) -> &dyn Hosting;

    /// The host name in clone URLs.
    fn clone_host(&self) -> String;

    /// Sets the repositories of the organisation, and the number of repositories on each page.
    fn hold(&self, repositories: &[HostedRepository], per_page: usize);

    /// Transfers the repository to another owner.
    fn transfer(&self, id: &str, owner: &str);

    /// From now on, requests for this page fail. The first page has the number 0.
    fn break_page(&self, page: usize);

    /// From now on, all requests fail.
    fn break_all(&self);
}

pub fn checks() -> Vec<Check<dyn HostingUnderTest>> {
    checks![
        every_repository_is_listed_once,
        data_of_the_service_is_kept,
        a_list_without_one_of_its_pages_is_an_error,
        id_finds_a_transferred_repository,
        failed_lookup_is_not_absence,
    ]
}

fn repository(subject: &dyn HostingUnderTest, id: u64) -> HostedRepository {
    HostedRepository {
        id: id.to_string(),
        name: format!("name-{id}"),
        clone_url: format!("https://{}/{}/name-{id}.git", subject.clone_host(), subject.hosting().organisation().name),
        default_branch: Some("main".to_owned()),
        description: None,
        topics: Vec::new(),
        is_archived: false,
        is_fork: false,
        is_empty: false,
        is_disabled: false,
    }
}

fn repositories(subject: &dyn HostingUnderTest, count: u64) -> Vec<HostedRepository> {
    (1..=count).map(|id| repository(subject, id)).collect()
}

async fn every_repository_is_listed_once(subject: &dyn HostingUnderTest) -> Result<()> {
    for (count, per_page) in [(0, 10), (1, 10), (10, 10), (11, 10), (37, 10), (5, 1)] {
        let held = repositories(subject, count);
        subject.hold(&held, per_page);
        let listing = subject.hosting().list().await?;
        let ids = |list: &[HostedRepository]| list.iter().map(|found| found.id.clone()).collect::<Vec<_>>();
        expect_eq!(ids(&listing.repositories), ids(&held));
        expect_eq!(listing.refused, []);
    }
    Ok(())
}

async fn data_of_the_service_is_kept(subject: &dyn HostingUnderTest) -> Result<()> {
    let plain = repository(subject, 7);
    let reported = HostedRepository {
        default_branch: Some("trunk".to_owned()),
        description: Some("Größer, \"quoted\" and 数".to_owned()),
        topics: vec!["go".to_owned(), "command-line".to_owned()],
        ..repository(subject, 8)
    };
    let archived = HostedRepository { is_archived: true, ..repository(subject, 9) };
    let fork = HostedRepository { is_fork: true, ..repository(subject, 10) };
    let held = [plain, reported, archived, fork];
    subject.hold(&held, 3);
    expect_eq!(subject.hosting().list().await?.repositories, held);
    Ok(())
}

async fn a_list_without_one_of_its_pages_is_an_error(subject: &dyn HostingUnderTest) -> Result<()> {
    for page in [3, 2, 1, 0] {
        subject.hold(&repositories(subject, 16), 4);
        subject.break_page(page);
        let listed = subject.hosting().list().await;
        ensure!(listed.is_err(), "page {page} failed, but a list was returned: {listed:?}");
    }
    subject.hold(&repositories(subject, 16), 4);
    expect_eq!(subject.hosting().list().await?.repositories.len(), 16);
    Ok(())
}

async fn id_finds_a_transferred_repository(subject: &dyn HostingUnderTest) -> Result<()> {
    subject.hold(&repositories(subject, 3), 10);
    subject.transfer("2", "others");
    let hosting = subject.hosting();
    let owner = hosting.organisation().name.clone();
    expect_eq!(hosting.whereabouts("1").await?, Some(format!("{owner}/name-1")));
    expect_eq!(hosting.whereabouts("2").await?, Some("others/name-2".to_owned()));
    expect_eq!(hosting.whereabouts("4").await?, None);
    expect_eq!(hosting.list().await?.repositories.len(), 2);
    Ok(())
}

async fn failed_lookup_is_not_absence(subject: &dyn HostingUnderTest) -> Result<()> {
    subject.hold(&repositories(subject, 3), 10);
    subject.break_all();
    ensure!(
        subject.hosting().whereabouts("1").await.is_err(),
        "the service failed, but a place of the repository was returned"
    );
    ensure!(subject.hosting().list().await.is_err(), "the service failed, but a list was returned");
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    ListsTheFirstAlone,
    ListsOneTwice,
    TakesErrorsForTheEnd,
    ForgetsTopics,
    TakesArchivedForOrdinary,
    NeverFindsAnything,
    TakesErrorsForAbsence,
    FindsWhatIsGone,
}

const ALL: [(&str, Fault, &str); 8] = [
    ("lists only the first repositories", Fault::ListsTheFirstAlone, "every_repository_is_listed_once"),
    ("lists one twice", Fault::ListsOneTwice, "every_repository_is_listed_once"),
    (
        "treats errors as the end of the list",
        Fault::TakesErrorsForTheEnd,
        "a_list_without_one_of_its_pages_is_an_error",
    ),
    ("forgets topics", Fault::ForgetsTopics, "data_of_the_service_is_kept"),
    ("treats archived repositories as ordinary", Fault::TakesArchivedForOrdinary, "data_of_the_service_is_kept"),
    ("never finds a repository by its id", Fault::NeverFindsAnything, "id_finds_a_transferred_repository"),
    ("treats errors as absence", Fault::TakesErrorsForAbsence, "failed_lookup_is_not_absence"),
    ("finds removed repositories", Fault::FindsWhatIsGone, "id_finds_a_transferred_repository"),
];

pub fn faults() -> Vec<PlantedFault<dyn HostingUnderTest>> {
    planted(ALL, |faulty| Box::new(faulty))
}

impl HostingUnderTest for Faulty<dyn HostingUnderTest, Fault> {
    fn hosting(&self) -> &dyn Hosting {
        self
    }

    fn clone_host(&self) -> String {
        self.inner.clone_host()
    }

    fn hold(&self, repositories: &[HostedRepository], per_page: usize) {
        self.inner.hold(repositories, per_page);
    }

    fn transfer(&self, id: &str, owner: &str) {
        self.inner.transfer(id, owner);
    }

    fn break_page(&self, page: usize) {
        self.inner.break_page(page);
    }

    fn break_all(&self) {
        self.inner.break_all();
    }
}

#[async_trait]
impl Hosting for Faulty<dyn HostingUnderTest, Fault> {
    fn organisation(&self) -> &Organisation {
        self.inner.hosting().organisation()
    }

    async fn list(&self) -> Result<Listing, HostingError> {
        let listed = self.inner.hosting().list().await;
        if self.fault == Fault::TakesErrorsForTheEnd {
            return Ok(listed.unwrap_or_default());
        }
        let mut listing = listed?;
        let repositories = &mut listing.repositories;
        match self.fault {
            Fault::ListsTheFirstAlone => repositories.truncate(10),
            Fault::ListsOneTwice => repositories.extend(repositories.first().cloned()),
            Fault::ForgetsTopics => repositories.iter_mut().for_each(|found| found.topics.clear()),
            Fault::TakesArchivedForOrdinary => repositories.iter_mut().for_each(|found| found.is_archived = false),
            _ => {}
        }
        Ok(listing)
    }

    async fn whereabouts(&self, id: &str) -> Result<Option<String>, HostingError> {
        let found = self.inner.hosting().whereabouts(id).await;
        match self.fault {
            Fault::NeverFindsAnything => found.map(|_| None),
            Fault::TakesErrorsForAbsence => Ok(found.unwrap_or_default()),
            Fault::FindsWhatIsGone => found.map(|found| found.or(Some("acme/ghost".to_owned()))),
            _ => found,
        }
    }
}
