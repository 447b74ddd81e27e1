//! The broker of jobs: at-least-once delivery with acknowledgement, bounded prefetch, a series of retry
//! delays, and dead letters.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use cairn_domain::{FailureCode, Lane, MessageId, StageName};
use cairn_wire::Job;

use crate::error::port_error;

port_error!(
    /// An error of the broker.
    BrokerError,
    "broker"
);

/// A job that a consumer has received. The consumer must settle the delivery. If the consumer disappears
/// before it has settled the delivery, the job is delivered again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Delivery {
    /// The broker's identifier for the delivery.
    pub tag: u64,
    pub job: Job,
    pub lane: Lane,
    /// Attempts that failed before this attempt.
    pub num_failed_attempts: u32,
    /// Earlier deliveries without an answer, because the worker died or lost its connection. Usually the job
    /// is not the cause: a worker that dies leaves all its jobs without an answer.
    pub num_unanswered: u32,
    /// Whether the job is a suspect: `num_unanswered` has reached `SUSPECT_AFTER`, so the job may kill its
    /// worker. A consumer receives only one suspect at a time.
    pub is_suspect: bool,
    /// The trace context of the publisher in the W3C format, if the broker transmits it. The trace context is
    /// untrusted text.
    pub traceparent: Option<String>,
}

/// A job is a suspect after this many deliveries without an answer.
pub const SUSPECT_AFTER: u32 = 2;

/// The consumer's answer to a delivery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Settlement {
    /// Acknowledges the job: its effects are durable, and the next jobs or the failure are recorded.
    Ack,
    /// Delivers the job again after the delay, and counts the attempt as failed. A broker that supports only
    /// fixed delays uses its shortest delay that is not shorter than the requested delay.
    Retry { after: Duration },
    /// Delivers the job again after the delay, and does not count the attempt.
    Requeue { after: Duration },
}

/// An abandoned job, or a message that is not a job.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeadLetter {
    /// The id of the message. The id is the same for each delivery of the message.
    pub id: MessageId,
    /// The stage whose queue contained the message.
    pub stage: StageName,
    pub lane: Lane,
    /// `None` if the body cannot be read as a job.
    pub job: Option<Job>,
    /// The body as it was received.
    pub body: String,
    /// The failure code, which has a page in `runbooks/`.
    pub code: FailureCode,
    /// The chain of causes.
    pub message: String,
    pub num_failed_attempts: u32,
    /// Deliveries without an answer, because the worker died or lost its connection.
    pub num_unanswered: u32,
}

#[async_trait]
pub trait Broker: Send + Sync {
    /// Publishes the jobs. The call waits while the queue is full. When the call returns, the broker has
    /// stored all jobs as durably as its back end can. After an error, the broker may have stored some of the
    /// jobs.
    async fn publish(&self, lane: Lane, jobs: Vec<Job>) -> Result<(), BrokerError>;

    /// Waits for the next job of the stage, interactive jobs first. Returns `None` after `close`. While the
    /// number of unsettled deliveries of a queue is equal to the prefetch limit, returns no job from this
    /// queue.
    async fn receive(&self, stage: StageName) -> Result<Option<Delivery>, BrokerError>;

    /// Copies a delivery to the dead letters. The delivery stays unsettled: the caller next records that the
    /// job is abandoned, and then settles the delivery. If the process stops between these steps, a second
    /// dead letter may be written, but no dead letter is lost. `NotFound` if the tag is not outstanding.
    async fn dead_letter(&self, tag: u64, code: FailureCode, message: &str) -> Result<(), BrokerError>;

    /// Answers a delivery. `NotFound` if the tag is not outstanding: the job was already delivered again, or
    /// will be delivered again.
    async fn settle(&self, tag: u64, settlement: Settlement) -> Result<(), BrokerError>;

    /// Returns the number of jobs of the stage that are waiting, or are delivered and not settled.
    async fn depth(&self, stage: StageName) -> Result<u64, BrokerError>;

    /// Stops the delivery of jobs: every `receive` returns `None`. Outstanding deliveries may still be
    /// settled.
    async fn close(&self);
}

/// The dead letters that a search has not found yet: for each message id, the number of missing letters with
/// this id.
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

    /// Returns whether a letter with this id was missing, and reduces the number of missing letters of this
    /// id by one.
    pub fn found(&mut self, id: MessageId) -> bool {
        let Some(left) = self.0.get_mut(&id) else { return false };
        *left -= 1;
        if *left == 0 {
            self.0.remove(&id);
        }
        true
    }
}

/// The dead letters. Dead letters stay in the store until an operator removes them.
#[async_trait]
pub trait DeadLetters: Send + Sync {
    /// Returns at most `limit` letters, oldest first, without removing them.
    async fn dead_letters(&self, limit: usize) -> Result<Vec<DeadLetter>, BrokerError>;

    /// Removes the letters with these ids and returns them, oldest first. If an id occurs n times in the
    /// list, n letters with this id are removed. An id without a letter is ignored. Removed letters are
    /// returned even if a later removal fails.
    async fn take(&self, ids: &[MessageId]) -> Result<Vec<DeadLetter>, BrokerError>;
}
