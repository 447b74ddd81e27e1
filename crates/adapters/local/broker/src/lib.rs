//! The in-process broker. The broker has bounded queues, two lanes, prefetch, acknowledgements, retries and
//! dead letters.
//!
//! Jobs are lost when the process ends. The ledger stores which parts are open, and the jobs of these parts
//! are published again after a restart. While the process runs, a published job is waiting, delivered,
//! delayed or settled, and never lost. At most `prefetch` jobs of a stage are unsettled. Interactive jobs
//! have priority over bulk jobs. Within a lane, jobs are delivered in the order in which they were published.
//!
//! The broker cannot detect the end of a consumer in the same process, because no connection breaks. So the
//! owner of the consumers calls [`LocalBroker::reclaim`] when a consumer ends (by a panic or an aborted
//! task). A delivery that is not answered within `unanswered_after` is also reclaimed. A reclaimed job
//! returns to the front of its lane, and its count of unanswered deliveries increases.

mod queue;
mod settings;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use cairn_domain::{Lane, MessageId, StageName};
use cairn_ports::{Broker, BrokerError, DeadLetter, DeadLetters, Delivery, ErrorKind, FailureCode, Settlement, Sought};
use cairn_wire::Job;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use crate::queue::{Message, StageQueue};
pub use crate::settings::QueueSettings;

/// The in-process broker.
pub struct LocalBroker {
    state: Mutex<State>,
    signals: BTreeMap<StageName, Signals>,
}

struct State {
    queues: BTreeMap<StageName, StageQueue>,
    /// The stage of each outstanding delivery, by tag.
    outstanding: BTreeMap<u64, StageName>,
    dead_letters: Vec<DeadLetter>,
    next_tag: u64,
    is_closed: bool,
}

#[derive(Default)]
struct Signals {
    /// Notified when a job may have become receivable.
    ready: Notify,
    /// Notified when a queue may have free capacity.
    capacity: Notify,
}

impl LocalBroker {
    /// `settings` returns the limits of each stage's queue.
    pub fn new(settings: impl Fn(StageName) -> QueueSettings) -> Self {
        let queues = StageName::ALL.iter().map(|stage| (*stage, StageQueue::new(settings(*stage)))).collect();
        let signals = StageName::ALL.iter().map(|stage| (*stage, Signals::default())).collect();
        let state =
            State { queues, outstanding: BTreeMap::new(), dead_letters: Vec::new(), next_tag: 1, is_closed: false };
        Self { state: Mutex::new(state), signals }
    }

    /// Reclaims a delivery whose consumer has ended. Returns `NotFound` for a tag that is not outstanding.
    pub fn reclaim(&self, tag: u64) -> Result<(), BrokerError> {
        let mut state = self.lock();
        let stage = state.outstanding.remove(&tag).ok_or_else(|| unknown_tag("reclaim", tag))?;
        state.queue(stage).reclaim(tag);
        drop(state);
        self.signals[&stage].ready.notify_waiters();
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No method can panic in the middle of a change, so the state behind a poisoned lock is consistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enqueues jobs while the queue has capacity. Returns the stage whose queue is full, if any. A closed
    /// broker accepts all jobs. Its consumers no longer free any capacity, so a handler that is finishing its
    /// work would otherwise wait forever.
    fn enqueue(&self, lane: Lane, jobs: &mut std::iter::Peekable<std::vec::IntoIter<Job>>) -> Option<StageName> {
        let mut state = self.lock();
        let is_closed = state.is_closed;
        while let Some(job) = jobs.peek() {
            let stage = job.stage();
            let queue = state.queue(stage);
            if !is_closed && !queue.has_capacity() {
                return Some(stage);
            }
            if let Some(job) = jobs.next() {
                queue.push_back(Message::new(lane, job));
                self.signals[&stage].ready.notify_waiters();
            }
        }
        None
    }

    /// Returns a delivery, or the time at which a message may become receivable.
    fn try_receive(&self, stage: StageName) -> Received {
        let mut state = self.lock();
        if state.is_closed {
            return Received::Closed;
        }
        let now = Instant::now();
        for tag in state.queue(stage).reclaim_unanswered(now) {
            state.outstanding.remove(&tag);
        }
        let tag = state.next_tag;
        let Some(delivery) = state.queue(stage).deliver(tag, now) else {
            return Received::Wait(state.queue(stage).next_change());
        };
        state.next_tag += 1;
        state.outstanding.insert(tag, stage);
        Received::Delivery(delivery)
    }
}

enum Received {
    Delivery(Delivery),
    Wait(Option<Instant>),
    Closed,
}

impl State {
    fn queue(&mut self, stage: StageName) -> &mut StageQueue {
        self.queues.entry(stage).or_insert_with(|| StageQueue::new(QueueSettings::default()))
    }
}

#[async_trait]
impl Broker for LocalBroker {
    async fn publish(&self, lane: Lane, jobs: Vec<Job>) -> Result<(), BrokerError> {
        let mut jobs = jobs.into_iter().peekable();
        while let Some(full) = jobs.peek().map(|job| job.stage()) {
            // The wait is registered before the check, so that no signal between the check and the wait is
            // missed.
            let mut capacity = std::pin::pin!(self.signals[&full].capacity.notified());
            capacity.as_mut().enable();
            match self.enqueue(lane, &mut jobs) {
                Some(stage) if stage == full => capacity.await,
                _ => {}
            }
        }
        Ok(())
    }

    async fn receive(&self, stage: StageName) -> Result<Option<Delivery>, BrokerError> {
        loop {
            let mut ready = std::pin::pin!(self.signals[&stage].ready.notified());
            ready.as_mut().enable();
            match self.try_receive(stage) {
                Received::Delivery(delivery) => {
                    self.signals[&stage].capacity.notify_waiters();
                    return Ok(Some(delivery));
                }
                Received::Closed => return Ok(None),
                Received::Wait(None) => ready.await,
                Received::Wait(Some(until)) => {
                    tokio::select! {
                        () = ready => {}
                        () = sleep_until(until) => {}
                    }
                }
            }
        }
    }

    async fn dead_letter(&self, tag: u64, code: FailureCode, message: &str) -> Result<(), BrokerError> {
        let mut state = self.lock();
        let stage = state.outstanding.get(&tag).copied();
        let letter = stage.and_then(|stage| state.queue(stage).dead_letter(tag, code, message));
        state.dead_letters.push(letter.ok_or_else(|| unknown_tag("dead_letter", tag))?);
        Ok(())
    }

    async fn settle(&self, tag: u64, settlement: Settlement) -> Result<(), BrokerError> {
        let mut state = self.lock();
        let stage = state.outstanding.remove(&tag).ok_or_else(|| unknown_tag("settle", tag))?;
        state.queue(stage).settle(tag, settlement, Instant::now());
        drop(state);
        self.signals[&stage].ready.notify_waiters();
        Ok(())
    }

    async fn depth(&self, stage: StageName) -> Result<u64, BrokerError> {
        Ok(self.lock().queue(stage).depth())
    }

    async fn close(&self) {
        self.lock().is_closed = true;
        for signals in self.signals.values() {
            signals.ready.notify_waiters();
            signals.capacity.notify_waiters();
        }
    }
}

#[async_trait]
impl DeadLetters for LocalBroker {
    async fn dead_letters(&self, limit: usize) -> Result<Vec<DeadLetter>, BrokerError> {
        Ok(self.lock().dead_letters.iter().take(limit).cloned().collect())
    }

    async fn take(&self, ids: &[MessageId]) -> Result<Vec<DeadLetter>, BrokerError> {
        let mut sought = Sought::new(ids);
        Ok(self.lock().dead_letters.extract_if(.., |letter| sought.found(letter.id)).collect())
    }
}

fn unknown_tag(operation: &'static str, tag: u64) -> BrokerError {
    BrokerError::new(ErrorKind::NotFound, operation, tag.to_string())
}
