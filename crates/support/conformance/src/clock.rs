//! The conformance suite of the port `Clock`.

use std::time::Duration;

use anyhow::{Result, ensure};
use cairn_ports::Clock;

use crate::faulty::{Faulty, planted};
use crate::suite::{Check, PlantedFault, checks};

/// A clock under test, with a method that lets time pass.
pub trait ClockUnderTest: Send + Sync {
    fn clock(&self) -> &dyn Clock;

    /// Returns when at least this time has passed on the clock.
    fn pass(&self, time: Duration);
}

pub fn checks() -> Vec<Check<dyn ClockUnderTest>> {
    checks![monotonic_time_never_goes_back, both_times_go_on, now_is_in_milliseconds]
}

const STEP: Duration = Duration::from_millis(20);

async fn monotonic_time_never_goes_back(subject: &dyn ClockUnderTest) -> Result<()> {
    let mut before = subject.clock().monotonic();
    for round in 0..1000 {
        if round % 250 == 249 {
            subject.pass(STEP);
        }
        let now = subject.clock().monotonic();
        ensure!(now >= before, "the clock went back from {before:?} to {now:?}");
        before = now;
    }
    Ok(())
}

async fn both_times_go_on(subject: &dyn ClockUnderTest) -> Result<()> {
    let (monotonic, now_ms) = (subject.clock().monotonic(), subject.clock().now_ms());
    subject.pass(STEP);
    let passed = subject.clock().monotonic() - monotonic;
    ensure!(passed >= STEP, "the monotonic clock advanced by {passed:?} in {STEP:?}");
    let passed_ms = subject.clock().now_ms() - now_ms;
    ensure!(passed_ms >= STEP.as_millis() as i64 - 1, "the clock advanced by {passed_ms} ms in {STEP:?}");
    Ok(())
}

async fn now_is_in_milliseconds(subject: &dyn ClockUnderTest) -> Result<()> {
    // This range covers the years 2001 to 2286 in milliseconds. A time in seconds or microseconds would be
    // outside this range.
    let now_ms = subject.clock().now_ms();
    ensure!((1_000_000_000_000..10_000_000_000_000).contains(&now_ms), "{now_ms}");
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    Stops,
    GoesBackwards,
    CountsSeconds,
    CountsMicroseconds,
}

const ALL: [(&str, Fault, &str); 4] = [
    ("stops", Fault::Stops, "both_times_go_on"),
    ("goes backwards", Fault::GoesBackwards, "monotonic_time_never_goes_back"),
    ("counts seconds", Fault::CountsSeconds, "both_times_go_on"),
    ("counts microseconds", Fault::CountsMicroseconds, "now_is_in_milliseconds"),
];

pub fn faults() -> Vec<PlantedFault<dyn ClockUnderTest>> {
    planted(ALL, |faulty| Box::new(faulty))
}

impl ClockUnderTest for Faulty<dyn ClockUnderTest, Fault> {
    fn clock(&self) -> &dyn Clock {
        self
    }

    fn pass(&self, time: Duration) {
        self.inner.pass(time);
    }
}

impl Clock for Faulty<dyn ClockUnderTest, Fault> {
    fn now_ms(&self) -> i64 {
        let now_ms = self.inner.clock().now_ms();
        match self.fault {
            Fault::CountsSeconds => now_ms / 1000,
            Fault::CountsMicroseconds => now_ms * 1000,
            Fault::Stops => 1_500_000_000_000,
            Fault::GoesBackwards => now_ms,
        }
    }

    fn monotonic(&self) -> Duration {
        let time = self.inner.clock().monotonic();
        let far = Duration::from_secs(1 << 40);
        if self.fault == Fault::GoesBackwards { far.saturating_sub(time) } else { time }
    }
}
