//! Pauses the workers of a stage while a dependency is unavailable. One worker tries the dependency again,
//! and the other workers wait for the result.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// The longest pause between two attempts, even if the dependency requests a longer pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

pub(crate) struct Breaker {
    /// The pause between two attempts, if the dependency does not request a different pause.
    pause: Duration,
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    /// The time of the next attempt. Set while the dependency is unavailable.
    again_at: Option<Instant>,
    is_probed: bool,
    /// True after `close`: workers no longer wait.
    is_closed: bool,
    /// The error of the last attempt.
    reason: String,
}

/// Permission for one attempt. The worker reports the result of the attempt. A pass that is dropped without a
/// report is treated as a success.
pub(crate) struct Pass<'a> {
    breaker: &'a Breaker,
    is_probe: bool,
}

impl Breaker {
    pub(crate) fn new(pause: Duration) -> Self {
        Self { pause, state: Mutex::default(), changed: Notify::new() }
    }

    /// Waits until the dependency is available, or until the caller may try the dependency. If the breaker is
    /// closed, returns `None` instead of waiting.
    pub(crate) async fn pass(&self) -> Option<Pass<'_>> {
        loop {
            // The subscription starts before the state is read, so that a change after the read is not
            // missed.
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            let (again_at, is_probed) = {
                let mut state = self.lock();
                match state.again_at {
                    None => return Some(Pass { breaker: self, is_probe: false }),
                    Some(_) if state.is_closed => return None,
                    Some(at) if at <= Instant::now() && !state.is_probed => {
                        state.is_probed = true;
                        return Some(Pass { breaker: self, is_probe: true });
                    }
                    Some(at) => (at, state.is_probed),
                }
            };
            tokio::select! {
                () = changed => {}
                () = sleep_until(again_at), if !is_probed => {}
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A poisoned lock is safe to use, because no code can panic in the middle of a change of the state.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The reason why the workers wait. `None` if they do not wait.
    pub(crate) fn reason(&self) -> Option<String> {
        let state = self.lock();
        state.again_at.map(|_| state.reason.clone())
    }

    fn set(&self, again_at: Option<Instant>, reason: String) {
        let mut state = self.lock();
        *state = State { again_at, is_probed: false, is_closed: state.is_closed, reason };
        drop(state);
        self.changed.notify_waiters();
    }

    /// Ends all waits. From now on, `pass` returns `None` to a worker that would have to wait.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_waiters();
    }
}

impl Pass<'_> {
    /// Reports that the dependency is unavailable.
    pub(crate) fn failed(mut self, retry_after: Option<Duration>, reason: String) {
        self.is_probe = false;
        let pause = retry_after.unwrap_or(self.breaker.pause).min(LONGEST_PAUSE);
        self.breaker.set(Some(Instant::now() + pause), reason);
    }

    /// Reports that the dependency is available: the attempt succeeded, or the job failed for another reason.
    pub(crate) fn ended(self) {
        drop(self);
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        if self.is_probe {
            self.breaker.set(None, String::new());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn one_worker_probes_while_the_others_wait() {
        let breaker = Arc::new(Breaker::new(Duration::from_secs(10)));
        breaker.pass().await.expect("open").failed(None, "away".to_owned());
        assert_eq!(breaker.reason().as_deref(), Some("away"));
        let tries = Arc::new(AtomicU32::new(0));
        let worker = |breaker: Arc<Breaker>, tries: Arc<AtomicU32>| async move {
            loop {
                let pass = breaker.pass().await.expect("open");
                // The third attempt succeeds, because the dependency is available again.
                if tries.fetch_add(1, Ordering::Relaxed) < 2 {
                    pass.failed(Some(Duration::from_secs(7)), "away".to_owned());
                } else {
                    return pass.ended();
                }
            }
        };
        let started = Instant::now();
        let workers: Vec<_> = (0..5).map(|_| tokio::spawn(worker(Arc::clone(&breaker), Arc::clone(&tries)))).collect();
        for worker in workers {
            worker.await.expect("no panic");
        }
        assert_eq!(started.elapsed().as_secs(), 10 + 7 + 7);
        assert_eq!(breaker.reason(), None);
        assert_eq!(tries.load(Ordering::Relaxed), 2 + 5, "two attempts failed, and then each worker passed once");
    }

    #[tokio::test(start_paused = true)]
    async fn dropped_probe_lets_others_try() {
        let breaker = Breaker::new(Duration::from_secs(1));
        breaker.pass().await.expect("open").failed(None, "away".to_owned());
        drop(breaker.pass().await);
        breaker.pass().await.expect("open").ended();
    }

    #[tokio::test(start_paused = true)]
    async fn closing_the_breaker_ends_all_waits() {
        let breaker = Arc::new(Breaker::new(Duration::from_secs(10)));
        breaker.pass().await.expect("open").failed(None, "away".to_owned());
        let waiting = tokio::spawn({
            let breaker = Arc::clone(&breaker);
            async move { breaker.pass().await.is_none() }
        });
        tokio::task::yield_now().await;
        let closed_at = Instant::now();
        breaker.close();
        assert!(waiting.await.expect("no panic"));
        assert_eq!(closed_at.elapsed(), Duration::ZERO);
    }
}
