//! Tests the guarantees of the limiter for any order of requests, completed calls, throttled calls, cancelled
//! calls and changes of owner.
//!
//! The simulated provider is as strict as possible. It counts each call at the worst time between the start
//! and the end of the call, and it checks every window.

use std::time::Duration;

use cairn_embedding_http::control::{Class, Grant, Limiter, Quota, Reservation};
use proptest::prelude::*;

const WINDOW: Duration = Duration::from_secs(60);

fn quota(requests: u64, tokens: u64, questions_percent: u8) -> Quota {
    Quota {
        requests: Some(requests),
        tokens: Some(tokens),
        window: WINDOW,
        guard: Duration::from_secs(1),
        headroom_percent: 0,
        questions_percent,
        largest_text: 1,
    }
}

/// The calls that the provider counted, each with its time and tokens.
#[derive(Clone, Default, Debug)]
struct Seen(Vec<(Duration, u64)>);

impl Seen {
    /// Returns the maximum numbers of requests and tokens in any window. A window excludes its start and
    /// includes its end.
    fn most(&self) -> (u64, u64) {
        let mut calls = self.0.clone();
        calls.sort_unstable();
        let (mut first, mut tokens, mut most) = (0, 0, (0, 0));
        for (index, (at, amount)) in calls.iter().enumerate() {
            tokens += amount;
            while calls[first].0 + WINDOW <= *at {
                tokens -= calls[first].1;
                first += 1;
            }
            most = (most.0.max((index + 1 - first) as u64), most.1.max(tokens));
        }
        most
    }
}

/// A call in progress: its final usage, and whether the provider counts it at its start or at its end.
#[derive(Clone, Debug)]
struct CallInProgress {
    reservation: Reservation,
    began_at: Duration,
    ends_at: Duration,
    uses: u64,
    arrives_late: bool,
    reports_tokens: bool,
}

#[derive(Clone, Debug)]
enum Step {
    /// A call of `tokens` tokens that uses `percent_used` percent of them.
    Call {
        class: Class,
        tokens: u64,
        percent_used: u64,
        length_ms: u64,
        arrives_late: bool,
        reports_tokens: bool,
    },
    /// Lets this many milliseconds pass.
    Pass(u64),
    Throttle(u64),
    /// The owner ends while its calls are in progress. Another process takes over after this time.
    Die {
        wait_ms: u64,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let class = prop_oneof![3 => Just(Class::Passages), 1 => Just(Class::Questions)];
    let call = (class, 1..400u64, 0..=100u64, 0..5_000u64, any::<bool>(), any::<bool>()).prop_map(
        |(class, tokens, percent_used, length_ms, arrives_late, reports_tokens)| Step::Call {
            class,
            tokens,
            percent_used,
            length_ms,
            arrives_late,
            reports_tokens,
        },
    );
    let step = prop_oneof![
        60 => call,
        6 => (0..30_000u64).prop_map(Step::Pass),
        1 => (0..70_000u64).prop_map(Step::Throttle),
        1 => (0..70_000u64).prop_map(|wait_ms| Step::Die { wait_ms }),
    ];
    proptest::collection::vec(step, 0..400)
}

/// Runs the steps. A call waits until it is allowed, unless it can never be allowed.
struct Play {
    limiter: Limiter,
    quota: Quota,
    now: Duration,
    in_progress: Vec<CallInProgress>,
    seen: Seen,
    throttled_until: Duration,
}

impl Play {
    fn new(quota: Quota) -> Self {
        let limiter = Limiter::new(&quota);
        let seen = Seen::default();
        Self { limiter, quota, now: Duration::ZERO, in_progress: Vec::new(), seen, throttled_until: Duration::ZERO }
    }

    fn step(&mut self, step: &Step) -> Result<(), TestCaseError> {
        match step {
            Step::Call { class, tokens, percent_used, length_ms, arrives_late, reports_tokens } => {
                let tokens = (*tokens).min(self.limiter.at_most(*class));
                let reservation = self.wait_for(tokens, *class)?;
                prop_assert!(self.now >= self.throttled_until, "allowed while throttled");
                self.in_progress.push(CallInProgress {
                    reservation,
                    began_at: self.now,
                    ends_at: self.now + Duration::from_millis(*length_ms),
                    uses: tokens * percent_used / 100,
                    arrives_late: *arrives_late,
                    reports_tokens: *reports_tokens,
                });
            }
            Step::Pass(ms) => self.pass_to(self.now + Duration::from_millis(*ms)),
            Step::Throttle(ms) => {
                self.throttled_until = self.now + Duration::from_millis(*ms);
                self.limiter.throttled(self.throttled_until);
            }
            Step::Die { wait_ms } => {
                self.limiter = Limiter::new(&self.quota);
                self.limiter.take_over(self.now, Duration::from_millis(*wait_ms));
                self.throttled_until = self.now + Duration::from_millis(*wait_ms);
                for call in std::mem::take(&mut self.in_progress) {
                    self.seen.0.push((call.began_at, call.uses));
                }
            }
        }
        Ok(())
    }

    fn wait_for(&mut self, tokens: u64, class: Class) -> Result<Reservation, TestCaseError> {
        for _ in 0..10_000 {
            match self.limiter.ask(self.now, tokens, class) {
                Grant::Now(reservation) => return Ok(reservation),
                Grant::TooMuch { at_most } => prop_assert!(false, "{tokens} of {at_most} can never be allowed"),
                Grant::At(instant) => {
                    prop_assert!(instant > self.now, "the wait is empty");
                    let next_end = self.in_progress.iter().map(|call| call.ends_at).min();
                    self.pass_to(next_end.map_or(instant, |end| end.min(instant)).max(self.now));
                }
            }
        }
        prop_assert!(false, "the call waits for ever");
        unreachable!("the assertion above fails")
    }

    fn pass_to(&mut self, instant: Duration) {
        self.now = self.now.max(instant);
        let (ended, in_progress) =
            std::mem::take(&mut self.in_progress).into_iter().partition(|call| call.ends_at <= self.now);
        self.in_progress = in_progress;
        let mut ended: Vec<CallInProgress> = ended;
        ended.sort_by_key(|call| call.ends_at);
        for call in ended {
            // If the provider does not report the usage of a call, the limiter counts the requested amount,
            // because the call may have used all of it.
            self.limiter.settle(call.ends_at, call.reservation, call.reports_tokens.then_some(call.uses));
            self.seen.0.push((if call.arrives_late { call.ends_at } else { call.began_at }, call.uses));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn limits_hold_for_any_order_of_events(
        steps in steps(),
        requests in prop_oneof![Just(3u64), Just(60), Just(300)],
        tokens in prop_oneof![Just(500u64), Just(5_000), Just(100_000)],
        questions_percent in prop_oneof![Just(0u8), Just(10), Just(50)],
    ) {
        let mut play = Play::new(quota(requests, tokens, questions_percent));
        for step in &steps {
            play.step(step)?;
        }
        play.pass_to(play.now + WINDOW);
        let most = play.seen.most();
        prop_assert!(most.0 <= requests && most.1 <= tokens, "{most:?} of {requests}, {tokens}");
    }
}

/// Makes calls of one class without pauses for ten windows. Returns the share of the tighter limit that is
/// used after the first window.
fn utilisation(quota: &Quota, class: Class, tokens: u64, length_ms: u64) -> f64 {
    let mut play = Play::new(quota.clone());
    while play.now < 11 * WINDOW {
        let call = Step::Call { class, tokens, percent_used: 95, length_ms, arrives_late: true, reports_tokens: true };
        play.step(&call).expect("no call waits for ever");
    }
    let late: Vec<&(Duration, u64)> = play.seen.0.iter().filter(|(at, _)| *at > WINDOW && *at <= 11 * WINDOW).collect();
    let used = late.iter().map(|(_, tokens)| tokens).sum::<u64>();
    let of_requests = late.len() as f64 / (10 * quota.requests.expect("a limit")) as f64;
    of_requests.max(used as f64 / (10 * quota.tokens.expect("a limit")) as f64)
}

#[test]
fn constant_load_uses_nearly_the_whole_quota() {
    for (requests, tokens, batch) in [(60, 10_000_000, 100), (2_000, 3_000_000, 90_000), (300, 10_000, 380)] {
        let with = |questions_percent| quota(requests, tokens, questions_percent);
        let whole = utilisation(&with(0), Class::Passages, batch, 300);
        assert!(whole >= 0.95, "{requests} requests, {tokens} tokens: {whole}");
        let questions = utilisation(&with(10), Class::Questions, batch.min(300), 300);
        assert!(questions >= 0.9, "{requests} requests, {tokens} tokens, questions: {questions}");
        let passages = utilisation(&with(10), Class::Passages, batch, 300);
        assert!((0.85..=0.9).contains(&passages), "{requests} requests, {tokens} tokens: {passages}");
    }
}

/// While passages are always waiting, a question waits at most until the pace allows the next call, and
/// passages still get their share of the quota.
#[test]
fn questions_do_not_wait_behind_passages() {
    let mut limiter = Limiter::new(&quota(600, 1_000_000, 10));
    let (mut longest, mut num_passages) = (Duration::ZERO, 0);
    let (mut passages_at, mut asked_at) = (Duration::ZERO, Duration::from_secs(1));
    for now in (0..600_000).map(Duration::from_millis) {
        if passages_at <= now {
            match limiter.ask(now, 1_000, Class::Passages) {
                Grant::Now(reservation) => {
                    limiter.settle(now, reservation, None);
                    num_passages += 1;
                }
                Grant::At(instant) => passages_at = instant,
                Grant::TooMuch { at_most } => panic!("{at_most}"),
            }
        }
        if asked_at <= now
            && let Grant::Now(reservation) = limiter.ask(now, 20, Class::Questions)
        {
            limiter.settle(now, reservation, None);
            longest = longest.max(now - asked_at);
            asked_at += Duration::from_millis(1_300);
        }
    }
    assert!(longest <= Duration::from_millis(200), "{longest:?}");
    assert!(num_passages >= 5_000, "{num_passages} of 5,400");
}

/// The worst case: the old owner is idle, and then makes as many calls as its burst and its pace allow, until
/// it ends. The new owner also makes calls as fast as possible.
#[test]
fn limits_hold_when_the_owner_changes() {
    for (busy_seconds, wait_ms, tokens) in
        every_case(&[1, 5, 30, 59, 90], &[0, 1, 3_000, 20_000, 59_000], &[100, 900, 2_000])
    {
        let mut play = Play::new(Quota { largest_text: 2_000, ..quota(300, 10_000, 10) });
        let greedy = |play: &mut Play, until: Duration| {
            while play.now < until {
                for class in [Class::Questions, Class::Passages] {
                    let call = Step::Call {
                        class,
                        tokens,
                        percent_used: 100,
                        length_ms: 0,
                        arrives_late: false,
                        reports_tokens: true,
                    };
                    play.step(&call).expect("no call waits for ever");
                    play.pass_to(play.now);
                }
            }
        };
        play.step(&Step::Pass(100_000)).expect("time passes");
        let death = play.now + Duration::from_secs(busy_seconds);
        greedy(&mut play, death);
        play.step(&Step::Die { wait_ms }).expect("owners die");
        let end = play.now + 2 * WINDOW;
        greedy(&mut play, end);
        let most = play.seen.most();
        let case = format!("busy {busy_seconds} s, wait {wait_ms} ms, {tokens} tokens");
        assert!(most.0 <= 300 && most.1 <= 10_000, "{case}: {most:?}");
    }
}

fn every_case(busy: &[u64], waits: &[u64], tokens: &[u64]) -> Vec<(u64, u64, u64)> {
    let with_tokens = |busy: u64, wait: u64| tokens.iter().map(move |tokens| (busy, wait, *tokens));
    busy.iter().flat_map(|busy| waits.iter().flat_map(move |wait| with_tokens(*busy, *wait))).collect()
}

#[test]
fn new_owner_waits_before_its_first_call() {
    for (wait, earliest, latest) in [(0, 0, 3), (10, 10, 13), (60, 60, 63)] {
        let mut limiter = Limiter::new(&quota(60, 1_000_000, 0));
        limiter.take_over(Duration::from_secs(100), Duration::from_secs(wait));
        let Grant::At(first) = limiter.ask(Duration::from_secs(100), 1_000, Class::Passages) else {
            panic!("the quota was used up");
        };
        let first = (first - Duration::from_secs(100)).as_secs();
        assert!((earliest..=latest).contains(&first), "{wait}: {first}");
    }
}
