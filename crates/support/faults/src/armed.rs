//! Arms the faults that the environment of the process requests.

use std::collections::BTreeSet;
use std::fmt::Arguments;
use std::fs::{File, OpenOptions};
use std::hint::black_box;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use rustix::process::{Signal, getpid, kill_process};

/// The text of an injected failure. A test can find this text in the logs.
const INJECTED: &str = "injected fault";

static LOG: OnceLock<Mutex<Log>> = OnceLock::new();
static POISON: OnceLock<String> = OnceLock::new();

struct Log {
    file: File,
    passed: BTreeSet<String>,
}

/// The effect of a fail point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    Kill,
    Abort,
    Fail,
    Sleep { ms: u64 },
}

/// Arms the requested faults. Panics if a request cannot be parsed, because a test with a fault that never
/// happens would prove nothing.
pub fn arm() {
    if let Ok(path) = std::env::var("CAIRN_POINTS_LOG") {
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let file = file.unwrap_or_else(|error| panic!("CAIRN_POINTS_LOG=`{path}` cannot be written: {error}"));
        let _ = LOG.set(Mutex::new(Log { file, passed: BTreeSet::new() }));
    }
    if let Ok(work) = std::env::var("CAIRN_POISON") {
        let _ = POISON.set(work);
    }
    if let Ok(text) = std::env::var("CAIRN_KILL_AT") {
        let wanted = place(&text).map(|(point, count)| (point, count, Fault::Kill));
        set(wanted.unwrap_or_else(|| panic!("CAIRN_KILL_AT=`{text}` is not `point:n`")));
    }
    if let Ok(text) = std::env::var("CAIRN_FAIL_AT") {
        let forms = "`point:n`, `point:n:sleep=MS` or `point:n:abort`";
        set(wanted(&text).unwrap_or_else(|| panic!("CAIRN_FAIL_AT=`{text}` does not have one of the forms {forms}")));
    }
}

/// Writes the name of a point to the log when the point is passed for the first time.
pub fn passed(point: &str) {
    let Some(log) = LOG.get() else { return };
    let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
    if log.passed.insert(point.to_owned()) {
        // Each line is written with one call, so that the lines of processes that share the file are not
        // mixed.
        log.file.write_all(format!("{point}\n").as_bytes()).expect("the log of points can be written");
    }
}

/// Overflows the stack if `CAIRN_POISON` names this work.
pub fn taste(work: Arguments) {
    if POISON.get().is_some_and(|poison| *poison == work.to_string()) {
        black_box(overflow(0));
    }
}

#[expect(unconditional_recursion, reason = "the overflow is intended: it ends the process as a poison message would")]
#[inline(never)]
fn overflow(depth: u64) -> u64 {
    depth + black_box(overflow(black_box(depth) + 1))
}

/// The grace period before sweeping that a test requests, in milliseconds.
pub fn sweep_grace_ms() -> Option<i64> {
    std::env::var("CAIRN_SWEEP_GRACE_MS").ok()?.parse().ok()
}

fn wanted(text: &str) -> Option<(&str, u64, Fault)> {
    if let Some((point, count)) = place(text) {
        return Some((point, count, Fault::Fail));
    }
    let (place_text, fault) = text.rsplit_once(':')?;
    let fault = match fault.split_once('=') {
        None if fault == "abort" => Fault::Abort,
        Some(("sleep", ms)) => Fault::Sleep { ms: ms.parse().ok()? },
        _ => return None,
    };
    place(place_text).map(|(point, count)| (point, count, fault))
}

fn place(text: &str) -> Option<(&str, u64)> {
    let (point, count) = text.rsplit_once(':')?;
    Some((point, count.parse().ok()?))
}

fn set((point, count, fault): (&str, u64, Fault)) {
    let armed = match fault {
        Fault::Kill => call_at(point, count, || {
            let _ = kill_process(getpid(), Signal::KILL);
        }),
        Fault::Abort => call_at(point, count, || std::process::abort()),
        Fault::Fail => fail::cfg(point, &once_at(count, &format!("return({INJECTED})"))),
        Fault::Sleep { ms } => call_at(point, count, move || sleep(Duration::from_millis(ms))),
    };
    armed.expect("a fail point can be armed");
}

/// Blocks only the work that passes the point. A sleeping thread of the runtime would also block other tasks
/// that wait for this thread.
fn sleep(lasts: Duration) {
    use tokio::runtime::{Handle, RuntimeFlavor};
    #[expect(clippy::disallowed_methods, reason = "the test requests a blocked thread")]
    let block = || std::thread::sleep(lasts);
    let is_shared = Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread);
    if is_shared { tokio::task::block_in_place(block) } else { block() }
}

fn call_at(point: &str, count: u64, end: impl Fn() + Send + Sync + 'static) -> Result<(), String> {
    let passed = AtomicU64::new(0);
    fail::cfg_callback(point, move || {
        if passed.fetch_add(1, Ordering::SeqCst) == count {
            end();
        }
    })
}

fn once_at(count: u64, action: &str) -> String {
    if count == 0 { format!("1*{action}->off") } else { format!("{count}*off->1*{action}->off") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requested_faults_are_parsed() {
        assert_eq!(wanted("s3::before_put:2"), Some(("s3::before_put", 2, Fault::Fail)));
        assert_eq!(wanted("s3::before_put:0:abort"), Some(("s3::before_put", 0, Fault::Abort)));
        assert_eq!(wanted("s3::before_put:1:sleep=70"), Some(("s3::before_put", 1, Fault::Sleep { ms: 70 })));
        for wrong in ["s3::before_put", "s3::before_put:x", "s3::before_put:1:sleep", "s3::before_put:abort", ""] {
            assert_eq!(wanted(wrong), None, "{wrong}");
        }
    }
}
