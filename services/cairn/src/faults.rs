//! Faults on demand, for tests: `CAIRN_KILL_AT=point:n` kills the process the n-th time that it passes a fail point,
//! `CAIRN_FAIL_AT=point:n` makes that passage fail once, `CAIRN_SWEEP_GRACE_MS=n` sweeps what is older than that.

use std::sync::atomic::{AtomicU64, Ordering};

/// What an injected failure says, so that a test sees in the logs that it happened.
const INJECTED: &str = "injected fault";

/// Arms what the environment asks for.
pub(crate) fn arm() {
    if let Some((point, count)) = wanted("CAIRN_KILL_AT") {
        let passed = AtomicU64::new(0);
        let armed = fail::cfg_callback(point, move || {
            if passed.fetch_add(1, Ordering::SeqCst) == count {
                // SAFETY: sends a signal to this process; touches no memory.
                unsafe {
                    libc::kill(libc::getpid(), libc::SIGKILL);
                }
            }
        });
        armed.expect("a fail point can be armed");
    }
    if let Some((point, count)) = wanted("CAIRN_FAIL_AT") {
        let action = if count == 0 {
            format!("1*return({INJECTED})->off")
        } else {
            format!("{count}*off->1*return({INJECTED})->off")
        };
        fail::cfg(point, &action).expect("a fail point can be armed");
    }
}

/// The grace that a test asks for, in milliseconds.
pub(crate) fn sweep_grace_ms() -> Option<i64> {
    std::env::var("CAIRN_SWEEP_GRACE_MS").ok()?.parse().ok()
}

fn wanted(variable: &str) -> Option<(String, u64)> {
    let text = std::env::var(variable).ok()?;
    let (point, count) = text.rsplit_once(':')?;
    Some((point.to_owned(), count.parse().ok()?))
}
