//! The pipeline: takes deliveries, runs stages, ends parts, publishes the next jobs, and answers the broker.
//!
//! This is the only code that knows deliveries, attempts and acknowledgements. Every handler has the same
//! order: compute, write artifacts, write stores, end the part, publish the next jobs, acknowledge. Any
//! prefix of this list followed by a second run gives the same final state. The first four steps belong to
//! the stage and the ledger, and are idempotent. `reconcile` finds a job that was not published. When a job
//! is abandoned, the order is: dead letter, end the part, acknowledge.

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
