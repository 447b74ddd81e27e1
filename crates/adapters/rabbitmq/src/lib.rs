//! Jobs over RabbitMQ (3.10 and later), through lapin.
//!
//! ```text
//!  publish ──► work exchange ──► stage.interactive ─┐
//!                   ▲            stage.bulk ────────┼──► inbox ──► receive ──► settle
//!                   │            stage.suspect ─────┘
//!                   └── delay ends ── stage.retry.10s … 1h ◄── retry, requeue
//!                                      dead ◄── dead letter
//! ```
//!
//! All queues are quorum queues, declared by [`topology::apply`]; a worker only checks that they exist.
//! Guarantees:
//!
//! - `publish` returns when the broker has confirmed every job and returned none as unroutable. Unconfirmed
//!   jobs are published again until the deadline. Message ids are deterministic, so a duplicate is
//!   recognised.
//! - A delivery is acknowledged after its replacement (a retry, a dead letter) was confirmed. A stop in
//!   between leaves a duplicate, never a gap.
//! - At most `prefetch` jobs of a stage are unsettled. The prefetch is set each time a channel is opened.
//! - A connection, channel or consumer is closed and created again after a failure, after a refused
//!   acknowledgement and after a missing confirm, as often as necessary. lapin's own recovery stays off, so
//!   that two recoveries never race. `Health` reports the state.
//! - Publishing and consuming use separate connections: an alarm of the broker blocks publishing only.

mod backoff;
mod broker;
mod config;
mod consumer;
mod dead_letters;
mod depth;
mod error;
mod health;
mod inbox;
mod link;
mod management;
mod message;
mod ownership;
mod publisher;
mod secret_url;
mod settle;
mod shared;
mod statistics;
pub mod topology;

pub use broker::RabbitMqBroker;
pub use config::{InvalidConfig, RabbitMqConfig};
pub use health::Health;
pub use ownership::Ownership;
pub use secret_url::SecretUrl;
pub use statistics::Statistics;
