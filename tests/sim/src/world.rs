//! One run: actors over the production code, faults for a while, then healing, and the final invariants.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cairn_domain::{RepositoryId, RepositoryName, Source, Tenant};
use cairn_metastore::Metastore;
use cairn_ports::{Catalogue, RepositoryRecord};
use cairn_testkit::MemoryBlobs;

use crate::environment::{Environment, Remote};
use crate::mutants::Mutant;
use crate::schedule::{Faults, START_MS, Schedule, Task};
use crate::source::{Content, Manifest};
use crate::{quota, reader, scheduler, users};

const MINUTE_MS: i64 = 60_000;
/// After healing, all work must end within this time: longer than the whole retry ladder and two graces.
const QUIET_WITHIN_MS: i64 = 8 * 60 * MINUTE_MS;

/// The result of a run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Outcome {
    pub violation: Option<String>,
    pub trace: Vec<String>,
    pub num_published: u64,
    pub num_aborted: u64,
    pub num_deleted: u64,
    pub num_answers: u64,
}

pub struct World {
    pub environment: Arc<Environment>,
    pub runs: Metastore,
    pub blobs: Arc<MemoryBlobs>,
    pub names: Vec<RepositoryName>,
    sources: Mutex<BTreeMap<RepositoryId, Content>>,
    manifests: Mutex<BTreeMap<String, Manifest>>,
    /// Messages without an answer.
    pub num_jobs: AtomicUsize,
    pub num_answers: AtomicUsize,
    pub is_healed: AtomicBool,
    is_over: AtomicBool,
}

/// Runs a seed to its end.
pub fn run(seed: u64, mutant: Option<Mutant>, is_traced: bool) -> Outcome {
    let world = World::new(seed, mutant, is_traced);
    world.live();
    world.is_over.store(true, Ordering::Relaxed);
    let schedule = &world.environment.schedule;
    schedule.end();
    let history = world.environment.history();
    Outcome {
        violation: schedule.violation(),
        trace: schedule.take_trace(),
        num_published: history.num_published,
        num_aborted: history.num_aborted,
        num_deleted: history.num_deleted,
        num_answers: world.num_answers.load(Ordering::Relaxed) as u64,
    }
}

impl World {
    fn new(seed: u64, mutant: Option<Mutant>, is_traced: bool) -> Arc<Self> {
        let schedule = Schedule::new(seed, is_traced);
        let num_repositories = 1 + schedule.random(3);
        let environment = Environment::new(schedule, mutant);
        Arc::new(Self {
            runs: Metastore::new(Arc::new(Remote(Arc::clone(&environment)))),
            environment,
            blobs: Arc::new(MemoryBlobs::new()),
            names: (0..num_repositories).map(|number| RepositoryName::new(format!("r{number}"))).collect(),
            sources: Mutex::default(),
            manifests: Mutex::default(),
            num_jobs: AtomicUsize::new(0),
            num_answers: AtomicUsize::new(0),
            is_healed: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
        })
    }

    pub fn schedule(&self) -> &Arc<Schedule> {
        &self.environment.schedule
    }

    pub fn now(&self) -> i64 {
        self.environment.schedule.now()
    }

    pub fn is_healed(&self) -> bool {
        self.is_healed.load(Ordering::Relaxed)
    }

    pub fn id(&self, name: &RepositoryName) -> RepositoryId {
        RepositoryId::derive(&Tenant::local(), name)
    }

    pub fn any_repository(&self) -> RepositoryName {
        self.names[self.schedule().random(self.names.len() as u64) as usize].clone()
    }

    pub fn sources(&self) -> MutexGuard<'_, BTreeMap<RepositoryId, Content>> {
        self.sources.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn manifest(&self, key: &str) -> Manifest {
        let manifests = self.manifests.lock().unwrap_or_else(PoisonError::into_inner);
        manifests.get(key).cloned().unwrap_or_default()
    }

    pub fn keep_manifest(&self, manifest: Manifest) -> String {
        let mut manifests = self.manifests.lock().unwrap_or_else(PoisonError::into_inner);
        let key = format!("sim/manifest-{}", manifests.len());
        manifests.insert(key.clone(), manifest);
        key
    }

    pub fn record(&self, name: &RepositoryName) -> RepositoryRecord {
        RepositoryRecord {
            id: self.id(name),
            tenant: Tenant::local(),
            name: name.clone(),
            source: Source::Url { url: format!("https://example.org/{}", name.as_str()) },
            branch: None,
            settings: String::new(),
            aliases: Vec::new(),
            hosted: None,
            last_sync: None,
            pending_sync: None,
        }
    }

    /// A process that restarts whenever it ends.
    pub fn supervise<F: Future<Output = ()> + Send + 'static>(self: &Arc<Self>, start: fn(Arc<World>) -> F) {
        let boxed: Arc<dyn Fn(Arc<World>) -> Task + Send + Sync> = Arc::new(move |world| Box::pin(start(world)));
        supervise(self, boxed);
    }

    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    fn live(self: &Arc<Self>) {
        let schedule = self.schedule();
        if schedule.random(8) == 0 {
            quota::start(schedule, self.environment.mutant);
        }
        schedule.set_faults(self.draw_faults());
        schedule.trace(|| format!("{:?}", schedule.faults()));
        users::start(self);
        for start in scheduler::ALL {
            self.supervise(*start);
        }
        for _ in 0..2 {
            self.supervise(reader::read);
        }
        schedule.run_until(START_MS + MINUTE_MS * (15 + schedule.random(30) as i64));
        self.heal();
    }

    fn draw_faults(&self) -> Faults {
        let schedule = self.schedule();
        let some = |most: u64| if schedule.random(2) == 0 { 0 } else { schedule.random(most) };
        Faults {
            deaths: some(25),
            stalls: some(25),
            lost_answers: some(40),
            duplicates: some(500),
            lost_jobs: some(150),
            poison: some(150),
            latency_ms: [20, 500, 5_000][schedule.random(3) as usize],
        }
    }

    /// From here on, no fault happens, and the effects of earlier faults must disappear.
    fn heal(self: &Arc<Self>) {
        let schedule = self.schedule();
        schedule.trace(|| "healed".to_owned());
        schedule.set_faults(Faults { latency_ms: 20, ..Faults::default() });
        self.is_healed.store(true, Ordering::Relaxed);
        // Stopped processes wake first.
        schedule.run_until(self.now() + 15 * MINUTE_MS);
        self.wait_until_quiet();
        let world = Arc::clone(self);
        schedule.spawn(async move { users::ask_all(&world).await });
        self.wait_until_quiet();
        self.check_the_end();
    }

    fn wait_until_quiet(self: &Arc<Self>) {
        let until_ms = self.now() + QUIET_WITHIN_MS;
        // A request that is made now is not yet visible.
        self.schedule().run_until(self.now() + MINUTE_MS);
        while self.schedule().violation().is_none() {
            let Some(noise) = self.noise() else { return };
            if self.now() > until_ms {
                return self.schedule().violate(format!("not quiet after healing: {noise}"));
            }
            self.schedule().run_until(self.now() + 5 * MINUTE_MS);
        }
    }

    /// The work that is left, if any.
    fn noise(&self) -> Option<String> {
        let registry = self.environment.memory.head();
        if !registry.unpublished.is_empty() || !registry.deletions.is_empty() {
            return Some(format!("{registry:?}"));
        }
        let num_jobs = self.num_jobs.load(Ordering::Relaxed);
        if num_jobs > 0 {
            return Some(format!("{num_jobs} jobs"));
        }
        for name in &self.names {
            let Some(document) = self.environment.memory.repository(self.id(name)) else { continue };
            let state = document.state;
            let is_quiet = state.requests.wanted.is_none() && state.unfinished.is_none() && state.aborted.is_empty();
            if !is_quiet {
                return Some(format!("{} {state:?}", name.as_str()));
            }
        }
        let rows = (0..2).map(|number| self.environment.rows(number).0.len()).sum::<usize>();
        let published = self.num_records_published();
        (rows != published).then(|| format!("{rows} records are stored, {published} are published"))
    }

    fn num_records_published(&self) -> usize {
        let history = self.environment.history();
        let published = self.names.iter().filter_map(|name| history.published(self.id(name)));
        2 * published.map(|generation| history.content(generation).len()).sum::<usize>()
    }

    /// Checks that the published content equals the source.
    fn check_the_end(&self) {
        for name in &self.names {
            let id = self.id(name);
            self.environment.check(id);
            let is_live = self.environment.memory.repository(id).is_some_and(|document| !document.state.is_deleted);
            let source = self.sources().get(&id).cloned().unwrap_or_default();
            let history = self.environment.history();
            let published = history.published(id).map(|generation| history.content(generation));
            drop(history);
            if published != is_live.then_some(source.clone()) {
                let message = format!("{}: {published:?} is published of {source:?}", name.as_str());
                self.schedule().violate(message);
            }
        }
    }

    pub async fn register(&self, name: &RepositoryName) {
        let registered = self.runs.register(self.record(name)).await;
        self.schedule().trace(|| format!("registers {}: {}", name.as_str(), registered.is_ok()));
    }
}

type Start = Arc<dyn Fn(Arc<World>) -> Task + Send + Sync>;

fn supervise(world: &Arc<World>, start: Start) {
    let supervised = Supervised { world: Arc::clone(world), start };
    world.schedule().spawn(async move {
        let supervised = supervised;
        (supervised.start)(Arc::clone(&supervised.world)).await;
    });
}

struct Supervised {
    world: Arc<World>,
    start: Start,
}

impl Drop for Supervised {
    fn drop(&mut self) {
        if self.world.is_over() {
            return;
        }
        let (world, start) = (Arc::clone(&self.world), Arc::clone(&self.start));
        self.world.schedule().spawn(async move {
            world.schedule().sleep(10_000).await;
            supervise(&world, start);
        });
    }
}
