//! Lists and takes the messages of the dead-letter queue.
//!
//! AMQP cannot read a message without taking it from the queue. A walk through the queue takes the messages
//! one by one and, at its end, gives them back in the same order. If two processes walk through the queue at
//! the same time, each of them receives only a part of the messages. This is acceptable, because an operator
//! can repeat the command.

use std::time::Duration;

use async_trait::async_trait;
use cairn_domain::{MessageId, StageName};
use cairn_ports::{BrokerError, DeadLetter, DeadLetters, ErrorKind, FailureCode, Sought};
use lapin::Channel;
use lapin::message::BasicGetMessage;
use lapin::options::{BasicAckOptions, BasicGetOptions, BasicNackOptions};
use lapin::types::FieldTable;
use tokio::time::{Instant, sleep};

use crate::broker::RabbitMqBroker;
use crate::error::broker_error;
use crate::message::{CHAIN, CODE, Message, STAGE, header_text};
use crate::shared::Shared;
use crate::topology::{Source, parse_routing_key, passive};

/// The broker sets this header when the broker itself dead-letters a message. The adapter does not set it.
const DEATH_REASON: &str = "x-first-death-reason";
/// Maximum time to wait until all messages are in the queue again after they were given back.
const RETURN_DEADLINE: Duration = Duration::from_secs(5);

fn dead_letter(taken: &BasicGetMessage) -> DeadLetter {
    let headers = taken.properties.headers().clone().unwrap_or_default();
    let route = parse_routing_key(taken.routing_key.as_str());
    let (message, _) = Message::of_delivery(&taken.delivery, route.map_or(Source::Bulk, |(_, source)| source).lane());
    let job = message.job().ok();
    let named = header_text(&headers, STAGE).and_then(|stage| StageName::parse(&stage));
    let stage = named.or(route.map(|(stage, _)| stage)).or(job.as_ref().map(|job| job.stage()));
    let (code, chain) = cause(&headers);
    DeadLetter {
        id: message.id,
        stage: stage.unwrap_or(StageName::Sync),
        lane: message.lane,
        job,
        body: String::from_utf8_lossy(&message.body).into_owned(),
        code,
        message: chain,
        num_failed_attempts: message.num_failed_attempts,
        num_unanswered: message.num_unanswered,
    }
}

fn cause(headers: &FieldTable) -> (FailureCode, String) {
    match header_text(headers, CODE).zip(header_text(headers, CHAIN)) {
        Some((code, chain)) => (FailureCode::of_stored(&code), chain),
        None => {
            let reason = header_text(headers, DEATH_REASON).unwrap_or_else(|| "unknown".to_owned());
            (FailureCode::Crash, format!("dead-lettered by the broker: {reason}"))
        }
    }
}

impl Shared {
    async fn walk_channel(&self, operation: &'static str) -> Result<Channel, BrokerError> {
        let queue = self.names.dead_queue();
        let Some(up) = self.consuming.current() else {
            return Err(BrokerError::new(ErrorKind::Unavailable, operation, queue).because("no connection"));
        };
        up.connection.create_channel().await.map_err(|error| broker_error(operation, queue, error))
    }
}

async fn next(channel: &Channel, queue: &str) -> lapin::Result<Option<BasicGetMessage>> {
    channel.basic_get(queue.into(), BasicGetOptions::default()).await
}

/// Gives back all messages that the channel took, and waits until they are in the queue again, so that the
/// next walk finds them.
async fn give_back(channel: &Channel, queue: &str, num_before: u32) -> lapin::Result<()> {
    let all = BasicNackOptions { multiple: true, requeue: true };
    channel.basic_nack(0, all).await?;
    let deadline = Instant::now() + RETURN_DEADLINE;
    while passive(channel, queue).await?.message_count() < num_before && Instant::now() < deadline {
        sleep(Duration::from_millis(5)).await;
    }
    channel.close(200, "done".into()).await
}

async fn list(channel: &Channel, queue: &str, limit: usize) -> lapin::Result<Vec<DeadLetter>> {
    let num_before = passive(channel, queue).await?.message_count();
    let mut letters = Vec::new();
    while letters.len() < limit
        && let Some(got) = next(channel, queue).await?
    {
        letters.push(dead_letter(&got));
    }
    if !letters.is_empty() {
        give_back(channel, queue, num_before).await?;
    }
    Ok(letters)
}

/// Removes the messages with these ids in one walk; a separate walk for each id would read the preceding
/// messages again each time. Returns the letters that were removed, even if a later step fails.
async fn take(channel: &Channel, queue: &str, ids: &[MessageId]) -> lapin::Result<Vec<DeadLetter>> {
    let num_before = passive(channel, queue).await?.message_count();
    let (mut sought, mut found, mut num_got) = (Sought::new(ids), Vec::new(), 0_u32);
    while !sought.is_empty()
        && let Some(got) = next(channel, queue).await?
    {
        num_got += 1;
        let letter = dead_letter(&got);
        if sought.found(letter.id) {
            found.push((letter, got));
        }
    }
    let (mut taken, mut failure) = (Vec::new(), None);
    for (letter, got) in found {
        match got.acker.ack(BasicAckOptions::default()).await {
            Ok(true) => taken.push(letter),
            // A refused acknowledgement means that the channel is closed; the letter is then still in the
            // queue.
            Ok(false) => {}
            Err(error) => {
                failure = Some(error);
                break;
            }
        }
    }
    let num_taken = u32::try_from(taken.len()).unwrap_or(u32::MAX);
    if failure.is_none() && num_got > num_taken {
        failure = give_back(channel, queue, num_before.saturating_sub(num_taken)).await.err();
    }
    match failure {
        Some(error) if taken.is_empty() => Err(error),
        Some(error) => {
            // The broker requeues the remaining messages when the channel closes.
            tracing::warn!(queue, "only {num_taken} of {} dead letters were taken from the queue: {error}", ids.len());
            Ok(taken)
        }
        None => Ok(taken),
    }
}

#[async_trait]
impl DeadLetters for RabbitMqBroker {
    async fn dead_letters(&self, limit: usize) -> Result<Vec<DeadLetter>, BrokerError> {
        let _alone = self.shared.dead_letter_walk.lock().await;
        let channel = self.shared.walk_channel("list").await?;
        let queue = self.shared.names.dead_queue();
        list(&channel, &queue, limit).await.map_err(|error| broker_error("list", queue, error))
    }

    async fn take(&self, ids: &[MessageId]) -> Result<Vec<DeadLetter>, BrokerError> {
        let _alone = self.shared.dead_letter_walk.lock().await;
        let channel = self.shared.walk_channel("take").await?;
        let queue = self.shared.names.dead_queue();
        take(&channel, &queue, ids).await.map_err(|error| broker_error("take", queue, error))
    }
}
