//! The conformance suite of the port `Broker`.
//!
//! The operations of the port are not sufficient for the suite: the suite must also be able to end a
//! consumer, and must know the limits of the queues. The test of an adapter implements `BrokerUnderTest` with
//! empty queues that have the limits `PREFETCH` and `CAPACITY`.

mod faults;

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use async_trait::async_trait;
use cairn_domain::{ArtifactRef, Lane, StageName};
use cairn_ports::{Broker, DeadLetter, DeadLetters, Delivery, FailureCode, SUSPECT_AFTER, Settlement};
use cairn_wire::{Job, PartJob};
use tokio::time::timeout;

pub use faults::faults;

use crate::Case;
use crate::case::part;
use crate::suite::{Check, checks, expect_eq, expect_kind};

/// The maximum number of unsettled deliveries of a stage.
pub const PREFETCH: usize = 2;
/// The maximum number of waiting jobs of a stage.
pub const CAPACITY: usize = 4;

/// The delay of retries. If a broker has fixed delays, one of its delays must have this length, and its first
/// delay must be shorter than `QUIET`.
pub const DELAY: Duration = Duration::from_millis(1200);
/// The time for which the suite waits when it checks that no job arrives. The time must be long enough for a
/// broker to deliver a job; otherwise the check would always pass.
pub const QUIET: Duration = Duration::from_millis(400);
const PATIENCE: Duration = Duration::from_secs(60);
const STAGE: StageName = StageName::Parse;

/// A broker with empty queues, and the additional operations that the suite needs.
#[async_trait]
pub trait BrokerUnderTest: Send + Sync {
    fn broker(&self) -> &dyn Broker;

    fn dead_letters(&self) -> &dyn DeadLetters;

    /// Ends the consumer that received the delivery, without an answer to the delivery.
    async fn lose_consumer(&self, delivery: &Delivery) -> Result<()>;
}

pub fn checks() -> Vec<Check<dyn BrokerUnderTest>> {
    checks![
        jobs_arrive_whole_in_order_and_once,
        waiting_receiver_gets_published_jobs,
        stages_are_apart,
        interactive_jobs_pass_bulk_ones,
        prefetch_bounds_unsettled_deliveries,
        publishing_waits_while_the_queue_is_full,
        a_retry_waits_and_counts,
        a_requeue_waits_and_counts_nothing,
        an_unanswered_delivery_comes_back,
        dead_letter_contains_its_failure,
        dead_letter_keeps_its_delivery_unsettled,
        dead_letters_are_taken_once,
        job_that_kills_its_consumers_becomes_a_suspect,
        a_tag_is_settled_once,
        depth_counts_unfinished_jobs,
        closing_ends_receiving,
    ]
}

fn job(stage: StageName, number: u32) -> Job {
    let plan = ArtifactRef { key: format!("plans/{number}"), size_bytes: u64::from(number), hash: [7; 32] };
    let case = Case::new("broker");
    Job::Part(PartJob { run: case.run("r", 3), tenant: case.tenant, part: part(stage, number), plan })
}

fn jobs(count: u32) -> Vec<Job> {
    (0..count).map(|number| job(STAGE, number)).collect()
}

fn number(delivery: &Delivery) -> u32 {
    match &delivery.job {
        Job::Part(job) => job.part.number,
        Job::Sync(job) => job.request as u32,
    }
}

async fn next(broker: &dyn Broker) -> Result<Delivery> {
    let received = timeout(PATIENCE, broker.receive(STAGE)).await.context("no job was delivered in time")??;
    received.context("the broker was closed")
}

/// Fails if a job is delivered within `QUIET`.
async fn expect_quiet(broker: &dyn Broker) -> Result<()> {
    match timeout(QUIET, broker.receive(STAGE)).await {
        Err(_) => Ok(()),
        Ok(received) => bail!("delivered {:?}", received?),
    }
}

async fn jobs_arrive_whole_in_order_and_once(subject: &dyn BrokerUnderTest) -> Result<()> {
    let broker = subject.broker();
    let jobs = jobs(4);
    broker.publish(Lane::Bulk, jobs.clone()).await?;
    for job in jobs {
        let delivery = next(broker).await?;
        expect_eq!(delivery.job, job);
        expect_eq!((delivery.lane, delivery.num_failed_attempts, delivery.num_unanswered), (Lane::Bulk, 0, 0));
        broker.settle(delivery.tag, Settlement::Ack).await?;
    }
    expect_quiet(broker).await?;
    expect_eq!(broker.depth(STAGE).await?, 0);
    expect_eq!(subject.dead_letters().dead_letters(9).await?.len(), 0);
    Ok(())
}

async fn waiting_receiver_gets_published_jobs(subject: &dyn BrokerUnderTest) -> Result<()> {
    let broker = subject.broker();
    let publish = async {
        tokio::time::sleep(QUIET).await;
        broker.publish(Lane::Interactive, jobs(1)).await
    };
    let (delivery, published) = futures::join!(next(broker), publish);
    published?;
    expect_eq!(delivery?.lane, Lane::Interactive);
    Ok(())
}

async fn stages_are_apart(subject: &dyn BrokerUnderTest) -> Result<()> {
    let broker = subject.broker();
    broker.publish(Lane::Bulk, vec![job(StageName::Embed, 0), job(STAGE, 1)]).await?;
    expect_eq!(number(&next(broker).await?), 1);
    expect_quiet(broker).await?;
    expect_eq!((broker.depth(STAGE).await?, broker.depth(StageName::Embed).await?), (1, 1));
    Ok(())
}

async fn interactive_jobs_pass_bulk_ones(subject: &dyn BrokerUnderTest) -> Result<()> {
    let broker = subject.broker();
    broker.publish(Lane::Bulk, vec![job(STAGE, 0), job(STAGE, 1)]).await?;
    broker.publish(Lane::Interactive, vec![job(STAGE, 2), job(STAGE, 3)]).await?;
    let mut order = Vec::new();
    for _ in 0..4 {
        let delivery = next(broker).await?;
        order.push((number(&delivery), delivery.lane));
        broker.settle(delivery.tag, Settlement::Ack).await?;
    }
    expect_eq!(order, [(2, Lane::Interactive), (3, Lane::Interactive), (0, Lane::Bulk), (1, Lane::Bulk)]);
    Ok(())
}

async fn prefetch_bounds_unsettled_deliveries(subject: &dyn BrokerUnderTest) -> Result<()> {
    let broker = subject.broker();
    broker.publish(Lane::Bulk, jobs(PREFETCH as u32 + 1)).await?;
    let mut unsettled = Vec::new();
    for _ in 0..PREFETCH {
        unsettled.push(next(broker).await?);
    }
    expect_quiet(broker).await?;
    broker.settle(unsettled[0].tag, Settlement::Ack).await?;
    expect_eq!(number(&next(broker).await?), PREFETCH as u32);
    Ok(())
}

async fn publishing_waits_while_the_queue_is_full(subject: &dyn BrokerUnderTest) -> Result<()> {
    let broker = subject.broker();
    broker.publish(Lane::Bulk, jobs(CAPACITY as u32)).await?;
    let mut publishing = std::pin::pin!(broker.publish(Lane::Bulk, vec![job(STAGE, 99)]));
    ensure!(timeout(QUIET, &mut publishing).await.is_err(), "a full queue accepted another job");
    let mut numbers = Vec::new();
    let delivery = next(broker).await?;
    numbers.push(number(&delivery));
    broker.settle(delivery.tag, Settlement::Ack).await?;
    timeout(PATIENCE, publishing).await.context("publishing still waits although the queue has capacity")??;
    for _ in 0..CAPACITY {
        let delivery = next(broker).await?;
        numbers.push(number(&delivery));
        broker.settle(delivery.tag, Settlement::Ack).await?;
    }
    expect_eq!(numbers, [0, 1, 2, 3, 99]);
    Ok(())
}

async fn a_retry_waits_and_counts(subject: &dyn BrokerUnderTest) -> Result<()> {
    let broker = subject.broker();
    broker.publish(Lane::Interactive, jobs(1)).await?;
    for num_failed_attempts in 0..3 {
        let delivery = next(broker).await?;
        expect_eq!((delivery.num_failed_attempts, delivery.lane), (num_failed_attempts, Lane::Interactive));
        broker.settle(delivery.tag, Settlement::Retry { after: DELAY }).await?;
        expect_quiet(broker).await?;
        expect_eq!(broker.depth(STAGE).await?, 1);
    }
    expect_eq!(next(broker).await?.num_failed_attempts, 3);
    Ok(())
}

async fn a_requeue_waits_and_counts_nothing(subject: &dyn BrokerUnderTest) -> Result<()> {
    let broker = subject.broker();
    broker.publish(Lane::Bulk, jobs(1)).await?;
    let delivery = next(broker).await?;
    broker.settle(delivery.tag, Settlement::Requeue { after: DELAY }).await?;
    expect_quiet(broker).await?;
    let delivery = next(broker).await?;
    expect_eq!((delivery.num_failed_attempts, delivery.num_unanswered), (0, 0));
    broker.settle(delivery.tag, Settlement::Requeue { after: Duration::ZERO }).await?;
    expect_eq!(next(broker).await?.num_failed_attempts, 0);
    Ok(())
}

async fn an_unanswered_delivery_comes_back(subject: &dyn BrokerUnderTest) -> Result<()> {
    let broker = subject.broker();
    broker.publish(Lane::Bulk, jobs(1)).await?;
    let delivery = next(broker).await?;
    expect_eq!((delivery.num_unanswered, delivery.num_failed_attempts), (0, 0));
    subject.lose_consumer(&delivery).await?;
    expect_kind!(broker.settle(delivery.tag, Settlement::Ack).await, NotFound);
    let delivery = next(broker).await?;
    expect_eq!((delivery.num_unanswered, delivery.num_failed_attempts), (1, 0));
    broker.settle(delivery.tag, Settlement::Ack).await?;
    expect_quiet(broker).await
}

async fn dead_letter_contains_its_failure(subject: &dyn BrokerUnderTest) -> Result<()> {
    let broker = subject.broker();
    let jobs = jobs(2);
    broker.publish(Lane::Bulk, jobs.clone()).await?;
    let first = next(broker).await?;
    broker.settle(first.tag, Settlement::Retry { after: Duration::ZERO }).await?;
    for code in [FailureCode::Corrupt, FailureCode::Invalid] {
        let delivery = next(broker).await?;
        broker.dead_letter(delivery.tag, code, &format!("it is {code}")).await?;
        broker.settle(delivery.tag, Settlement::Ack).await?;
    }
    expect_quiet(broker).await?;
    expect_eq!(broker.depth(STAGE).await?, 0);
    let letters = subject.dead_letters().dead_letters(9).await?;
    expect_eq!(letters.len(), 2);
    expect_eq!((&letters[0].job, &letters[1].job), (&Some(jobs[1].clone()), &Some(jobs[0].clone())));
    expect_eq!((letters[0].code, letters[0].message.as_str()), (FailureCode::Corrupt, "it is corrupt"));
    expect_eq!((letters[0].num_failed_attempts, letters[1].num_failed_attempts), (0, 1));
    Ok(())
}

/// If a worker ends after it has written the dead letter but before it settles the delivery, both the dead
/// letter and the delivery remain.
async fn dead_letter_keeps_its_delivery_unsettled(subject: &dyn BrokerUnderTest) -> Result<()> {
    let broker = subject.broker();
    expect_kind!(broker.dead_letter(u64::MAX, FailureCode::Corrupt, "no").await, NotFound);
    broker.publish(Lane::Bulk, jobs(1)).await?;
    let delivery = next(broker).await?;
    broker.dead_letter(delivery.tag, FailureCode::Corrupt, "no").await?;
    expect_quiet(broker).await?;
    subject.lose_consumer(&delivery).await?;
    expect_kind!(broker.dead_letter(delivery.tag, FailureCode::Corrupt, "no").await, NotFound);
    let delivery = next(broker).await?;
    expect_eq!((number(&delivery), delivery.num_unanswered), (0, 1));
    broker.settle(delivery.tag, Settlement::Ack).await?;
    expect_quiet(broker).await?;
    expect_eq!(subject.dead_letters().dead_letters(9).await?.len(), 1);
    Ok(())
}

async fn dead_letters_are_taken_once(subject: &dyn BrokerUnderTest) -> Result<()> {
    let (broker, letters) = (subject.broker(), subject.dead_letters());
    let jobs = jobs(4);
    // If a job is abandoned twice, its dead letters have the same id.
    for job in [&jobs[0], &jobs[1], &jobs[2], &jobs[0], &jobs[3]] {
        broker.publish(Lane::Bulk, vec![job.clone()]).await?;
        let delivery = next(broker).await?;
        broker.dead_letter(delivery.tag, FailureCode::Invalid, "no").await?;
        broker.settle(delivery.tag, Settlement::Ack).await?;
    }
    let taken = letters.take(&[jobs[1].id()]).await?;
    expect_eq!(taken.len(), 1);
    expect_eq!((&taken[0].job, &taken[0].body), (&Some(jobs[1].clone()), &jobs[1].to_json()));
    let ids = |letters: Vec<DeadLetter>| letters.into_iter().map(|letter| letter.id).collect::<Vec<_>>();
    let [first, gone, third, fourth] = [0, 1, 2, 3].map(|number: usize| jobs[number].id());
    expect_eq!(ids(letters.take(&[fourth, gone, first]).await?), [first, fourth]);
    expect_eq!(ids(letters.dead_letters(9).await?), [third, first]);
    expect_eq!(letters.dead_letters(1).await?.len(), 1);
    expect_eq!(ids(letters.take(&[gone, fourth]).await?), []);
    expect_eq!(ids(letters.take(&[]).await?), []);
    expect_eq!(ids(letters.take(&[first, first]).await?), [first]);
    expect_eq!(ids(letters.dead_letters(9).await?), [third]);
    Ok(())
}

async fn job_that_kills_its_consumers_becomes_a_suspect(subject: &dyn BrokerUnderTest) -> Result<()> {
    let broker = subject.broker();
    broker.publish(Lane::Bulk, jobs(1)).await?;
    for num_unanswered in 0..SUSPECT_AFTER {
        let delivery = next(broker).await?;
        expect_eq!((delivery.num_unanswered, delivery.is_suspect), (num_unanswered, false));
        subject.lose_consumer(&delivery).await?;
    }
    let suspect = next(broker).await?;
    ensure!(suspect.is_suspect, "after {SUSPECT_AFTER} deliveries without an answer, the job is not a suspect");
    expect_eq!(broker.depth(STAGE).await?, 1);
    broker.settle(suspect.tag, Settlement::Ack).await?;
    expect_quiet(broker).await
}

async fn a_tag_is_settled_once(subject: &dyn BrokerUnderTest) -> Result<()> {
    let broker = subject.broker();
    expect_kind!(broker.settle(u64::MAX, Settlement::Ack).await, NotFound);
    broker.publish(Lane::Bulk, jobs(1)).await?;
    let delivery = next(broker).await?;
    broker.settle(delivery.tag, Settlement::Ack).await?;
    expect_kind!(broker.settle(delivery.tag, Settlement::Retry { after: Duration::ZERO }).await, NotFound);
    expect_quiet(broker).await
}

async fn depth_counts_unfinished_jobs(subject: &dyn BrokerUnderTest) -> Result<()> {
    let broker = subject.broker();
    broker.publish(Lane::Bulk, jobs(3)).await?;
    expect_eq!(broker.depth(STAGE).await?, 3);
    let delivery = next(broker).await?;
    expect_eq!(broker.depth(STAGE).await?, 3);
    broker.settle(delivery.tag, Settlement::Ack).await?;
    expect_eq!(broker.depth(STAGE).await?, 2);
    Ok(())
}

async fn closing_ends_receiving(subject: &dyn BrokerUnderTest) -> Result<()> {
    let broker = subject.broker();
    broker.publish(Lane::Bulk, jobs(1)).await?;
    let delivery = next(broker).await?;
    let close = async {
        tokio::time::sleep(QUIET).await;
        broker.close().await;
    };
    let (received, ()) = futures::join!(timeout(PATIENCE, broker.receive(STAGE)), close);
    ensure!(
        received.context("a receiver still waits after the broker was closed")??.is_none(),
        "a job was delivered after the broker was closed"
    );
    broker.settle(delivery.tag, Settlement::Ack).await?;
    ensure!(
        timeout(PATIENCE, broker.receive(STAGE)).await??.is_none(),
        "a job was delivered after the broker was closed"
    );
    Ok(())
}
