//! The pipeline. The pipeline takes deliveries, runs stages, ends parts, publishes the next jobs, and answers
//! the broker.
//!
//! No other code handles deliveries, attempts and acknowledgements. Every handler has the same order of
//! steps: compute, write artifacts, write stores, end the part, publish the next jobs, acknowledge. A handler
//! may stop after any step. If the same job is then run again, it leads to the same final state, because the
//! first four steps are idempotent. If a handler stopped before it published the next jobs, `reconcile`
//! publishes them. If a job is abandoned, the steps are: publish the dead letter, end the part, acknowledge.

mod breaker;
mod coordinator;
mod deadline;
mod error;
mod isolation;
mod measure;
mod parts;
mod reconcile;
mod runner;
mod settle;
mod stage;
mod syncer;
mod trace;

pub use coordinator::{DispatchBounds, dispatch, held, relay, send_again};
pub use deadline::{Deadline, in_time, while_active};
pub use error::StageError;
pub use isolation::{Isolated, Isolation};
pub use reconcile::reconcile;
pub use runner::{Runner, RunnerConfig, Worker};
pub use settle::{RetryLadder, settlement};
pub use stage::{Stage, Task};
pub use syncer::Syncer;
pub use trace::traceparent;
