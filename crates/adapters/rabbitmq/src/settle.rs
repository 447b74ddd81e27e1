//! Answers to deliveries. What replaces a message is confirmed before the message is acknowledged: a stop in between leaves
//! two, never none.

use std::time::Duration;

use cairn_domain::StageName;
use cairn_ports::{BrokerError, Cause, ErrorKind, Settlement};
use lapin::options::BasicAckOptions;

use crate::broker::{Answer, Shared};
use crate::dead_letters;
use crate::inbox::Held;
use crate::message::Message;
use crate::publisher::Outgoing;
use crate::topology::Source;

pub(crate) async fn settle(shared: &Shared, tag: u64, settlement: Settlement) -> Result<(), BrokerError> {
    let Some(mut held) = take(shared, tag) else {
        return Err(not_found("settle", tag.to_string()));
    };
    match settlement {
        Settlement::Ack => ack(&held.answer).await,
        Settlement::Retry { after } => {
            // It was answered, so it does not kill: what it was suspected of is forgotten.
            held.message.num_failed_attempts += 1;
            held.message.num_unanswered = 0;
            let source = Source::of(held.message.lane);
            replace(shared, shared.to_retry(&held.message, held.stage, source, after), &held.answer).await
        }
        Settlement::Requeue { after } => give_back(shared, held, after).await,
    }
}

/// Publishes the letter of a delivery, which stays as it is.
pub(crate) async fn dead_letter(shared: &Shared, tag: u64, code: &str, chain: &str) -> Result<(), BrokerError> {
    let letter = StageName::ALL.iter().find_map(|stage| {
        let inbox = shared.stage(*stage).inbox();
        let held = inbox.outstanding(tag)?;
        Some((shared.to_dead(&held.message, held.stage, code, chain), held.answer.clone()))
    });
    let (letter, answer) = letter.ok_or_else(|| not_found("dead_letter", tag.to_string()))?;
    publish(shared, letter, &answer).await
}

fn take(shared: &Shared, tag: u64) -> Option<Held<Answer>> {
    StageName::ALL.iter().find_map(|stage| {
        let held = shared.stage(*stage).inbox().take(tag)?;
        // There is room for another.
        shared.stage(*stage).ready.notify_waiters();
        Some(held)
    })
}

/// To where it came from, with the counts that it has. Not by a negative acknowledgement: the broker would count that as
/// going unanswered.
pub(crate) async fn give_back(shared: &Shared, mut held: Held<Answer>, after: Duration) -> Result<(), BrokerError> {
    held.message.num_unanswered = held.num_unanswered;
    let Held { stage, source, message, answer, .. } = &held;
    let outgoing = match after {
        Duration::ZERO => shared.to_work(message, *stage, *source),
        after => shared.to_retry(message, *stage, *source, after),
    };
    replace(shared, outgoing, answer).await
}

/// Publishes what takes the place of a delivery, then acknowledges it.
pub(crate) async fn replace(shared: &Shared, outgoing: Outgoing, answer: &Answer) -> Result<(), BrokerError> {
    publish(shared, outgoing, answer).await?;
    ack(answer).await
}

/// Tries for as long as the delivery is ours, and the caller waits.
async fn publish(shared: &Shared, outgoing: Outgoing, answer: &Answer) -> Result<(), BrokerError> {
    let mut is_lost = answer.lease.is_lost.subscribe();
    loop {
        let published = tokio::select! {
            published = shared.publisher.publish(vec![outgoing.clone()]) => published,
            _ = is_lost.wait_for(|is_lost| *is_lost) => return Err(not_found("publish", outgoing.key)),
        };
        match published {
            Ok(()) => return Ok(()),
            Err(error) if error.kind == ErrorKind::Unavailable && answer.acker.usable() => {
                tracing::warn!(key = outgoing.key, "still trying to publish: {}", crate::error::chain(&error));
            }
            Err(error) => return Err(error),
        }
    }
}

async fn ack(answer: &Answer) -> Result<(), BrokerError> {
    let cause: Cause = match answer.acker.ack(BasicAckOptions::default()).await {
        Ok(true) => return Ok(()),
        Ok(false) => "its channel is gone".into(),
        Err(error) => error.into(),
    };
    answer.lease.broken.notify_one();
    Err(not_found("settle", "delivery".to_owned()).because(cause))
}

fn not_found(operation: &'static str, key: String) -> BrokerError {
    BrokerError::new(ErrorKind::NotFound, operation, key)
}

impl Shared {
    /// A message on its way to the dead letters.
    pub(crate) fn to_dead(&self, message: &Message, stage: StageName, code: &str, chain: &str) -> Outgoing {
        Outgoing {
            exchange: self.names.dead_exchange(),
            key: stage.as_str().to_owned(),
            id: message.message_id(),
            body: message.body.clone(),
            properties: message.properties(&dead_letters::headers(stage, code, chain)),
        }
    }
}
