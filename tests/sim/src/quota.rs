//! Embedders that share a provider's key. One embedder owns the key at a time, and its limiter permits or
//! delays each call. If the owner dies, another embedder takes over.
//!
//! The provider counts each call at a random time between its start and its end. At the end, every window of
//! one minute is checked.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cairn_embedding_http::control::{Class, Grant, Limiter, Quota, Reservation};

use crate::mutants::Mutant;
use crate::schedule::{START_MS, Schedule};

const WINDOW_MS: i64 = 60_000;
const LASTS_MS: i64 = 12 * WINDOW_MS;
/// The percentage of the stricter limit that must be used while work is always waiting.
const LEAST_USED_PERCENT: u64 = 85;

struct Key {
    schedule: Arc<Schedule>,
    mutant: Option<Mutant>,
    quota: Quota,
    limits: (u64, u64),
    state: Mutex<State>,
}

struct State {
    limiter: Limiter,
    /// The number of the present owner. Calls and reservations of earlier owners are ignored.
    owner: u64,
    owned_since_ms: i64,
    /// The calls that the provider has counted, each with its time and its number of tokens.
    seen: Vec<(i64, u64)>,
}

pub fn start(schedule: &Arc<Schedule>, mutant: Option<Mutant>) {
    let limits = [(60, 100_000), (300, 10_000), (2_000, 500_000)][schedule.random(3) as usize];
    let quota = Quota {
        requests: Some(limits.0),
        tokens: Some(limits.1),
        window: Duration::from_millis(WINDOW_MS as u64),
        guard: Duration::from_secs(1),
        headroom_percent: 0,
        questions_percent: [0, 10][schedule.random(2) as usize],
        largest_text: 1,
    };
    let (owner, owned_since_ms, seen) = (0, START_MS, Vec::new());
    let state = Mutex::new(State { limiter: Limiter::new(&quota), owner, owned_since_ms, seen });
    let key = Arc::new(Key { schedule: Arc::clone(schedule), mutant, quota, limits, state });
    for _ in 0..8 {
        let own = Arc::clone(&key);
        schedule.spawn(async move { embed(&own).await });
    }
    if schedule.random(2) == 0 {
        let own = Arc::clone(&key);
        schedule.spawn(async move { own.change_owners().await });
    }
    let own = Arc::clone(&key);
    schedule.spawn(async move { own.audit().await });
}

/// Simulates an embedder that always has a call to make.
async fn embed(key: &Arc<Key>) {
    while key.schedule.now() < START_MS + LASTS_MS {
        let class = if key.schedule.random(4) == 0 { Class::Questions } else { Class::Passages };
        let (tokens, asked) = key.ask(class);
        match asked {
            Ok((reservation, owner)) => key.call(reservation, owner, tokens).await,
            Err(until) => {
                let now_ms = key.schedule.now() - START_MS;
                let wait_ms = until.as_micros().div_ceil(1000) as i64 - now_ms;
                // The wait is limited, because the limiter may permit the call earlier if another call ends
                // in the meantime.
                key.schedule.sleep(wait_ms.clamp(1, 500) as u64).await;
            }
        }
    }
}

impl Key {
    fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn now(&self) -> Duration {
        Duration::from_millis((self.schedule.now() - START_MS) as u64)
    }

    fn ask(&self, class: Class) -> (u64, Result<(Reservation, u64), Duration>) {
        let now = self.now();
        self.with(|state| {
            let at_most = state.limiter.at_most(class);
            let tokens = (at_most / 2 + self.schedule.random(at_most)).clamp(1, at_most);
            let answer = match state.limiter.ask(now, tokens, class) {
                Grant::Now(reservation) => Ok((reservation, state.owner)),
                Grant::At(until) => Err(until),
                Grant::TooMuch { .. } => {
                    self.schedule
                        .violate(format!("no call may use {tokens} tokens, although the maximum is {at_most}"));
                    Err(now + Duration::from_secs(1))
                }
            };
            (tokens, answer)
        })
    }

    async fn call(&self, reservation: Reservation, owner: u64, tokens: u64) {
        let length_ms = self.schedule.random(800);
        let counted_after_ms = self.schedule.random(length_ms + 1);
        self.schedule.sleep(counted_after_ms).await;
        let is_owner = self.with(|state| state.owner == owner);
        // If the owner has changed by this time, the provider does not count the call.
        if is_owner {
            let at_ms = self.schedule.now();
            self.with(|state| state.seen.push((at_ms, tokens)));
        }
        self.schedule.sleep(length_ms - counted_after_ms).await;
        let now = self.now();
        self.with(|state| {
            if state.owner == owner {
                state.limiter.settle(now, reservation, Some(tokens));
            }
        });
    }

    async fn change_owners(&self) {
        while self.schedule.now() < START_MS + LASTS_MS {
            self.schedule.sleep(30_000 + self.schedule.random(180_000)).await;
            let now = self.now();
            self.schedule.trace(|| "the key has a new owner".to_owned());
            self.with(|state| {
                state.owner += 1;
                state.owned_since_ms = self.schedule.now();
                state.limiter = Limiter::new(&self.quota);
                if self.mutant != Some(Mutant::QuotaForgotten) {
                    state.limiter.take_over(now, Duration::from_millis(self.schedule.random(60_000)));
                }
            });
        }
    }

    async fn audit(&self) {
        self.schedule.sleep(LASTS_MS as u64 + 10_000).await;
        let (seen, owned_since_ms) = self.with(|state| (std::mem::take(&mut state.seen), state.owned_since_ms));
        let (mut first, mut tokens) = (0, 0);
        for (index, (at_ms, amount)) in seen.iter().enumerate() {
            tokens += amount;
            while seen[first].0 + WINDOW_MS <= *at_ms {
                tokens -= seen[first].1;
                first += 1;
            }
            let requests = (index + 1 - first) as u64;
            if requests > self.limits.0 || tokens > self.limits.1 {
                let message = format!("{requests} calls with {tokens} tokens in a window of {:?}", self.limits);
                return self.schedule.violate(message);
            }
        }
        self.check_use(&seen, owned_since_ms);
    }

    /// Checks the usage of the last windows, in which the owner did not change.
    fn check_use(&self, seen: &[(i64, u64)], owned_since_ms: i64) {
        let from_ms = (owned_since_ms + 3 * WINDOW_MS).max(START_MS + WINDOW_MS);
        let num_windows = ((START_MS + LASTS_MS - from_ms) / WINDOW_MS).max(0) as u64;
        if num_windows < 2 || self.quota.questions_percent > 0 {
            return;
        }
        let until_ms = from_ms + num_windows as i64 * WINDOW_MS;
        let late = seen.iter().filter(|(at_ms, _)| (from_ms..until_ms).contains(at_ms));
        let (requests, tokens) = late.fold((0, 0), |(requests, tokens), (_, amount)| (requests + 1, tokens + amount));
        let of_requests = 100 * requests / (num_windows * self.limits.0);
        let of_tokens = 100 * tokens / (num_windows * self.limits.1);
        if of_requests.max(of_tokens) < LEAST_USED_PERCENT {
            let message = format!("only {of_requests} % of the calls and {of_tokens} % of the tokens were used");
            self.schedule.violate(message);
        }
    }
}
