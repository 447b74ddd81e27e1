//! The pipeline: takes deliveries, runs stages, ends parts, publishes what follows, answers the broker.
//!
//! The only code that knows deliveries, attempts and acknowledgements. The order inside every handler is fixed:
//! compute, write artifact, write stores, end the part, publish what follows, ack. Any prefix of that list followed by
//! a re-run gives the same final state: the first four belong to the stage and the ledger and are idempotent, and a
//! job that was not published is found again by `reconcile`. Of a job that is given up the order is: dead letter, end the
//! part, ack.

mod breaker;
mod coordinator;
mod deadline;
mod error;
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
pub use reconcile::reconcile;
pub use runner::{Runner, RunnerConfig, Worker};
pub use settle::{RetryLadder, settlement};
pub use stage::{Stage, Task};
pub use syncer::Syncer;
pub use trace::traceparent;
