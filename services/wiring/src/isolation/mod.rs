//! Runs suspect jobs, which may crash the process, in a child process. The child process runs the same
//! program with the same arguments and settings.
//!
//! The child connects to the stores, creates the same workers, and reads jobs from its standard input. The
//! child ends at once when its input ends, so it never outlives its parent.
//!
//! Invariant: the child never calls a provider that has a quota. It sends its texts to the parent, whose
//! limiter counts all calls with the key, and the parent returns the vectors.

mod child;
mod messages;
mod parent;

pub use child::ParentEmbedder;
pub(crate) use child::serve;
pub(crate) use parent::ChildProcess;

/// The environment variable that marks a process as a child for suspect jobs.
const CHILD: &str = "CAIRN_ISOLATED_WORKER";

/// Whether this process is a child that runs suspect jobs.
pub(crate) fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}
