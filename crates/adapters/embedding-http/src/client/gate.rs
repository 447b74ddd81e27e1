//! The gate to the provider. Calls wait here, in order of arrival, until `Control` allows them.
//!
//! Questions and passages wait in separate queues, and only the first call of each queue requests permission.
//! So small calls cannot make a large batch wait forever, and a question never waits behind passages.

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
    /// Notified when a call has ended.
    changed: Notify,
    questions: Queue,
    passages: Queue,
}

#[derive(Debug)]
struct Queue {
    turn: tokio::sync::Mutex<()>,
    max_wait: MaxWait,
}

/// The longest times that a call may wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct MaxWait {
    /// The longest total wait, which includes the wait for earlier calls in the queue and for the pace of
    /// this client.
    pub total: Duration,
    /// The longest wait that the provider may request.
    pub throttled: Duration,
}

/// The reason why a call is not allowed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Closed {
    Throttled { retry_after: Duration },
    Broken { retry_after: Duration },
    TooMuch,
}

/// Permission for one call. If the pass is dropped before the end of its call is reported, the call is
/// recorded as cancelled.
#[derive(Debug)]
pub(super) struct Pass<'a> {
    gate: &'a Gate,
    permit: Option<Permit>,
}

impl Gate {
    pub(super) fn new(control: Control, origin: Instant, questions: MaxWait, passages: MaxWait) -> Self {
        let queue = |max_wait| Queue { turn: tokio::sync::Mutex::new(()), max_wait };
        let (questions, passages) = (queue(questions), queue(passages));
        Self { control: Mutex::new(control), origin, changed: Notify::new(), questions, passages }
    }

    pub(super) fn now(&self) -> Duration {
        self.origin.elapsed()
    }

    pub(super) fn control(&self) -> MutexGuard<'_, Control> {
        self.control.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the call is the first in its queue and `ask` allows it. `ask` runs again whenever its
    /// result may have changed.
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
            self.wait(class, queue.max_wait, ask).await
        };
        let entered = timeout(queue.max_wait.total, in_turn).await;
        waited_ms.add((self.now() - asked_at).as_millis() as u64);
        entered.unwrap_or(Err(Closed::Throttled { retry_after: queue.max_wait.total.min(Duration::from_secs(10)) }))
    }

    async fn wait(
        &self,
        class: Class,
        max_wait: MaxWait,
        mut ask: impl FnMut(&mut Control, Duration) -> Verdict,
    ) -> Result<Pass<'_>, Closed> {
        let deadline = self.now() + max_wait.total;
        loop {
            let changed = self.changed.notified();
            let now = self.now();
            let verdict = ask(&mut self.control(), now);
            let until = match verdict {
                Verdict::Go(permit) => return Ok(Pass { gate: self, permit: Some(permit) }),
                Verdict::TooMuch { .. } => return Err(Closed::TooMuch),
                Verdict::Broken { until } => return Err(Closed::Broken { retry_after: until - now }),
                Verdict::Throttled { until } if until > now + max_wait.throttled => {
                    return Err(Closed::Throttled { retry_after: until - now + jitter(class, until - now) });
                }
                Verdict::Throttled { until } => until + jitter(class, until - now),
                Verdict::Wait { until } => until,
                Verdict::Full => deadline,
            };
            tokio::select! {
                () = sleep_until(self.origin + until) => {}
                () = changed => {}
            }
        }
    }
}

/// Random additional time of up to a tenth of the wait, so that calls with the same wait do not all continue
/// at the same time. For a question the additional time is zero, because a caller waits for the answer.
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
        self.settle(End::Cancelled);
    }
}
