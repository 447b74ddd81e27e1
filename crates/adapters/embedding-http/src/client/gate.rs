//! The gate in front of the provider: calls wait here, in the order in which they came, until `Control` lets them go.
//!
//! Questions and passages queue apart, so at most one of each asks at a time: a large batch is not overtaken for ever by small
//! ones, and a question does not stand behind passages.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until, timeout};

use super::counters::Count;
use crate::control::{Class, Control, End, Permit, Verdict};

const LONGEST_JITTER: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct Gate {
    control: Mutex<Control>,
    origin: Instant,
    /// A call has ended.
    changed: Notify,
    questions: Queue,
    passages: Queue,
}

#[derive(Debug)]
struct Queue {
    turn: tokio::sync::Mutex<()>,
    patience: Patience,
}

/// How long a call may wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Patience {
    /// In all: for others, for the pace.
    pub in_all: Duration,
    /// When the provider said to wait.
    pub throttled: Duration,
}

/// Why a call may not be made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Closed {
    Throttled { retry_after: Duration },
    Broken { retry_after: Duration },
    TooMuch,
}

/// A call that may be made. What is dropped without an end was given up.
#[derive(Debug)]
pub(super) struct Pass<'a> {
    gate: &'a Gate,
    permit: Option<Permit>,
}

impl Gate {
    pub(super) fn new(control: Control, origin: Instant, questions: Patience, passages: Patience) -> Self {
        let queue = |patience| Queue { turn: tokio::sync::Mutex::new(()), patience };
        let (questions, passages) = (queue(questions), queue(passages));
        Self { control: Mutex::new(control), origin, changed: Notify::new(), questions, passages }
    }

    pub(super) fn now(&self) -> Duration {
        self.origin.elapsed()
    }

    pub(super) fn control(&self) -> MutexGuard<'_, Control> {
        self.control.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for its turn, and then until `ask` says that the call may go: it is asked whenever that may have changed.
    pub(super) async fn enter(
        &self,
        class: Class,
        waited_ms: &Count,
        ask: impl FnMut(&mut Control, Duration) -> Verdict,
    ) -> Result<Pass<'_>, Closed> {
        let queue = match class {
            Class::Questions => &self.questions,
            Class::Passages => &self.passages,
        };
        let asked_at = self.now();
        let in_turn = async {
            let _turn = queue.turn.lock().await;
            self.wait(class, queue.patience, ask).await
        };
        let entered = timeout(queue.patience.in_all, in_turn).await;
        waited_ms.add((self.now() - asked_at).as_millis() as u64);
        entered.unwrap_or(Err(Closed::Throttled { retry_after: queue.patience.in_all.min(Duration::from_secs(10)) }))
    }

    async fn wait(
        &self,
        class: Class,
        patience: Patience,
        mut ask: impl FnMut(&mut Control, Duration) -> Verdict,
    ) -> Result<Pass<'_>, Closed> {
        let give_up_at = self.now() + patience.in_all;
        loop {
            let changed = self.changed.notified();
            let now = self.now();
            let verdict = ask(&mut self.control(), now);
            let until = match verdict {
                Verdict::Go(permit) => return Ok(Pass { gate: self, permit: Some(permit) }),
                Verdict::TooMuch { .. } => return Err(Closed::TooMuch),
                Verdict::Broken { until } => return Err(Closed::Broken { retry_after: until - now }),
                Verdict::Throttled { until } if until > now + patience.throttled => {
                    return Err(Closed::Throttled { retry_after: until - now + jitter(class, until - now) });
                }
                Verdict::Throttled { until } => until + jitter(class, until - now),
                Verdict::Wait { until } => until,
                Verdict::Full => give_up_at,
            };
            tokio::select! {
                () = sleep_until(self.origin + until) => {}
                () = changed => {}
            }
        }
    }
}

/// Up to a tenth of the wait: those who were told to wait as long shall not come back at once. A question's asker waits for no more
/// than was said.
fn jitter(class: Class, wait: Duration) -> Duration {
    match class {
        Class::Questions => Duration::ZERO,
        Class::Passages => (wait / 10).min(LONGEST_JITTER).mul_f64(rand::random::<f64>()),
    }
}

impl Pass<'_> {
    pub(super) fn end(mut self, end: End) {
        self.settle(end);
    }

    fn settle(&mut self, end: End) {
        if let Some(permit) = self.permit.take() {
            self.gate.control().end(self.gate.now(), permit, end);
            self.gate.changed.notify_waiters();
        }
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        self.settle(End::GivenUp);
    }
}
