//! Faults on demand, for tests. At certain points in the code, a process can fail, sleep, abort or be killed.
//!
//! The environment variables of the process select the faults. In the first two variables, `point` is the
//! name of a point, and `n` is the number of times that the point is passed before the fault:
//!
//! - `CAIRN_KILL_AT=point:n` kills the process at this point, as a crash of the machine would.
//! - `CAIRN_FAIL_AT=point:n` makes the point fail once. `point:n:sleep=MS` blocks the work at the point for
//!   `MS` milliseconds. `point:n:abort` aborts the process, as a bug in C code can do.
//! - `CAIRN_POISON=WORK` overflows the stack of each process that begins this work, as a job that always
//!   crashes its worker would. `WORK` has the form that logs use: `parse/0 of run 7`.
//! - `CAIRN_POINTS_LOG=FILE`: when the process passes a point for the first time, it appends the name of the
//!   point to this file. With this file, a test proves that it has reached every point.
//! - `CAIRN_SWEEP_GRACE_MS=n` sets the grace period before generations are swept.
//!
//! These faults exist only with the feature `failpoints`. Without this feature, a fail point adds no code.

#[cfg(feature = "failpoints")]
mod armed;

#[cfg(feature = "failpoints")]
pub use armed::{arm, passed, sweep_grace_ms, taste};
#[cfg(feature = "failpoints")]
#[doc(hidden)]
pub use fail;

/// All fail points, by the folder of the crate that contains them. A test compares this list with the source
/// files.
///
/// Some points are in code that cannot return an error (`pipeline::delivered`, `handled`, `acked`). At such a
/// point, a requested failure is a panic.
pub const POINTS: &[(&str, &[&str])] = &[
    (
        "crates/pipeline",
        &[
            // A job has arrived; nothing is done yet.
            "pipeline::delivered",
            // The part is open; its stage will be called next.
            "pipeline::before_work",
            // The stage has written all its artifacts and records; the part is still open.
            "pipeline::worked",
            // The part has ended; the next jobs are not published yet.
            "pipeline::ended",
            "pipeline::before_sync",
            // The run exists; the jobs of its first parts are not published yet.
            "pipeline::synced",
            // The next jobs are published, but are still in the outbox.
            "pipeline::published",
            // Everything is done except the acknowledgement to the broker.
            "pipeline::handled",
            "pipeline::acked",
            // The coordinator has published the jobs in the outbox, but the outbox still contains them.
            "coordinator::relayed",
            // Syncs are marked as dispatched, but their jobs are not published yet.
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
    ("crates/adapters/texts", &["texts::before_write", "texts::after_write"]),
    (
        "crates/stages",
        &[
            // The lease of the repository is taken; nothing is read yet.
            "sync::leased",
            // The final manifest is written; readers still see the old generation.
            "publish::before_switch",
            // Readers see the new generation; no notification was sent yet.
            "publish::switched",
        ],
    ),
    // The vectors are in their artifact, but not in the cache yet.
    ("crates/adapters/vectors", &["vectors::written"]),
];

/// The variables for faults that affect only one process. A child of the process must not inherit them.
/// `CAIRN_POISON` is not in this list, because a child that does the named work must overflow its stack too.
pub const OF_ONE_PROCESS: [&str; 2] = ["CAIRN_KILL_AT", "CAIRN_FAIL_AT"];

/// Defines a fail point: `fail_point!("name")`, or `fail_point!("name", |message| Err(…))`. When a point of
/// the second form fails, the enclosing function returns the value of the closure.
#[cfg(feature = "failpoints")]
#[macro_export]
macro_rules! fail_point {
    ($name:expr $(, $failure:expr)?) => {{
        $crate::passed($name);
        $crate::fail::fail_point!($name $(, |message: Option<String>| ($failure)(message.unwrap_or_default()))?);
    }};
}

/// A fail point adds no code if the feature `failpoints` is off.
#[cfg(not(feature = "failpoints"))]
#[macro_export]
macro_rules! fail_point {
    ($name:expr $(, $failure:expr)?) => {{}};
}

/// Marks the start of some work, and gives the work a name: `poison_point!("{part} of run {run}")`. If
/// `CAIRN_POISON` names this work, the process overflows its stack and ends.
#[cfg(feature = "failpoints")]
#[macro_export]
macro_rules! poison_point {
    ($($work:tt)+) => {
        $crate::taste(format_args!($($work)+))
    };
}

/// Does nothing if the feature `failpoints` is off.
#[cfg(not(feature = "failpoints"))]
#[macro_export]
macro_rules! poison_point {
    ($($work:tt)+) => {{}};
}

/// Does nothing if the feature `failpoints` is off.
#[cfg(not(feature = "failpoints"))]
pub fn arm() {}

/// Always `None` if the feature `failpoints` is off.
#[cfg(not(feature = "failpoints"))]
pub fn sweep_grace_ms() -> Option<i64> {
    None
}
