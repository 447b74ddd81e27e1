//! Jobs over RabbitMQ (3.10 and later), through lapin.
//!
//! ```text
//!  publish ──► work exchange ──► stage.interactive ─┐
//!                   ▲            stage.bulk ────────┼──► inbox ──► receive ──► settle
//!                   │            stage.suspect ─────┘
//!                   └── time is up ── stage.retry.10s … 1h ◄── retry, requeue
//!                                      dead ◄── dead letter
//! ```
//!
//! All queues are quorum queues, declared by [`topology::apply`]; a worker only checks that they are there. What holds:
//!
//! - `publish` returns when the broker has confirmed every job, and none was returned as unroutable. What is not confirmed
//!   is published again until the deadline: ids of messages are deterministic, so a duplicate is recognised.
//! - A delivery is acknowledged after what replaces it (a retry, a dead letter) was confirmed. A stop in between leaves a
//!   duplicate, never a gap.
//! - At most the prefetch of a stage is unsettled, and the broker is told so each time a channel is opened.
//! - Whatever breaks (connection, channel, consumer, an acknowledgement that is refused, a confirm that does not come) is
//!   torn down and built again by ourselves, for as long as it takes; lapin's own recovery stays off, so that two never
//!   race. `Health` says how it stands.
//! - Publishing and consuming have connections of their own: an alarm of the broker stops the one and not the other.

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
mod statistics;
pub mod topology;

pub use broker::RabbitMqBroker;
pub use config::{InvalidConfig, RabbitMqConfig};
pub use health::Health;
pub use ownership::Ownership;
pub use secret_url::SecretUrl;
pub use statistics::Statistics;
