//! Tests that the catalogue matches the lists of organisations, with a hosting service in memory.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use cairn_domain::{RepositoryId, RepositoryName, Scope, Source, Tenant};
use cairn_metastore::Metastore;
use cairn_ports::{
    Catalogue, ErrorKind, HostedRepository, Hosting, HostingError, Listing, Organisation, RefusedEntry,
    RepositoryRecord,
};
use cairn_testkit::{ManualClock, MemoryRuns};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::{Absence, Changes, Discover, OrganisationRules, Watched};

/// A hosting service in memory. Tests can make a list of the service fail, or make it omit a repository.
#[derive(Default)]
struct Service {
    repositories: BTreeMap<String, (String, HostedRepository)>,
    failing: Vec<String>,
    hidden: Vec<String>,
    refused: Vec<RefusedEntry>,
    num_asked: usize,
}

type Shared = Arc<Mutex<Service>>;

struct OneOrganisation {
    organisation: Organisation,
    service: Shared,
}

fn lock(service: &Shared) -> std::sync::MutexGuard<'_, Service> {
    service.lock().unwrap_or_else(PoisonError::into_inner)
}

#[async_trait]
impl Hosting for OneOrganisation {
    fn organisation(&self) -> &Organisation {
        &self.organisation
    }

    async fn list(&self) -> Result<Listing, HostingError> {
        let service = lock(&self.service);
        if service.failing.contains(&self.organisation.name) {
            return Err(HostingError::new(ErrorKind::Timeout, "list", "acme"));
        }
        let is_listed = |owner: &String, id: &String| *owner == self.organisation.name && !service.hidden.contains(id);
        let own = service.repositories.iter().filter(|(id, (owner, _))| is_listed(owner, id));
        let repositories = own.map(|(_, (_, repository))| repository.clone()).collect();
        Ok(Listing { repositories, refused: service.refused.clone() })
    }

    async fn whereabouts(&self, id: &str) -> Result<Option<String>, HostingError> {
        let mut service = lock(&self.service);
        service.num_asked += 1;
        if service.failing.contains(&"whereabouts".to_owned()) {
            return Err(HostingError::new(ErrorKind::Unavailable, "whereabouts", id));
        }
        Ok(service.repositories.get(id).map(|(owner, repository)| format!("{owner}/{}", repository.name)))
    }
}

struct World {
    service: Shared,
    runs: Arc<Metastore>,
    discover: Discover,
    tenant: Tenant,
}

fn locate(url: &str) -> Result<(Source, RepositoryName), String> {
    let path = url.strip_prefix("https://git.example/").ok_or("the host is refused")?;
    Ok((Source::Url { url: url.to_owned() }, RepositoryName::new(format!("git.example/{path}"))))
}

fn repository(owner: &str, id: u64, name: &str) -> HostedRepository {
    HostedRepository {
        id: id.to_string(),
        name: name.to_owned(),
        clone_url: format!("https://git.example/{owner}/{name}"),
        default_branch: None,
        description: None,
        topics: Vec::new(),
        is_archived: false,
        is_fork: false,
        is_empty: false,
        is_disabled: false,
    }
}

impl World {
    fn new() -> Self {
        let runs = Arc::new(Metastore::new(Arc::new(MemoryRuns::new())));
        let discover =
            Discover { catalogue: runs.clone(), clock: Arc::new(ManualClock::default()), locate: Box::new(locate) };
        Self { service: Shared::default(), runs, discover, tenant: Tenant::new("acme") }
    }

    fn put(&self, owner: &str, repository: HostedRepository) {
        lock(&self.service).repositories.insert(repository.id.clone(), (owner.to_owned(), repository));
    }

    fn put_named(&self, owner: &str, id: u64, name: &str) {
        self.put(owner, repository(owner, id, name));
    }

    fn take(&self, id: u64) {
        lock(&self.service).repositories.remove(&id.to_string());
    }

    fn watched(&self, name: &str, rules: OrganisationRules) -> Watched {
        let organisation = Organisation { host: "git.example".to_owned(), name: name.to_owned() };
        let hosting = OneOrganisation { organisation, service: Arc::clone(&self.service) };
        Watched { rules: Arc::new(rules), hosting: Arc::new(hosting) }
    }

    fn rules(&self) -> OrganisationRules {
        OrganisationRules::new(self.tenant.clone(), &[], &[]).expect("rules")
    }

    fn deleting(&self) -> OrganisationRules {
        OrganisationRules { delete_vanished: true, ..self.rules() }
    }

    async fn run(&self, watched: &[Watched]) -> Vec<Option<Changes>> {
        let discovered = self.discover.run(watched).await.expect("the catalogue is there");
        discovered.into_iter().map(|discovered| discovered.outcome.ok()).collect()
    }

    /// Runs a discovery with only the organisation `acme`, whose list can be read.
    async fn acme(&self, rules: OrganisationRules) -> Changes {
        let mut all = self.run(&[self.watched("acme", rules)]).await;
        all.remove(0).expect("a list")
    }

    async fn records(&self) -> Vec<RepositoryRecord> {
        self.runs.repositories(&Scope::all(self.tenant.clone())).await.expect("records")
    }

    async fn names(&self) -> Vec<String> {
        let records = self.records().await;
        records.iter().map(|record| record.name.as_str().trim_start_matches("git.example/").to_owned()).collect()
    }

    fn id(&self, name: &str) -> RepositoryId {
        RepositoryId::derive(&self.tenant, &RepositoryName::new(format!("git.example/{name}")))
    }

    async fn record(&self, name: &str) -> RepositoryRecord {
        let wanted = RepositoryName::new(format!("git.example/{name}"));
        self.records().await.into_iter().find(|record| record.name == wanted).expect(name)
    }
}

#[tokio::test]
async fn listed_repositories_are_registered_once() {
    let world = World::new();
    let reported = HostedRepository {
        description: Some("Sells. token = ghp_aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789".to_owned()),
        topics: vec!["go".to_owned()],
        default_branch: Some("trunk".to_owned()),
        ..repository("acme", 1, "shop")
    };
    world.put("acme", reported);
    world.put_named("acme", 2, "tools/ci");
    let changes = world.acme(world.rules()).await;
    assert_eq!((changes.num_listed, changes.added.len(), changes.vanished.len()), (2, 2, 0));
    assert_eq!(world.names().await, ["acme/shop", "acme/tools/ci"]);
    let shop = world.record("acme/shop").await;
    let hosted = shop.hosted.expect("hosted");
    assert_eq!((hosted.id.as_str(), hosted.organisation.as_str(), hosted.host.as_str()), ("1", "acme", "git.example"));
    assert_eq!((hosted.topics.as_slice(), hosted.default_branch.as_deref()), (&["go".to_owned()][..], Some("trunk")));
    let description = hosted.description.expect("a description");
    assert!(description.starts_with("Sells.") && !description.contains("ghp_aBc"), "{description}");
    assert_eq!(
        (shop.id, shop.branch, shop.source.location()),
        (world.id("acme/shop"), None, "https://git.example/acme/shop")
    );
    let again = world.acme(world.rules()).await;
    assert_eq!(again, Changes { num_listed: 2, ..Changes::default() });
}

#[tokio::test]
async fn excluded_repositories_are_omitted() {
    let check = async |rules: fn(&World) -> OrganisationRules, expect: &[&str]| {
        let world = World::new();
        world.put("acme", HostedRepository { is_archived: true, ..repository("acme", 1, "archived") });
        world.put("acme", HostedRepository { is_fork: true, ..repository("acme", 2, "fork") });
        world.put("acme", HostedRepository { is_empty: true, ..repository("acme", 3, "empty") });
        world.put("acme", HostedRepository { is_disabled: true, ..repository("acme", 4, "disabled") });
        world.put_named("acme", 5, "shop");
        world.put_named("acme", 6, "tools/shop-archive");
        world.put_named("acme", 7, "elsewhere");
        let changes = world.acme(rules(&world)).await;
        assert_eq!(world.names().await, expect);
        assert_eq!(changes.num_left_out, 7 - expect.len() as u64);
    };
    let rules = |include: &[&str], exclude: &[&str]| {
        let owned = |globs: &[&str]| globs.iter().map(|glob| (*glob).to_owned()).collect::<Vec<_>>();
        OrganisationRules::new(Tenant::new("acme"), &owned(include), &owned(exclude)).expect("rules")
    };
    check(World::rules, &["acme/elsewhere", "acme/shop", "acme/tools/shop-archive"]).await;
    check(
        |world| OrganisationRules { include_archived: true, include_forks: true, ..world.rules() },
        &["acme/archived", "acme/elsewhere", "acme/fork", "acme/shop", "acme/tools/shop-archive"],
    )
    .await;
    let world = World::new();
    for (id, name) in [(1, "shop"), (2, "tools/shop-archive"), (3, "elsewhere"), (4, "tools/ci")] {
        world.put_named("acme", id, name);
    }
    world.acme(rules(&["shop*", "tools/**"], &["*-archive"])).await;
    assert_eq!(world.names().await, ["acme/shop", "acme/tools/ci"]);
    let invalid = OrganisationRules::new(Tenant::new("a"), &["[".to_owned()], &["{".to_owned()]).map(drop);
    assert_eq!(invalid.expect_err("two faults").0.len(), 2);
}

#[tokio::test]
async fn renamed_repository_keeps_identity_and_settings() {
    let world = World::new();
    world.put_named("acme", 1, "shop");
    world.acme(world.rules()).await;
    let configured = RepositoryRecord {
        branch: Some("stable".to_owned()),
        settings: "{}".to_owned(),
        ..world.record("acme/shop").await
    };
    world.runs.register(configured).await.expect("registered");
    world.put_named("acme", 1, "store");
    let changes = world.acme(world.deleting()).await;
    assert_eq!((changes.renamed.len(), changes.added.len(), changes.vanished.len()), (1, 0, 0));
    let store = world.record("acme/store").await;
    assert_eq!(store.id, world.id("acme/shop"));
    assert_eq!(store.aliases, [RepositoryName::new("git.example/acme/shop")]);
    assert_eq!((store.branch.as_deref(), store.settings.as_str()), (Some("stable"), "{}"));
    assert_eq!(store.source.location(), "https://git.example/acme/store");
    assert_eq!(world.acme(world.deleting()).await, Changes { num_listed: 1, ..Changes::default() });
}

#[tokio::test]
async fn repository_under_a_former_name_is_new() {
    let world = World::new();
    world.put_named("acme", 1, "shop");
    world.acme(world.rules()).await;
    world.put_named("acme", 1, "store");
    world.put_named("acme", 2, "shop");
    let changes = world.acme(world.deleting()).await;
    assert_eq!((changes.renamed.len(), changes.added.len()), (1, 1));
    assert_eq!(world.record("acme/store").await.id, world.id("acme/shop"));
    assert_eq!(world.record("acme/shop").await.id, world.id("acme/shop#2"));
    assert_eq!(world.acme(world.deleting()).await, Changes { num_listed: 2, ..Changes::default() });
    // Two repositories swap names.
    world.put_named("acme", 1, "shop");
    world.put_named("acme", 2, "store");
    assert_eq!(world.acme(world.deleting()).await.renamed.len(), 2);
    assert_eq!(world.record("acme/store").await.id, world.id("acme/shop#2"));
}

#[tokio::test]
async fn new_repository_takes_the_identity_of_a_removed_one() {
    let world = World::new();
    world.put_named("acme", 1, "shop");
    world.acme(world.rules()).await;
    world.take(1);
    world.put_named("acme", 2, "shop");
    let changes = world.acme(world.deleting()).await;
    assert_eq!((changes.num_updated, changes.vanished.len()), (1, 0));
    let shop = world.record("acme/shop").await;
    assert_eq!((shop.id, shop.hosted.expect("hosted").id.as_str()), (world.id("acme/shop"), "2"));
}

#[tokio::test]
async fn transferred_repository_keeps_its_identity() {
    let world = World::new();
    world.put_named("acme", 1, "shop");
    world.put_named("acme", 3, "other");
    let both = || [world.watched("acme", world.deleting()), world.watched("beta", world.deleting())];
    world.run(&both()).await;
    world.put_named("beta", 1, "shop");
    let changes = world.run(&both()).await;
    assert_eq!(changes[1].as_ref().map(|changes| changes.renamed.len()), Some(1));
    assert_eq!(changes[0].as_ref().map(|changes| changes.vanished.len()), Some(0));
    let shop = world.record("beta/shop").await;
    assert_eq!((shop.id, shop.hosted.expect("hosted").organisation.as_str()), (world.id("acme/shop"), "beta"));
    // A new repository gets the old name of the transferred repository, and precedes it in the list.
    world.put_named("acme", 2, "shop");
    world.run(&both()).await;
    assert_eq!(world.names().await, ["acme/other", "acme/shop", "beta/shop"]);
    assert_eq!(world.record("acme/shop").await.hosted.expect("hosted").id, "2");
}

#[tokio::test]
async fn repositories_of_persons_are_not_changed() {
    let world = World::new();
    let source = Source::Url { url: "https://git.example/acme/shop".to_owned() };
    let name = RepositoryName::new("git.example/acme/shop");
    let record = RepositoryRecord::new(world.tenant.clone(), name, source);
    let by_hand = RepositoryRecord { branch: Some("mine".to_owned()), ..record };
    world.runs.register(by_hand.clone()).await.expect("registered");
    world.put_named("acme", 1, "shop");
    world.put_named("acme", 2, "other");
    assert_eq!(world.acme(world.deleting()).await.num_by_hand, 1);
    world.take(1);
    assert_eq!(world.acme(world.deleting()).await.vanished, []);
    assert_eq!(world.record("acme/shop").await, by_hand);
}

#[tokio::test]
async fn vanished_repositories_are_deleted_only_if_allowed() {
    let world = World::new();
    for (id, name) in [(1, "stays"), (2, "gone"), (3, "moved"), (4, "archived")] {
        world.put_named("acme", id, name);
    }
    world.acme(world.rules()).await;
    world.take(2);
    world.put_named("others", 3, "moved");
    world.put("acme", HostedRepository { is_archived: true, ..repository("acme", 4, "archived") });
    let reported = |changes: Changes| -> Vec<(String, Absence, bool)> {
        let reported = changes.vanished.into_iter();
        let mut reported: Vec<_> =
            reported.map(|vanished| (vanished.name.to_string(), vanished.absence, vanished.is_deleted)).collect();
        reported.sort_by(|left, right| left.0.cmp(&right.0));
        reported
    };
    let expect = |is_deleted: bool| {
        vec![
            ("git.example/acme/archived".to_owned(), Absence::Unwanted("is archived"), is_deleted),
            ("git.example/acme/gone".to_owned(), Absence::Gone, is_deleted),
            ("git.example/acme/moved".to_owned(), Absence::Elsewhere("others/moved".to_owned()), is_deleted),
        ]
    };
    assert_eq!(reported(world.acme(world.rules()).await), expect(false));
    assert_eq!(world.names().await.len(), 4);
    assert_eq!(reported(world.acme(world.deleting()).await), expect(true));
    assert_eq!(world.names().await, ["acme/stays"]);
    assert_eq!(reported(world.acme(world.deleting()).await), []);
    // If a deleted repository is listed again, it is registered again.
    world.put_named("acme", 2, "gone");
    world.acme(world.deleting()).await;
    assert_eq!(world.names().await, ["acme/gone", "acme/stays"]);
}

/// Each of these conditions alone prevents every deletion.
#[tokio::test]
async fn uncertain_listing_deletes_nothing() {
    type Doubt = fn(&World) -> Vec<Watched>;
    let alone = |world: &World, rules| vec![world.watched("acme", rules)];
    let check = async |doubt: Doubt, what: &str| {
        let world = World::new();
        for id in 1..=4 {
            world.put_named("acme", id, &format!("name-{id}"));
        }
        world.acme(world.rules()).await;
        world.take(1);
        let watched = doubt(&world);
        world.run(&watched).await;
        assert_eq!(world.names().await.len(), 4, "{what}");
    };
    check(|world| vec![world.watched("acme", world.rules())], "the rules do not allow deletions").await;
    let failing: Doubt = |world| {
        lock(&world.service).failing.push("acme".to_owned());
        vec![world.watched("acme", world.deleting())]
    };
    check(failing, "the list failed").await;
    let other: Doubt = |world| {
        lock(&world.service).failing.push("beta".to_owned());
        vec![world.watched("acme", world.deleting()), world.watched("beta", world.deleting())]
    };
    check(other, "the list of another organisation failed").await;
    let unasked: Doubt = |world| {
        lock(&world.service).failing.push("whereabouts".to_owned());
        vec![world.watched("acme", world.deleting())]
    };
    check(unasked, "the service does not answer for the repository").await;
    let hidden: Doubt = |world| {
        world.put_named("acme", 1, "name-1");
        lock(&world.service).hidden.push("1".to_owned());
        vec![world.watched("acme", world.deleting())]
    };
    check(hidden, "the list omits an existing repository").await;
    let unclear: Doubt = |world| {
        lock(&world.service).refused.push(RefusedEntry { id: None, reason: "unreadable".to_owned() });
        vec![world.watched("acme", world.deleting())]
    };
    check(unclear, "an entry could be any repository").await;
    let refused: Doubt = |world| {
        lock(&world.service).refused.push(RefusedEntry { id: Some("1".to_owned()), reason: "a lie".to_owned() });
        vec![world.watched("acme", world.deleting())]
    };
    check(refused, "the list contains the repository as a refused entry").await;
    let too_many: Doubt =
        |world| vec![world.watched("acme", OrganisationRules { max_deletions: 0, ..world.deleting() })];
    check(too_many, "more repositories are missing than may be deleted").await;
    // Without these conditions, the missing repository is deleted.
    let world = World::new();
    world.put_named("acme", 1, "gone");
    world.put_named("acme", 2, "stays");
    world.acme(world.rules()).await;
    world.take(1);
    world.run(&alone(&world, world.deleting())).await;
    assert_eq!(world.names().await, ["acme/stays"]);
}

#[tokio::test]
async fn empty_list_deletes_nothing() {
    let world = World::new();
    for id in 1..=30 {
        world.put_named("acme", id, &format!("name-{id}"));
    }
    world.acme(world.rules()).await;
    for id in 1..=30 {
        world.take(id);
    }
    let changes = world.acme(world.deleting()).await;
    assert_eq!((changes.vanished.len(), lock(&world.service).num_asked), (30, 0));
    let many = OrganisationRules { max_deletions: 100, ..world.deleting() };
    world.acme(many).await;
    assert_eq!(world.names().await.len(), 30);
}

#[tokio::test]
async fn refused_addresses_do_not_hide_other_repositories() {
    let world = World::new();
    world.put_named("acme", 1, "shop");
    world.acme(world.rules()).await;
    world.put("acme", HostedRepository { clone_url: "https://evil/x".to_owned(), ..repository("acme", 1, "shop") });
    world.put("acme", HostedRepository { clone_url: "https://evil/y".to_owned(), ..repository("acme", 2, "new") });
    world.put_named("acme", 3, "other");
    let changes = world.acme(world.deleting()).await;
    assert_eq!(changes.refused, ["«shop»: the host is refused", "«new»: the host is refused"]);
    assert_eq!(world.names().await, ["acme/other", "acme/shop"]);
}

#[tokio::test]
async fn repository_under_a_transferred_name_is_new() {
    let world = World::new();
    let both = || ["acme", "beta"].map(|owner| world.watched(owner, world.deleting()));
    world.put_named("beta", 1, "shop");
    world.run(&both()).await;
    world.put_named("acme", 1, "shop");
    world.run(&both()).await;
    let moved = world.record("acme/shop").await.id;
    world.put_named("beta", 2, "shop");
    world.run(&both()).await;
    assert_eq!(world.names().await, ["acme/shop", "beta/shop"]);
    assert_eq!(world.record("acme/shop").await.id, moved);
}

/// Events at the hosting service, and faults of the next listing.
#[derive(Clone, Debug)]
enum Event {
    Put { owner: usize, id: u64, name: u64 },
    Take { id: u64 },
    Fail { owner: usize },
    Hide { id: u64 },
    NoAnswers,
}

/// For any sequence of events and faults, only existing repositories are registered, and no existing
/// repository is deleted. If a list fails, no repository is deleted. After one listing without faults, the
/// catalogue contains exactly the existing repositories.
#[test]
fn catalogue_matches_hosting_services_and_faults_delete_nothing() {
    const OWNERS: [&str; 2] = ["acme", "beta"];
    let event = prop_oneof![
        4 => (0..2_usize, 1..6_u64, 1..5_u64).prop_map(|(owner, id, name)| Event::Put { owner, id, name }),
        2 => (1..6_u64).prop_map(|id| Event::Take { id }),
        2 => (0..2_usize).prop_map(|owner| Event::Fail { owner }),
        1 => (1..6_u64).prop_map(|id| Event::Hide { id }),
        1 => Just(Event::NoAnswers),
    ];
    let histories = prop::collection::vec(prop::collection::vec(event, 0..5), 1..6);
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let mut runner = TestRunner::new(ProptestConfig::with_cases(400));
    let outcome = runner.run(&histories, |history| {
        runtime.block_on(async {
            let world = World::new();
            let both = || OWNERS.map(|owner| world.watched(owner, world.deleting()));
            for events in history {
                let before = world.records().await;
                let mut has_failed = false;
                for event in events {
                    match event {
                        Event::Put { owner, id, name } => {
                            let name = format!("name-{name}");
                            let is_taken = |(at, (whose, held)): (&String, &(String, HostedRepository))| {
                                *at != id.to_string() && whose == OWNERS[owner] && held.name == name
                            };
                            // Names are unique within a service.
                            if !lock(&world.service).repositories.iter().any(is_taken) {
                                world.put_named(OWNERS[owner], id, &name);
                            }
                        }
                        Event::Take { id } => world.take(id),
                        Event::Fail { owner } => {
                            has_failed = true;
                            lock(&world.service).failing.push(OWNERS[owner].to_owned());
                        }
                        Event::Hide { id } => lock(&world.service).hidden.push(id.to_string()),
                        Event::NoAnswers => lock(&world.service).failing.push("whereabouts".to_owned()),
                    }
                }
                world.run(&both()).await;
                let now = world.records().await;
                let held = lock(&world.service).repositories.clone();
                for record in &now {
                    let hosted = record.hosted.as_ref().expect("hosted");
                    let is_new = before.iter().all(|known| known.id != record.id);
                    prop_assert!(
                        !is_new || held.contains_key(&hosted.id),
                        "a repository that does not exist was registered: {record:?}"
                    );
                }
                for record in &before {
                    let hosted = record.hosted.as_ref().expect("hosted");
                    let is_kept = now.iter().any(|known| known.id == record.id);
                    prop_assert!(is_kept || !has_failed, "a repository was deleted after an error: {record:?}");
                    prop_assert!(
                        is_kept || !held.contains_key(&hosted.id),
                        "an existing repository was deleted: {record:?}"
                    );
                }
                let mut service = lock(&world.service);
                service.failing.clear();
                service.hidden.clear();
            }
            world.run(&both()).await;
            let mut found: Vec<(String, String)> = Vec::new();
            for record in world.records().await {
                found.push((record.hosted.expect("hosted").id, record.name.to_string()));
            }
            found.sort();
            let held = lock(&world.service).repositories.clone();
            let listed = |owner: &str| held.values().any(|(whose, _)| whose == owner);
            let expect: Vec<(String, String)> = held
                .iter()
                .map(|(id, (owner, held))| (id.clone(), format!("git.example/{owner}/{}", held.name)))
                .collect();
            // An empty list deletes no repository, so this check is made only if every organisation has a
            // repository.
            if OWNERS.iter().all(|owner| listed(owner)) {
                prop_assert_eq!(found, expect);
            }
            let again = world.run(&both()).await;
            let changed =
                again.iter().flatten().any(|changes| !changes.added.is_empty() || !changes.renamed.is_empty());
            prop_assert!(!changed && again.iter().flatten().all(|changes| changes.num_updated == 0), "{again:?}");
            Ok(())
        })
    });
    outcome.expect("holds");
}
