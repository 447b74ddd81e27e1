//! Runs suspect jobs, which may crash the process, in a child process. The child process runs the same
//! program with the same arguments and settings.
//!
//! The child connects to the stores and creates the same workers. It reads messages from its standard input,
//! one per line: jobs, and vectors that it has requested. The child ends at once when its input ends, so it
//! never outlives its parent.
//!
//! Invariant: a child never calls a provider whose key has an owner. It sends its texts to the parent, whose
//! limiter counts all calls with the key, and the parent returns the vectors. With the local model, or with a
//! provider without a quota, the child computes or requests its vectors itself.

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
