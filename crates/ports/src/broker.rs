//! Jobs: at-least-once delivery with acknowledgement, bounded prefetch, a retry ladder and dead letters.

use std::time::Duration;

use async_trait::async_trait;
use cairn_domain::StageName;
use cairn_wire::Job;

use crate::error::port_error;

port_error!(
    /// An error of the broker.
    BrokerError,
    "broker"
);

/// Interactive requests pass bulk work.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Lane {
    Interactive,
    Bulk,
}

/// A job in the hands of a consumer. It must be settled; if the consumer goes away first, it comes back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Delivery {
    /// Names the delivery to the broker.
    pub tag: u64,
    pub job: Job,
    pub lane: Lane,
    /// Attempts that failed before this one.
    pub num_failed_attempts: u32,
    /// How often it was delivered before without an answer (a sign of a job that kills its consumer).
    pub num_unanswered: u32,
}

/// The consumer's answer to a delivery.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Settlement {
    /// The effects are durable and what follows is published.
    Ack,
    /// Again after the delay; counts as an attempt.
    Retry {
        after: Duration,
    },
    /// Again after the delay; counts no attempt.
    Requeue {
        after: Duration,
    },
    DeadLetter {
        code: String,
        message: String,
    },
}

/// A job that was given up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeadLetter {
    pub job: Job,
    pub code: String,
    pub message: String,
    pub num_failed_attempts: u32,
}

#[async_trait]
pub trait Broker: Send + Sync {
    /// Hands the jobs over. When it returns, the broker has them all (as durable as it is); on an error, some may be
    /// there. Waits while the queue is full.
    async fn publish(&self, lane: Lane, jobs: Vec<Job>) -> Result<(), BrokerError>;

    /// The next job of the stage, interactive ones first; waits for one. `None` after `close`. At most the queue's prefetch are
    /// unsettled at a time: beyond that it waits.
    async fn receive(&self, stage: StageName) -> Result<Option<Delivery>, BrokerError>;

    /// Answers a delivery. A tag that is not outstanding is `NotFound`.
    async fn settle(&self, tag: u64, settlement: Settlement) -> Result<(), BrokerError>;

    /// Jobs given up, oldest first.
    async fn dead_letters(&self) -> Result<Vec<DeadLetter>, BrokerError>;

    /// Jobs of the stage that are waiting or delivered.
    async fn depth(&self, stage: StageName) -> Result<u64, BrokerError>;

    /// No further deliveries: every `receive` returns `None`. Outstanding ones may still be settled.
    async fn close(&self);
}
