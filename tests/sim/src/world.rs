//! The state that all actors share.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cairn_domain::{RepositoryId, RepositoryName, Source, Tenant};
use cairn_metastore::Metastore;
use cairn_ports::{Catalogue, Delivery, RepositoryRecord, Settlement};
use cairn_testkit::MemoryBlobs;

use crate::environment::{Environment, Remote};
use crate::mutants::Mutant;
use crate::schedule::{Schedule, Task};
use crate::source::{Content, Manifest};

/// A handler of deliveries. The broker calls the handler through `World::runner`. A direct call would make
/// the two files depend on each other, because the handler itself publishes jobs at the broker.
pub type Runner = fn(Arc<World>, Delivery) -> Pin<Box<dyn Future<Output = Settlement> + Send>>;

pub struct World {
    pub environment: Arc<Environment>,
    pub runs: Metastore,
    pub blobs: Arc<MemoryBlobs>,
    pub names: Vec<RepositoryName>,
    sources: Mutex<BTreeMap<RepositoryId, Content>>,
    manifests: Mutex<BTreeMap<String, Manifest>>,
    /// The number of jobs that were sent but not answered yet.
    pub num_jobs: AtomicUsize,
    pub num_answers: AtomicUsize,
    pub is_healed: AtomicBool,
    pub is_over: AtomicBool,
    /// Processes a delivery, and returns how to settle it.
    pub runner: Runner,
}

impl World {
    pub fn new(seed: u64, mutant: Option<Mutant>, is_traced: bool, runner: Runner) -> Arc<Self> {
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
            runner,
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
        let source = Source::Url { url: format!("https://example.org/{}", name.as_str()) };
        RepositoryRecord::new(Tenant::local(), name.clone(), source)
    }

    /// Runs a process, and restarts it whenever it ends.
    pub fn supervise<F: Future<Output = ()> + Send + 'static>(self: &Arc<Self>, start: fn(Arc<World>) -> F) {
        let boxed: Arc<dyn Fn(Arc<World>) -> Task + Send + Sync> = Arc::new(move |world| Box::pin(start(world)));
        supervise(self, boxed);
    }

    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
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
