//! Runs one seed: actors use the production code while faults happen, then the faults end, and the final
//! invariants are checked.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::mutants::Mutant;
use crate::schedule::{Faults, START_MS};
use crate::world::World;
use crate::{quota, reader, runner, scheduler, users};

const MINUTE_MS: i64 = 60_000;
/// The time limit for completing all work after the faults end. This limit is longer than all retry delays
/// and two grace periods together.
const QUIET_WITHIN_MS: i64 = 8 * 60 * MINUTE_MS;

/// The result of one simulation.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RunSummary {
    pub violation: Option<String>,
    pub trace: Vec<String>,
    pub num_published: u64,
    pub num_aborted: u64,
    pub num_deleted: u64,
    pub num_answers: u64,
}

/// Runs the simulation of one seed to its end.
pub fn run(seed: u64, mutant: Option<Mutant>, is_traced: bool) -> RunSummary {
    let world = World::new(seed, mutant, is_traced, |world, delivery| Box::pin(runner::handle(world, delivery)));
    Run(Arc::clone(&world)).live();
    world.is_over.store(true, Ordering::Relaxed);
    let schedule = &world.environment.schedule;
    schedule.end();
    let history = world.environment.history();
    RunSummary {
        violation: schedule.violation(),
        trace: schedule.take_trace(),
        num_published: history.num_published,
        num_aborted: history.num_aborted,
        num_deleted: history.num_deleted,
        num_answers: world.num_answers.load(Ordering::Relaxed) as u64,
    }
}

struct Run(Arc<World>);

impl Run {
    fn live(&self) {
        let schedule = self.0.schedule();
        if schedule.random(8) == 0 {
            quota::start(schedule, self.0.environment.mutant);
        }
        schedule.set_faults(self.draw_faults());
        schedule.trace(|| format!("{:?}", schedule.faults()));
        users::start(&self.0);
        for start in scheduler::ALL {
            self.0.supervise(*start);
        }
        for _ in 0..2 {
            self.0.supervise(reader::read);
        }
        schedule.run_until(START_MS + MINUTE_MS * (15 + schedule.random(30) as i64));
        self.heal();
    }

    fn draw_faults(&self) -> Faults {
        let schedule = self.0.schedule();
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

    /// Ends all faults. After that, the effects of earlier faults must disappear.
    fn heal(&self) {
        let schedule = self.0.schedule();
        schedule.trace(|| "healed".to_owned());
        schedule.set_faults(Faults { latency_ms: 20, ..Faults::default() });
        self.0.is_healed.store(true, Ordering::Relaxed);
        // Waits first until the stopped processes have continued.
        schedule.run_until(self.0.now() + 15 * MINUTE_MS);
        self.wait_until_quiet();
        let world = Arc::clone(&self.0);
        schedule.spawn(async move { users::ask_all(&world).await });
        self.wait_until_quiet();
        self.check_the_end();
    }

    fn wait_until_quiet(&self) {
        let until_ms = self.0.now() + QUIET_WITHIN_MS;
        // The simulation first runs for a minute, because a request that has just been sent is not visible
        // yet.
        self.0.schedule().run_until(self.0.now() + MINUTE_MS);
        while self.0.schedule().violation().is_none() {
            let Some(noise) = self.noise() else { return };
            if self.0.now() > until_ms {
                return self.0.schedule().violate(format!("work remains long after the faults have ended: {noise}"));
            }
            self.0.schedule().run_until(self.0.now() + 5 * MINUTE_MS);
        }
    }

    /// Describes the remaining work; None if no work remains.
    fn noise(&self) -> Option<String> {
        let registry = self.0.environment.memory.head();
        if !registry.unpublished.is_empty() || !registry.deletions.is_empty() {
            return Some(format!("{registry:?}"));
        }
        let num_jobs = self.0.num_jobs.load(Ordering::Relaxed);
        if num_jobs > 0 {
            return Some(format!("{num_jobs} jobs"));
        }
        for name in &self.0.names {
            let Some(document) = self.0.environment.memory.repository(self.0.id(name)) else { continue };
            let state = document.state;
            let is_quiet = state.requests.wanted.is_none() && state.unfinished.is_none() && state.aborted.is_empty();
            if !is_quiet {
                return Some(format!("{} {state:?}", name.as_str()));
            }
        }
        let rows = (0..2).map(|number| self.0.environment.rows(number).0.len()).sum::<usize>();
        let published = self.num_records_published();
        (rows != published).then(|| format!("{rows} records are stored, {published} are published"))
    }

    fn num_records_published(&self) -> usize {
        let history = self.0.environment.history();
        let published = self.0.names.iter().filter_map(|name| history.published(self.0.id(name)));
        2 * published.map(|generation| history.content(generation).len()).sum::<usize>()
    }

    /// Checks that the published content equals the source.
    fn check_the_end(&self) {
        for name in &self.0.names {
            let id = self.0.id(name);
            self.0.environment.check(id);
            let is_live = self.0.environment.memory.repository(id).is_some_and(|document| !document.state.is_deleted);
            let source = self.0.sources().get(&id).cloned().unwrap_or_default();
            let history = self.0.environment.history();
            let published = history.published(id).map(|generation| history.content(generation));
            drop(history);
            if published != is_live.then_some(source.clone()) {
                let message = format!("{}: {published:?} is published of {source:?}", name.as_str());
                self.0.schedule().violate(message);
            }
        }
    }
}
