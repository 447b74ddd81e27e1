//! Transports jobs over RabbitMQ (3.10 and later) with the client library lapin.
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
//!   jobs are published again until the deadline. Message ids are deterministic, so a duplicate has the same
//!   id and is recognised.
//! - A delivery is acknowledged after the broker has confirmed its replacement (a retry or a dead letter). If
//!   the process stops in between, the job exists twice; it is never lost.
//! - At most `prefetch` jobs of a stage are unsettled in a process. The prefetch is set each time a channel
//!   is opened.
//! - After a failure, a refused acknowledgement or a missing confirm, the connection, channel or consumer is
//!   closed and created again, as often as necessary. The automatic recovery of lapin is disabled, so that
//!   two recoveries never run at the same time. `Health` reports the state.
//! - Publishing and consuming use separate connections, so an alarm of the broker blocks publishing only.

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
