//! Faults that a test plants in brokers. Each wrapper adds exactly one fault.

use std::time::Duration;

use anyhow::Result;
use async_trait::async_trait;
use cairn_domain::{Lane, MessageId, StageName};
use cairn_ports::{Broker, BrokerError, DeadLetter, DeadLetters, Delivery, FailureCode, Settlement};
use cairn_wire::Job;

use crate::broker::BrokerUnderTest;
use crate::faulty::{Faulty, planted};
use crate::suite::PlantedFault;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    LosesJobs,
    DeliversTwice,
    ReversesOrder,
    IgnoresLanes,
    LosesAcknowledgements,
    CountsNoRetry,
    CountsRequeues,
    RetriesAtOnce,
    DropsDeadLetters,
    AnswersWhatItBuries,
    ForgetsUnanswered,
    LosesUnanswered,
    StaysOpen,
    TakesNothing,
    TakesOne,
}

const ALL: [(&str, Fault, &str); 15] = [
    ("loses jobs", Fault::LosesJobs, "jobs_arrive_whole_in_order_and_once"),
    ("delivers twice", Fault::DeliversTwice, "jobs_arrive_whole_in_order_and_once"),
    ("reverses the order", Fault::ReversesOrder, "jobs_arrive_whole_in_order_and_once"),
    ("ignores lanes", Fault::IgnoresLanes, "waiting_receiver_gets_published_jobs"),
    ("loses acknowledgements", Fault::LosesAcknowledgements, "jobs_arrive_whole_in_order_and_once"),
    ("does not count retries", Fault::CountsNoRetry, "a_retry_waits_and_counts"),
    ("counts requeues", Fault::CountsRequeues, "a_requeue_waits_and_counts_nothing"),
    ("retries at once", Fault::RetriesAtOnce, "a_retry_waits_and_counts"),
    ("drops dead letters", Fault::DropsDeadLetters, "dead_letter_contains_its_failure"),
    ("answers a delivery with its dead letter", Fault::AnswersWhatItBuries, "dead_letter_contains_its_failure"),
    ("does not count deliveries without an answer", Fault::ForgetsUnanswered, "an_unanswered_delivery_comes_back"),
    ("loses unanswered deliveries", Fault::LosesUnanswered, "an_unanswered_delivery_comes_back"),
    ("stays open", Fault::StaysOpen, "closing_ends_receiving"),
    ("keeps a dead letter that was removed", Fault::TakesNothing, "dead_letters_are_taken_once"),
    ("removes only one of several dead letters", Fault::TakesOne, "dead_letters_are_taken_once"),
];

pub fn faults() -> Vec<PlantedFault<dyn BrokerUnderTest>> {
    planted(ALL, |faulty| Box::new(faulty))
}

#[async_trait]
impl BrokerUnderTest for Faulty<dyn BrokerUnderTest, Fault> {
    fn broker(&self) -> &dyn Broker {
        self
    }

    fn dead_letters(&self) -> &dyn DeadLetters {
        self
    }

    async fn lose_consumer(&self, delivery: &Delivery) -> Result<()> {
        if self.fault == Fault::LosesUnanswered {
            return Ok(self.inner.broker().settle(delivery.tag, Settlement::Ack).await?);
        }
        self.inner.lose_consumer(delivery).await
    }
}

#[async_trait]
impl Broker for Faulty<dyn BrokerUnderTest, Fault> {
    async fn publish(&self, lane: Lane, mut jobs: Vec<Job>) -> Result<(), BrokerError> {
        let mut lane = lane;
        match self.fault {
            Fault::LosesJobs => drop(jobs.pop()),
            Fault::DeliversTwice => jobs.extend(jobs.first().cloned()),
            Fault::ReversesOrder => jobs.reverse(),
            Fault::IgnoresLanes => lane = Lane::Bulk,
            _ => {}
        }
        self.inner.broker().publish(lane, jobs).await
    }

    async fn receive(&self, stage: StageName) -> Result<Option<Delivery>, BrokerError> {
        let mut delivery = self.inner.broker().receive(stage).await?;
        if let (Fault::ForgetsUnanswered, Some(delivery)) = (self.fault, &mut delivery) {
            delivery.num_unanswered = 0;
        }
        Ok(delivery)
    }

    async fn dead_letter(&self, tag: u64, code: FailureCode, message: &str) -> Result<(), BrokerError> {
        match self.fault {
            Fault::DropsDeadLetters => Ok(()),
            Fault::AnswersWhatItBuries => {
                self.inner.broker().dead_letter(tag, code, message).await?;
                self.inner.broker().settle(tag, Settlement::Ack).await
            }
            _ => self.inner.broker().dead_letter(tag, code, message).await,
        }
    }

    async fn settle(&self, tag: u64, settlement: Settlement) -> Result<(), BrokerError> {
        let settlement = match (self.fault, settlement) {
            (Fault::LosesAcknowledgements, Settlement::Ack) => Settlement::Requeue { after: Duration::ZERO },
            (Fault::CountsNoRetry, Settlement::Retry { after }) => Settlement::Requeue { after },
            (Fault::CountsRequeues, Settlement::Requeue { after }) => Settlement::Retry { after },
            (Fault::RetriesAtOnce, Settlement::Retry { .. }) => Settlement::Retry { after: Duration::ZERO },
            (_, settlement) => settlement,
        };
        self.inner.broker().settle(tag, settlement).await
    }

    async fn depth(&self, stage: StageName) -> Result<u64, BrokerError> {
        self.inner.broker().depth(stage).await
    }

    async fn close(&self) {
        if self.fault != Fault::StaysOpen {
            self.inner.broker().close().await;
        }
    }
}

#[async_trait]
impl DeadLetters for Faulty<dyn BrokerUnderTest, Fault> {
    async fn dead_letters(&self, limit: usize) -> Result<Vec<DeadLetter>, BrokerError> {
        self.inner.dead_letters().dead_letters(limit).await
    }

    async fn take(&self, ids: &[MessageId]) -> Result<Vec<DeadLetter>, BrokerError> {
        let letters = self.inner.dead_letters();
        match self.fault {
            Fault::TakesNothing => {
                let all = letters.dead_letters(usize::MAX).await?;
                Ok(all.into_iter().filter(|letter| ids.contains(&letter.id)).collect())
            }
            Fault::TakesOne => letters.take(&ids[..ids.len().min(1)]).await,
            _ => letters.take(ids).await,
        }
    }
}
