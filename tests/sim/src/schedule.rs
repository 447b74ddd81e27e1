//! Simulated time, random numbers and crashes. Tasks are futures. The time jumps to the moment when the next
//! task wakes. All random numbers are derived from one seed.
//!
//! A single thread polls one future at a time, and a task yields only when it sleeps. So the seed determines
//! the whole simulation.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use cairn_ports::Clock;

pub type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The time at which a simulation starts, in milliseconds since 1970.
pub const START_MS: i64 = 1_000_000_000;

/// The rates of faults. The rates are drawn from the seed, so that some seeds have only one kind of fault.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Faults {
    /// Per thousand steps: how often the process ends.
    pub deaths: u64,
    /// Per thousand steps: how often the process stops for up to ten minutes.
    pub stalls: u64,
    /// Per thousand calls: how often the answer is lost, whether or not the call was carried out.
    pub lost_answers: u64,
    /// Per thousand jobs: how often a job is delivered more than once.
    pub duplicates: u64,
    /// Per thousand jobs: how often a job is lost and not confirmed.
    pub lost_jobs: u64,
    /// Per thousand parts: how often a part cannot be parsed.
    pub poison: u64,
    /// The maximum duration of a call.
    pub latency_ms: u64,
}

struct State {
    now_ms: i64,
    random: u64,
    faults: Faults,
    num_wakes: u64,
    wakes: BinaryHeap<Reverse<(i64, u64, u64)>>,
    tasks: BTreeMap<u64, Option<Task>>,
    num_tasks: u64,
    running: u64,
    dead: BTreeSet<u64>,
    trace: Option<Vec<String>>,
    violation: Option<String>,
}

pub struct Schedule {
    state: Mutex<State>,
}

impl Schedule {
    pub fn new(seed: u64, is_traced: bool) -> Arc<Self> {
        let state = State {
            now_ms: START_MS,
            random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d,
            faults: Faults::default(),
            num_wakes: 0,
            wakes: BinaryHeap::new(),
            tasks: BTreeMap::new(),
            num_tasks: 0,
            running: 0,
            dead: BTreeSet::new(),
            trace: is_traced.then(Vec::new),
            violation: None,
        };
        Arc::new(Self { state: Mutex::new(state) })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn now(&self) -> i64 {
        self.lock().now_ms
    }

    /// A random number that is less than `below` (SplitMix64).
    pub fn random(&self, below: u64) -> u64 {
        let mut state = self.lock();
        state.random = state.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % below.max(1)
    }

    pub fn chance(&self, per_thousand: u64) -> bool {
        per_thousand > 0 && self.random(1000) < per_thousand
    }

    pub fn faults(&self) -> Faults {
        self.lock().faults
    }

    pub fn set_faults(&self, faults: Faults) {
        self.lock().faults = faults;
    }

    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut state = self.lock();
        state.num_tasks += 1;
        let (id, now_ms) = (state.num_tasks, state.now_ms);
        state.tasks.insert(id, Some(Box::pin(task)));
        state.wake(id, now_ms);
    }

    pub fn sleep(self: &Arc<Self>, ms: u64) -> Sleep {
        let at_ms = self.now() + ms as i64;
        Sleep { schedule: Arc::clone(self), at_ms, is_set: false }
    }

    /// Sleeps for the time that a message takes to arrive.
    pub fn latency(self: &Arc<Self>) -> Sleep {
        let longest = self.faults().latency_ms.max(2);
        self.sleep(self.random(longest))
    }

    /// A point between two steps of a process. At this point, the process may be slow, stop for a long time,
    /// or end.
    pub async fn step(self: &Arc<Self>) {
        let faults = self.faults();
        if self.chance(faults.deaths) {
            self.die().await;
        }
        if self.chance(faults.stalls) {
            self.trace(|| "stops for a while".to_owned());
            self.sleep(self.random(600_000)).await;
        }
        self.latency().await;
    }

    async fn die(&self) {
        self.trace(|| "dies".to_owned());
        {
            let mut state = self.lock();
            let running = state.running;
            state.dead.insert(running);
        }
        std::future::pending::<()>().await;
    }

    /// Runs all tasks that wake before this time.
    pub fn run_until(&self, until_ms: i64) {
        while let Some((id, mut task)) = self.next(until_ms) {
            let ended = task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready();
            let mut state = self.lock();
            if ended || state.dead.remove(&id) {
                state.tasks.remove(&id);
                drop(state);
                // Dropping a future releases the resources of a dead process. This may spawn tasks, so the
                // lock must be released first.
                drop(task);
            } else {
                state.tasks.insert(id, Some(task));
                drop(state);
            }
            if self.violation().is_some() {
                return;
            }
        }
        let mut state = self.lock();
        state.now_ms = state.now_ms.max(until_ms);
    }

    fn next(&self, until_ms: i64) -> Option<(u64, Task)> {
        let mut state = self.lock();
        loop {
            let Reverse((at_ms, _, _)) = *state.wakes.peek()?;
            if at_ms > until_ms {
                return None;
            }
            let Reverse((_, _, id)) = state.wakes.pop()?;
            state.now_ms = state.now_ms.max(at_ms);
            if let Some(task) = state.tasks.get_mut(&id).and_then(Option::take) {
                state.running = id;
                return Some((id, task));
            }
        }
    }

    /// Records the first violation, and ends the simulation.
    pub fn violate(&self, what: impl Into<String>) {
        let what = what.into();
        self.trace(|| format!("VIOLATION: {what}"));
        self.lock().violation.get_or_insert(what);
    }

    pub fn violation(&self) -> Option<String> {
        self.lock().violation.clone()
    }

    pub fn trace(&self, line: impl FnOnce() -> String) {
        if self.lock().trace.is_none() {
            return;
        }
        let line = line();
        let mut state = self.lock();
        let (seconds, running) = ((state.now_ms - START_MS) as f64 / 1000.0, state.running);
        state.trace.get_or_insert_default().push(format!("{seconds:10.3} #{running:<5} {line}"));
    }

    pub fn take_trace(&self) -> Vec<String> {
        self.lock().trace.take().unwrap_or_default()
    }

    /// Ends all tasks, so that their resources are released.
    pub fn end(&self) {
        let tasks = std::mem::take(&mut self.lock().tasks);
        drop(tasks);
        let left = std::mem::take(&mut self.lock().tasks);
        drop(left);
    }
}

impl State {
    fn wake(&mut self, id: u64, at_ms: i64) {
        self.num_wakes += 1;
        let order = self.num_wakes;
        self.wakes.push(Reverse((at_ms, order, id)));
    }
}

pub struct Sleep {
    schedule: Arc<Schedule>,
    at_ms: i64,
    is_set: bool,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        let mut state = self.schedule.lock();
        if self.is_set && self.at_ms <= state.now_ms {
            return Poll::Ready(());
        }
        if !self.is_set {
            let running = state.running;
            state.wake(running, self.at_ms);
            drop(state);
            self.is_set = true;
        }
        Poll::Pending
    }
}

/// The simulated clock, as an implementation of the port `Clock` for the stages.
pub struct SimulatedClock(pub Arc<Schedule>);

impl Clock for SimulatedClock {
    fn now_ms(&self) -> i64 {
        self.0.now()
    }

    fn monotonic(&self) -> Duration {
        Duration::from_millis((self.0.now() - START_MS) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order_of_two(seed: u64) -> Vec<(i64, u8)> {
        let schedule = Schedule::new(seed, false);
        let seen = Arc::new(Mutex::new(Vec::new()));
        for name in 0..2 {
            let (schedule, seen, own) = (Arc::clone(&schedule), Arc::clone(&seen), Arc::clone(&schedule));
            schedule.spawn(async move {
                for _ in 0..5 {
                    own.sleep(own.random(1000)).await;
                    seen.lock().expect("no panic").push((own.now(), name));
                }
            });
        }
        schedule.run_until(START_MS + 10_000);
        schedule.end();
        seen.lock().expect("no panic").clone()
    }

    #[test]
    fn seed_determines_the_order() {
        assert_eq!(order_of_two(1), order_of_two(1));
        assert_ne!(order_of_two(1), order_of_two(2));
        assert!(order_of_two(3).is_sorted_by_key(|(at_ms, _)| *at_ms));
        assert_eq!(order_of_two(3).len(), 10);
    }

    #[test]
    fn dead_task_stops_and_releases_its_resources() {
        let schedule = Schedule::new(1, false);
        schedule.set_faults(Faults { deaths: 1000, ..Faults::default() });
        let (own, held) = (Arc::clone(&schedule), Arc::new(()));
        let weak = Arc::downgrade(&held);
        schedule.spawn(async move {
            own.step().await;
            drop(held);
            own.violate("went on");
        });
        schedule.run_until(START_MS + 1_000_000);
        assert_eq!(schedule.violation(), None);
        assert!(weak.upgrade().is_none());
    }
}
