//! Jobs: at-least-once delivery with acknowledgement, bounded prefetch, a retry ladder and dead letters.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use cairn_domain::{Lane, MessageId, StageName};
use cairn_wire::Job;

use crate::error::port_error;

port_error!(
    /// An error of the broker.
    BrokerError,
    "broker"
);

/// A job in the hands of a consumer. It must be settled; if the consumer goes away first, it comes back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Delivery {
    /// Names the delivery to the broker.
    pub tag: u64,
    pub job: Job,
    pub lane: Lane,
    /// Attempts that failed before this one.
    pub num_failed_attempts: u32,
    /// Earlier deliveries without an answer, because the worker died or lost its connection. Most of them are no fault of
    /// the job: a worker that dies takes all jobs that it holds with it.
    pub num_unanswered: u32,
    /// `num_unanswered` has reached `SUSPECT_AFTER`: the job may kill its worker. A consumer gets suspects one at a time.
    pub is_suspect: bool,
    /// The trace that published it, in W3C's form, if the broker carries that. Text of whoever published: it may be anything.
    pub traceparent: Option<String>,
}

/// Deliveries without an answer after which a job is a suspect.
pub const SUSPECT_AFTER: u32 = 2;

/// The consumer's answer to a delivery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Settlement {
    /// The effects are durable and what follows is published; or its failure is.
    Ack,
    /// Again after the delay; counts as an attempt. A broker with a ladder of fixed delays takes the next longer one.
    Retry { after: Duration },
    /// Again after the delay; counts no attempt.
    Requeue { after: Duration },
}

/// A job that was given up, or a message that is none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeadLetter {
    /// Of the message; the same for each of its deliveries.
    pub id: MessageId,
    /// The queue that it came from.
    pub stage: StageName,
    pub lane: Lane,
    /// None if the body cannot be read.
    pub job: Option<Job>,
    /// As it came.
    pub body: String,
    /// What `runbooks/` has a page for.
    pub code: String,
    /// The chain of causes.
    pub message: String,
    pub num_failed_attempts: u32,
    /// Deliveries without an answer, because the worker died or lost its connection.
    pub num_unanswered: u32,
}

#[async_trait]
pub trait Broker: Send + Sync {
    /// Hands the jobs over. When it returns, the broker has them all (as durable as it is); on an error, some may be
    /// there. Waits while the queue is full.
    async fn publish(&self, lane: Lane, jobs: Vec<Job>) -> Result<(), BrokerError>;

    /// The next job of the stage, interactive ones first; waits for one. `None` after `close`. At most the queue's prefetch are
    /// unsettled at a time: beyond that it waits.
    async fn receive(&self, stage: StageName) -> Result<Option<Delivery>, BrokerError>;

    /// Puts a copy of a delivery among the dead letters. The delivery stays in hand: whoever gives a job up records that next,
    /// and settles it then. Each stop in between leaves a letter more, never none. A tag that is not outstanding is `NotFound`.
    async fn dead_letter(&self, tag: u64, code: &str, message: &str) -> Result<(), BrokerError>;

    /// Answers a delivery. A tag that is not outstanding is `NotFound`: the job comes back, or has come back already.
    async fn settle(&self, tag: u64, settlement: Settlement) -> Result<(), BrokerError>;

    /// Jobs of the stage that are waiting or delivered.
    async fn depth(&self, stage: StageName) -> Result<u64, BrokerError>;

    /// No further deliveries: every `receive` returns `None`. Outstanding ones may still be settled.
    async fn close(&self);
}

/// Which letters are still to be found, and how many of each id.
pub struct Sought(BTreeMap<MessageId, usize>);

impl Sought {
    pub fn new(ids: &[MessageId]) -> Self {
        let mut sought = BTreeMap::new();
        for id in ids {
            *sought.entry(*id).or_default() += 1;
        }
        Self(sought)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a letter of that id was still sought; now it is one less.
    pub fn found(&mut self, id: MessageId) -> bool {
        let Some(left) = self.0.get_mut(&id) else { return false };
        *left -= 1;
        if *left == 0 {
            self.0.remove(&id);
        }
        true
    }
}

/// What was given up, kept until somebody decides about it.
#[async_trait]
pub trait DeadLetters: Send + Sync {
    /// At most `limit`, oldest first; they stay where they are.
    async fn dead_letters(&self, limit: usize) -> Result<Vec<DeadLetter>, BrokerError>;

    /// Takes these out, for good, and returns them, oldest first: as many of an id as it is named. An id that no letter has is passed
    /// over. What was taken is returned even if the rest could not be.
    async fn take(&self, ids: &[MessageId]) -> Result<Vec<DeadLetter>, BrokerError>;
}
