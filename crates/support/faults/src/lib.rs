//! Faults on demand, for tests: points in the code at which a process fails, sleeps, aborts or is killed.
//!
//! The environment of the process selects them. A variable names a point and the number of passages before
//! the fault:
//!
//! - `CAIRN_KILL_AT=point:n` kills the process there, as a lost machine would.
//! - `CAIRN_FAIL_AT=point:n` makes that passage fail once; `point:n:sleep=MS` blocks it for `MS`
//!   milliseconds; `point:n:abort` aborts the process, as a bug in C code can do.
//! - `CAIRN_POISON=WORK` overflows the stack of each process that begins this work, like a poison message.
//!   Logs name the work in the same way: `parse/0 of run 7`.
//! - `CAIRN_POINTS_LOG=FILE` gets a line for each point at its first passage in the process. With it a test
//!   proves that it reached every point.
//! - `CAIRN_SWEEP_GRACE_MS=n` sweeps generations after that time.
//!
//! All of this exists with the feature `failpoints` only. Without the feature a point adds no code.

#[cfg(feature = "failpoints")]
mod armed;

#[cfg(feature = "failpoints")]
pub use armed::{arm, passed, sweep_grace_ms, taste};
#[cfg(feature = "failpoints")]
#[doc(hidden)]
pub use fail;

/// The points of a cluster, by the folder of the crate that passes them. A test compares the list with the
/// sources.
///
/// At a point where nothing can fail (`pipeline::delivered`, `handled`, `acked`), a requested failure is a
/// panic.
pub const POINTS: &[(&str, &[&str])] = &[
    (
        "crates/pipeline",
        &[
            // A job arrived; nothing is done yet.
            "pipeline::delivered",
            // The part is open; its stage is called next.
            "pipeline::before_work",
            // The stage has written everything; the part is open.
            "pipeline::worked",
            // The part has ended; the next jobs are not published.
            "pipeline::ended",
            "pipeline::before_sync",
            // The run exists; its first parts are not published.
            "pipeline::synced",
            // The next jobs are published, and still in the outbox.
            "pipeline::published",
            // Everything is done except the reply to the broker.
            "pipeline::handled",
            "pipeline::acked",
            // The coordinator published the jobs in the outbox, which still contains them.
            "coordinator::relayed",
            // Syncs are marked as dispatched, but they are not published yet.
            "coordinator::dispatched",
        ],
    ),
    ("crates/adapters/s3", &["s3::before_put", "s3::after_put"]),
    (
        "crates/adapters/qdrant",
        &["qdrant::before_insert", "qdrant::after_insert", "qdrant::before_retire", "qdrant::after_retire"],
    ),
    ("crates/adapters/neo4j", &["neo4j::before_commit", "neo4j::after_commit"]),
    ("crates/adapters/names", &["names::before_write", "names::after_write"]),
    (
        "crates/stages",
        &[
            // The lease of the repository is taken; nothing is read yet.
            "sync::leased",
            // The final manifest is written; readers see the old generation.
            "publish::before_switch",
            // Readers see the new generation; no notification was sent.
            "publish::switched",
        ],
    ),
    // The vectors are in their artifact, and not in the cache.
    ("crates/adapters/vectors", &["vectors::written"]),
];

/// Variables of faults that hit one process. A child of that process must not inherit them. `CAIRN_POISON`
/// belongs to the work, so a child that does the work inherits it.
pub const OF_ONE_PROCESS: [&str; 2] = ["CAIRN_KILL_AT", "CAIRN_FAIL_AT"];

/// A point: `fail_point!("name")`, or `fail_point!("name", |message| Err(…))`. The second form returns the
/// closure's value from the enclosing function when the point fails.
#[cfg(feature = "failpoints")]
#[macro_export]
macro_rules! fail_point {
    ($name:expr $(, $failure:expr)?) => {{
        $crate::passed($name);
        $crate::fail::fail_point!($name $(, |message: Option<String>| ($failure)(message.unwrap_or_default()))?);
    }};
}

/// A point adds no code while the feature `failpoints` is off.
#[cfg(not(feature = "failpoints"))]
#[macro_export]
macro_rules! fail_point {
    ($name:expr $(, $failure:expr)?) => {{}};
}

/// The start of some work, named by `poison_point!("{part} of run {run}")`. Ends the process if this work is
/// the poison.
#[cfg(feature = "failpoints")]
#[macro_export]
macro_rules! poison_point {
    ($($work:tt)+) => {
        $crate::taste(format_args!($($work)+))
    };
}

/// Work is never poison while the feature `failpoints` is off.
#[cfg(not(feature = "failpoints"))]
#[macro_export]
macro_rules! poison_point {
    ($($work:tt)+) => {{}};
}

/// Does nothing while the feature `failpoints` is off.
#[cfg(not(feature = "failpoints"))]
pub fn arm() {}

/// Always none while the feature `failpoints` is off.
#[cfg(not(feature = "failpoints"))]
pub fn sweep_grace_ms() -> Option<i64> {
    None
}
