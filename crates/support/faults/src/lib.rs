//! Faults on demand, for tests: points in the code at which a process fails, sleeps, aborts or is killed.
//!
//! The environment of the process says where; each variable names a point and how often it is passed before:
//!
//! - `CAIRN_KILL_AT=point:n` kills the process there, as if its machine were gone.
//! - `CAIRN_FAIL_AT=point:n` makes that passage fail once; `point:n:sleep=MS` makes it stand still for so many
//!   milliseconds; `point:n:abort` ends the process as a bug in C code would.
//! - `CAIRN_POISON=WORK` overflows the stack of whoever begins that work, each time: what a poison message does. Work is
//!   named as logs name it: `parse/0 of run 7`.
//! - `CAIRN_POINTS_LOG=FILE` gets a line for each point that the process passes, at its first passage: a bench proves
//!   with it that it reached every point.
//! - `CAIRN_SWEEP_GRACE_MS=n` sweeps generations after that time.
//!
//! All of this is there with the feature `failpoints` only; without it a point is no code at all.

#[cfg(feature = "failpoints")]
mod armed;

#[cfg(feature = "failpoints")]
pub use armed::{arm, passed, sweep_grace_ms, taste};
#[cfg(feature = "failpoints")]
#[doc(hidden)]
pub use fail;

/// The points in a cluster's way, by the folder of the crate that passes them. A test holds the list against the sources.
///
/// Where nothing can fail (`pipeline::delivered`, `handled`, `acked`) a failure that is asked for is a panic.
pub const POINTS: &[(&str, &[&str])] = &[
    (
        "crates/pipeline",
        &[
            // A job came; nothing is done yet.
            "pipeline::delivered",
            // The part is found open; its stage is called.
            "pipeline::before_work",
            // All that the stage writes is written; the part is open.
            "pipeline::worked",
            // The part is ended; what follows is not published.
            "pipeline::ended",
            "pipeline::before_sync",
            // The run exists; its first parts are not published.
            "pipeline::synced",
            // What follows is published, and stands in the outbox still.
            "pipeline::published",
            // Everything is done but the answer to the broker.
            "pipeline::handled",
            "pipeline::acked",
            // The coordinator published what stood in the outbox, where it stands still.
            "coordinator::relayed",
            // Syncs are marked as handed out, and not published.
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
            // Readers see the new generation; nobody was told.
            "publish::switched",
        ],
    ),
    // The vectors are in their artifact, and not in the cache.
    ("crates/adapters/vectors", &["vectors::written"]),
];

/// A point: `fail_point!("name")`, or `fail_point!("name", |said| Err(…))`, which returns that from the function that
/// stands around it when the point is made to fail.
#[cfg(feature = "failpoints")]
#[macro_export]
macro_rules! fail_point {
    ($name:expr $(, $failure:expr)?) => {{
        $crate::passed($name);
        $crate::fail::fail_point!($name $(, |said: Option<String>| ($failure)(said.unwrap_or_default()))?);
    }};
}

/// A point that is no code: the feature `failpoints` is off.
#[cfg(not(feature = "failpoints"))]
#[macro_export]
macro_rules! fail_point {
    ($name:expr $(, $failure:expr)?) => {{}};
}

/// Where work begins: `poison_point!("{part} of run {run}")` names it. Ends the process if that is the poison.
#[cfg(feature = "failpoints")]
#[macro_export]
macro_rules! poison_point {
    ($($work:tt)+) => {
        $crate::taste(format_args!($($work)+))
    };
}

/// Work that is no poison: the feature `failpoints` is off.
#[cfg(not(feature = "failpoints"))]
#[macro_export]
macro_rules! poison_point {
    ($($work:tt)+) => {{}};
}

/// Does nothing: the feature `failpoints` is off.
#[cfg(not(feature = "failpoints"))]
pub fn arm() {}

/// Always none: the feature `failpoints` is off.
#[cfg(not(feature = "failpoints"))]
pub fn sweep_grace_ms() -> Option<i64> {
    None
}
