//! Deadlines of handlers. After its deadline, a handler sends nothing more to a store.

use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use cairn_domain::StageName;

use crate::StageError;

/// How often a handler checks, during the time `lasts`, whether its run is still active.
const CHECKS: u32 = 3;

/// The time until which a handler may write: `lasts` after the last check that found its run active.
/// Therefore no handler of a run writes later than `lasts` after the end of the run, and after this time the
/// records of the run may be swept.
pub struct Deadline {
    lasts: Duration,
    seen_at: Mutex<Duration>,
}

impl Deadline {
    /// All times come from the same monotonic clock. `asked_at` is the time before the check that found the
    /// run active, because the process may be suspended during the check.
    pub fn new(asked_at: Duration, lasts: Duration) -> Self {
        Self { lasts, seen_at: Mutex::new(asked_at) }
    }

    pub fn is_past(&self, now: Duration) -> bool {
        now >= *self.seen_at() + self.lasts
    }

    /// Extends the deadline after a check has found the run active. A deadline that has passed is not
    /// extended.
    fn prolong(&self, asked_at: Duration) {
        if !self.is_past(asked_at) {
            *self.seen_at() = asked_at;
        }
    }

    fn seen_at(&self) -> MutexGuard<'_, Duration> {
        self.seen_at.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The maximum total time of a handler of the stage: `lasts` for publishing, and `longest` for all other
    /// stages. Publishing has less time than the other stages: the previous generation stays readable for a
    /// fixed period after the stored time of the publication, so the publication must take effect soon after
    /// the stored time.
    pub fn in_all(&self, stage: StageName, longest: Duration) -> Duration {
        if stage == StageName::Publish { self.lasts } else { longest }
    }

    /// The time between two checks.
    pub fn pause(&self) -> Duration {
        self.lasts / CHECKS
    }
}

/// Polls the handler, and returns `None` as soon as `is_late` returns true. A timer alone is not sufficient:
/// after a suspended process resumes, it would send one more write before it notices the timer.
pub async fn in_time<T>(is_late: impl Fn() -> bool, handler: impl Future<Output = T>) -> Option<T> {
    let mut handler = std::pin::pin!(handler);
    poll_fn(|context| if is_late() { Poll::Ready(None) } else { handler.as_mut().poll(context).map(Some) }).await
}

/// Polls the handler while its run is active, but at most for `longest`. Therefore the handler of a large
/// repository may run for a long time, but a handler that hangs is stopped. `pause` waits until the next
/// check. `is_active` returns `None` if the ledger does not answer.
pub async fn while_active<T, P, A>(
    deadline: &Deadline,
    longest: Duration,
    now: impl Fn() -> Duration,
    pause: impl Fn() -> P,
    is_active: impl Fn() -> A,
    handler: impl Future<Output = Result<T, StageError>>,
) -> Result<T, StageError>
where
    P: Future<Output = ()>,
    A: Future<Output = Option<bool>>,
{
    let started = now();
    let is_late = || deadline.is_past(now()) || now() >= started + longest;
    let checking = async {
        while !is_late() {
            pause().await;
            let asked_at = now();
            match is_active().await {
                Some(true) => deadline.prolong(asked_at),
                Some(false) => return StageError::cancelled(),
                None => {}
            }
        }
        StageError::timed_out(now() - started)
    };
    tokio::select! {
        biased;
        worked = in_time(is_late, handler) => worked.unwrap_or_else(|| Err(StageError::timed_out(now() - started))),
        ended = checking => Err(ended),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::future::{pending, ready};

    use cairn_ports::ErrorClass;
    use tokio::time::{Instant, sleep};

    use super::*;

    const LASTS: Duration = Duration::from_secs(300);
    const LONGEST: Duration = Duration::from_secs(1200);

    #[tokio::test]
    async fn handler_that_wakes_late_stops() {
        let (now, num_writes) = (Cell::new(0), Cell::new(0));
        let handler = async {
            for _ in 0..3 {
                num_writes.set(num_writes.get() + 1);
                // The process is suspended.
                now.set(now.get() + 60);
                tokio::task::yield_now().await;
            }
        };
        assert_eq!(in_time(|| now.get() > 100, handler).await, None);
        assert_eq!(num_writes.get(), 2);
        assert_eq!(in_time(|| false, async { 7 }).await, Some(7));
    }

    /// Runs a handler, with `seen` as the result of every check of its run. Returns the handler's result and
    /// the time that it took, in seconds.
    async fn handled(
        seen: Option<bool>,
        handler: impl Future<Output = Result<u8, StageError>>,
    ) -> (Result<u8, ErrorClass>, u64) {
        let started = Instant::now();
        let deadline = Deadline::new(Duration::ZERO, LASTS);
        let (now, pause) = (|| started.elapsed(), || sleep(deadline.pause()));
        let worked = while_active(&deadline, LONGEST, now, pause, || ready(seen), handler).await;
        (worked.map_err(|error| error.class), started.elapsed().as_secs())
    }

    async fn takes(seconds: u64) -> Result<u8, StageError> {
        sleep(Duration::from_secs(seconds)).await;
        Ok(7)
    }

    #[tokio::test(start_paused = true)]
    async fn deadline_is_extended_while_the_run_is_active() {
        assert_eq!(handled(Some(true), takes(1000)).await, (Ok(7), 1000));
    }

    #[tokio::test(start_paused = true)]
    async fn handler_that_hangs_ends() {
        assert_eq!(handled(Some(true), pending()).await, (Err(ErrorClass::Transient), 1200));
    }

    #[tokio::test(start_paused = true)]
    async fn ended_run_ends_its_handlers() {
        assert_eq!(handled(Some(false), takes(1000)).await, (Err(ErrorClass::Cancelled), 100));
    }

    #[tokio::test(start_paused = true)]
    async fn deadline_applies_while_the_ledger_is_silent() {
        assert_eq!(handled(None, takes(299)).await, (Ok(7), 299));
        assert_eq!(handled(None, takes(1000)).await, (Err(ErrorClass::Transient), 300));
    }

    #[test]
    fn passed_deadline_is_not_prolonged() {
        let deadline = Deadline::new(Duration::ZERO, LASTS);
        deadline.prolong(Duration::from_secs(301));
        assert!(deadline.is_past(Duration::from_secs(301)));
    }
}
