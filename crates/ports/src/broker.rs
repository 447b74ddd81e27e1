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

/// A job that a consumer has received. It must be settled. If the consumer disappears first, the job is
/// delivered again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Delivery {
    /// The broker's name of the delivery.
    pub tag: u64,
    pub job: Job,
    pub lane: Lane,
    /// Attempts that failed before this one.
    pub num_failed_attempts: u32,
    /// Earlier deliveries without an answer, because the worker died or lost its connection. Most of them are
    /// not caused by the job: a worker that dies takes all its jobs with it.
    pub num_unanswered: u32,
    /// `num_unanswered` has reached `SUSPECT_AFTER`: the job may kill its worker. A consumer gets suspects
    /// one at a time.
    pub is_suspect: bool,
    /// The trace of the publisher in W3C's form, if the broker carries it. It is text of the publisher and
    /// not trusted.
    pub traceparent: Option<String>,
}

/// A job is a suspect after this many deliveries without an answer.
pub const SUSPECT_AFTER: u32 = 2;

/// The consumer's answer to a delivery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Settlement {
    /// The effects are durable, and the next jobs, or the failure, are recorded.
    Ack,
    /// Deliver again after the delay; counts as an attempt. A broker with fixed delays uses the next longer
    /// one.
    Retry { after: Duration },
    /// Deliver again after the delay; does not count as an attempt.
    Requeue { after: Duration },
}

/// An abandoned job, or a message that is not a job.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeadLetter {
    /// The id of the message, the same for each of its deliveries.
    pub id: MessageId,
    /// The queue of the message.
    pub stage: StageName,
    pub lane: Lane,
    /// None if the body cannot be read.
    pub job: Option<Job>,
    /// The body as it was received.
    pub body: String,
    /// The code, which has a page in `runbooks/`.
    pub code: String,
    /// The chain of causes.
    pub message: String,
    pub num_failed_attempts: u32,
    /// Deliveries without an answer, because the worker died or lost its connection.
    pub num_unanswered: u32,
}

#[async_trait]
pub trait Broker: Send + Sync {
    /// Publishes the jobs. When it returns, the broker has stored them all, as durably as it can. After an
    /// error, some may be stored. Waits while the queue is full.
    async fn publish(&self, lane: Lane, jobs: Vec<Job>) -> Result<(), BrokerError>;

    /// Waits for the next job of the stage, interactive jobs first. `None` after `close`. Returns no job
    /// while the queue's prefetch is unsettled.
    async fn receive(&self, stage: StageName) -> Result<Option<Delivery>, BrokerError>;

    /// Copies a delivery to the dead letters. The delivery stays unsettled: the caller records the abandoned
    /// job next, and then settles it. A stop between these steps leaves one more dead letter, never none.
    /// `NotFound` if the tag is not outstanding.
    async fn dead_letter(&self, tag: u64, code: &str, message: &str) -> Result<(), BrokerError>;

    /// Answers a delivery. `NotFound` if the tag is not outstanding: the job is delivered again, or was
    /// already.
    async fn settle(&self, tag: u64, settlement: Settlement) -> Result<(), BrokerError>;

    /// Jobs of the stage that are waiting or delivered.
    async fn depth(&self, stage: StageName) -> Result<u64, BrokerError>;

    /// Ends deliveries: every `receive` returns `None`. Outstanding deliveries may still be settled.
    async fn close(&self);
}

/// The ids of the letters that are still to be found, with the number of letters for each id.
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

    /// Whether a letter with this id was still wanted; its number is then reduced by one.
    pub fn found(&mut self, id: MessageId) -> bool {
        let Some(left) = self.0.get_mut(&id) else { return false };
        *left -= 1;
        if *left == 0 {
            self.0.remove(&id);
        }
        true
    }
}

/// The dead letters. They are kept until an operator decides.
#[async_trait]
pub trait DeadLetters: Send + Sync {
    /// At most `limit` letters, oldest first. They are not removed.
    async fn dead_letters(&self, limit: usize) -> Result<Vec<DeadLetter>, BrokerError>;

    /// Removes the letters with these ids and returns them, oldest first. An id that is given n times removes
    /// n letters. An id without a letter is ignored. Removed letters are returned even if a later removal
    /// fails.
    async fn take(&self, ids: &[MessageId]) -> Result<Vec<DeadLetter>, BrokerError>;
}
