//! Decides when to make a call. One state machine combines the limiter, the breaker, the retry budget and the
//! concurrency.
//!
//! `Control` does no I/O and reads no clock. The caller requests permission, and makes the call if it is
//! allowed. Then it reports the end of the call, even if the call was cancelled. `Control` never sleeps: it
//! returns how long to wait, and the caller decides whether to wait.

mod breaker;
mod budget;
mod concurrency;
mod limiter;
mod meter;
mod pace;

use std::time::Duration;

use breaker::{Breaker, Health};
use budget::RetryBudget;
use concurrency::Concurrency;
pub use limiter::{Class, Grant, Limiter, Quota, Reservation};

/// How a call ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// A valid reply. The reply may contain the number of tokens that the provider counted.
    Answered { tokens: Option<u64> },
    /// The provider refuses these texts because they are too large or not acceptable. Calls with other texts
    /// may succeed.
    Rejected,
    /// The provider received too many calls. The reply may state how long to wait.
    Throttled { retry_after: Option<Duration> },
    /// No reply, an error of the provider, or an invalid reply. The provider may state how long to wait.
    Failed { retry_after: Option<Duration> },
    /// The provider refuses the key, the model or the address.
    Refused,
    /// The call was cancelled.
    Cancelled,
}

/// States whether a call may be made now. If not, the variant gives the reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    Go(Permit),
    /// A normal wait for the pace of this client, or for the end of a probe.
    Wait {
        until: Duration,
    },
    /// The maximum number of calls is in progress. Ask again when a call has ended.
    Full,
    /// The provider requested a wait, or another process owned the key until recently.
    Throttled {
        until: Duration,
    },
    /// The breaker is open.
    Broken {
        until: Duration,
    },
    /// The call has more tokens than can ever be allowed in one call.
    TooMuch {
        at_most: u64,
    },
}

/// A call in progress.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Permit {
    reservation: Reservation,
    began_at: Duration,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ControlSettings {
    pub quota: Quota,
    /// `None`: the concurrency adapts to the provider, up to `max_concurrency`.
    pub concurrency: Option<usize>,
    pub max_concurrency: usize,
    /// A longer wait that the provider requests is reduced to this time.
    pub max_retry_after: Duration,
}

#[derive(Debug)]
pub struct Control {
    limiter: Limiter,
    breaker: Breaker,
    retries: RetryBudget,
    concurrency: Concurrency,
    max_retry_after: Duration,
    consecutive_throttles: u32,
}

/// The wait after a 429 without `Retry-After`. The wait doubles with each consecutive 429.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(60);

impl Control {
    pub fn new(settings: &ControlSettings, now: Duration) -> Self {
        let concurrency = match settings.concurrency {
            Some(limit) => Concurrency::fixed(limit),
            None => Concurrency::adaptive(settings.max_concurrency),
        };
        Self {
            limiter: Limiter::new(&settings.quota),
            breaker: Breaker::new(),
            retries: RetryBudget::new(now),
            concurrency,
            max_retry_after: settings.max_retry_after,
            consecutive_throttles: 0,
        }
    }

    /// Asks whether a call with `tokens` may be made now.
    pub fn ask(&mut self, now: Duration, tokens: u64, class: Class) -> Verdict {
        let probe_at = self.breaker.ready_at(now);
        if probe_at > now {
            // If a probe is in progress, this call waits, because the end of the probe may show that the
            // provider works again. If this call returned an error instead, all batches of its part would
            // fail, and a probe by one of these batches would be cancelled.
            let is_probed = self.concurrency.num_in_progress() > 0;
            return if is_probed { Verdict::Wait { until: probe_at } } else { Verdict::Broken { until: probe_at } };
        }
        let throttled_until = self.limiter.throttled_until();
        if throttled_until > now {
            return Verdict::Throttled { until: throttled_until };
        }
        if self.concurrency.is_full() {
            return Verdict::Full;
        }
        match self.limiter.ask(now, tokens, class) {
            Grant::At(until) => Verdict::Wait { until },
            Grant::TooMuch { at_most } => Verdict::TooMuch { at_most },
            Grant::Now(reservation) => {
                self.breaker.begin(now);
                self.concurrency.begin();
                Verdict::Go(Permit { reservation, began_at: now })
            }
        }
    }

    /// Records that the call of `permit` has ended.
    pub fn end(&mut self, now: Duration, permit: Permit, end: End) {
        let tokens = if let End::Answered { tokens } = end { tokens } else { None };
        self.limiter.settle(now, permit.reservation, tokens);
        self.breaker.end(now, health(end));
        let round_trip = matches!(end, End::Answered { .. }).then(|| now.saturating_sub(permit.began_at));
        let is_back_pressure = matches!(end, End::Throttled { .. } | End::Failed { .. });
        self.concurrency.end(now, round_trip, is_back_pressure);
        match end {
            End::Throttled { retry_after } => self.throttle(now, retry_after),
            End::Failed { retry_after: Some(wait) } => self.limiter.throttled(now + wait.min(self.max_retry_after)),
            End::Answered { .. } => self.consecutive_throttles = 0,
            _ => {}
        }
    }

    /// Forbids calls for as long as the provider requests. If the provider requests no wait, or throttles
    /// again, the wait has a minimum. This minimum doubles with each consecutive throttled call.
    fn throttle(&mut self, now: Duration, retry_after: Option<Duration>) {
        let doubled = FIRST_WAIT * 2u32.pow(self.consecutive_throttles.min(6));
        let own = if retry_after.is_some() && self.consecutive_throttles == 0 { Duration::ZERO } else { doubled };
        self.consecutive_throttles += 1;
        let requested = retry_after.unwrap_or_default().min(self.max_retry_after);
        self.limiter.throttled(now + requested.max(own.min(LONGEST_WAIT)));
    }

    /// Records a new call that is not a retry.
    pub fn new_call(&mut self) {
        self.retries.call();
    }

    /// Asks whether a failed call may be retried. If so, takes the retry from the budget.
    pub fn take_retry(&mut self, now: Duration) -> bool {
        self.retries.take_retry(now)
    }

    /// See `Limiter::take_over`.
    pub fn take_over(&mut self, now: Duration, wait: Duration) {
        self.limiter.take_over(now, wait);
    }

    /// Returns the maximum number of tokens in one call of this class.
    pub fn at_most(&self, class: Class) -> u64 {
        self.limiter.at_most(class)
    }

    /// The end of the wait that the provider requested. The time is in the past if the provider requests no
    /// wait.
    pub fn throttled_until(&self) -> Duration {
        self.limiter.throttled_until()
    }

    pub fn concurrency_limit(&self) -> usize {
        self.concurrency.limit()
    }

    pub fn num_in_progress(&self) -> usize {
        self.concurrency.num_in_progress()
    }

    pub fn is_broken(&self) -> bool {
        self.breaker.is_open()
    }

    pub fn num_breaker_opened(&self) -> u64 {
        self.breaker.num_opened()
    }
}

fn health(end: End) -> Health {
    match end {
        End::Answered { .. } | End::Rejected | End::Throttled { .. } => Health::Works,
        End::Failed { .. } => Health::Fails,
        End::Refused => Health::Refuses,
        End::Cancelled => Health::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn seconds(number: u64) -> Duration {
        Duration::from_secs(number)
    }

    fn control(concurrency: usize) -> Control {
        let quota = Quota {
            requests: None,
            tokens: Some(1_000),
            window: seconds(60),
            guard: Duration::ZERO,
            headroom_percent: 0,
            questions_percent: 0,
            largest_text: 100,
        };
        let concurrency = Some(concurrency);
        Control::new(
            &ControlSettings { quota, concurrency, max_concurrency: 1, max_retry_after: seconds(600) },
            seconds(0),
        )
    }

    fn go(control: &mut Control, now: Duration) -> Permit {
        match control.ask(now, 1, Class::Passages) {
            Verdict::Go(permit) => permit,
            other => panic!("{other:?}"),
        }
    }

    /// Ends a call at `now` with a 429. Returns for how many seconds no call may be made after that.
    fn wait_after(control: &mut Control, now: Duration, retry_after: Option<u64>) -> u64 {
        let permit = go(control, now);
        control.end(now, permit, End::Throttled { retry_after: retry_after.map(seconds) });
        match control.ask(now, 1, Class::Questions) {
            Verdict::Throttled { until } => (until - now).as_secs(),
            _ => 0,
        }
    }

    #[test]
    fn requested_waits_are_obeyed_and_default_waits_double() {
        let mut control = control(1);
        let waits =
            [(None, 1), (None, 2), (Some(9), 9), (Some(0), 8), (None, 16), (None, 32), (None, 60), (Some(999), 600)];
        let mut now = seconds(0);
        for (retry_after, expect) in waits {
            assert_eq!(wait_after(&mut control, now, retry_after), expect, "{retry_after:?}");
            now += seconds(expect);
        }
        let permit = go(&mut control, now);
        control.end(now, permit, End::Answered { tokens: Some(1) });
        assert_eq!(
            wait_after(&mut control, now, Some(0)),
            0,
            "a reply resets the doubled wait, and the provider requests no wait"
        );
    }

    #[test]
    fn every_refusal_has_its_verdict() {
        let mut control = control(2);
        assert_eq!(control.ask(seconds(0), 101, Class::Passages), Verdict::TooMuch { at_most: 100 });
        let permits = [go(&mut control, seconds(0)), go(&mut control, seconds(0))];
        assert_eq!(control.ask(seconds(0), 1, Class::Passages), Verdict::Full);
        control.end(seconds(0), permits[0], End::Answered { tokens: Some(100) });
        assert_eq!(control.ask(seconds(0), 90, Class::Passages), Verdict::Wait { until: Duration::from_millis(5_460) });
        control.end(seconds(1), permits[1], End::Refused);
        assert_eq!(control.ask(seconds(1), 1, Class::Questions), Verdict::Broken { until: seconds(11) });
        let probe = go(&mut control, seconds(11));
        assert_eq!(control.ask(seconds(11), 1, Class::Passages), Verdict::Wait { until: seconds(21) });
        control.end(seconds(11), probe, End::Cancelled);
        assert_eq!(control.ask(seconds(11), 1, Class::Passages), Verdict::Broken { until: seconds(21) });
        assert!(control.is_broken() && control.num_in_progress() == 0);
    }

    /// The consumer in a standby process must pause instead of holding a delivery for a minute.
    #[test]
    fn standby_process_is_throttled_until_its_wait_ends() {
        let mut control = control(1);
        control.take_over(seconds(5), seconds(60));
        assert_eq!(control.ask(seconds(6), 1, Class::Passages), Verdict::Throttled { until: seconds(65) });
        assert!(matches!(control.ask(seconds(65), 1, Class::Passages), Verdict::Wait { .. }));
        assert!(matches!(control.ask(seconds(66), 1, Class::Passages), Verdict::Go(_)));
    }

    #[test]
    fn failure_may_request_a_wait() {
        let mut control = control(1);
        let permit = go(&mut control, seconds(0));
        control.end(seconds(0), permit, End::Failed { retry_after: Some(seconds(7)) });
        assert_eq!(control.ask(seconds(1), 1, Class::Passages), Verdict::Throttled { until: seconds(7) });
    }
}
