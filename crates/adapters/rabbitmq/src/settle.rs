//! Settles deliveries. The replacement of a message is confirmed before the message is acknowledged. If the
//! process stops in between, two messages exist; a message is never lost.

use std::time::Duration;

use cairn_domain::StageName;
use cairn_ports::{BrokerError, Cause, ErrorKind, FailureCode, Settlement};
use lapin::options::BasicAckOptions;

use crate::inbox::Held;
use crate::message::Message;
use crate::publisher::Outgoing;
use crate::shared::{AckHandle, Shared};
use crate::topology::Source;

pub(crate) async fn settle(shared: &Shared, tag: u64, settlement: Settlement) -> Result<(), BrokerError> {
    let Some(mut held) = take(shared, tag) else {
        return Err(not_found("settle", tag.to_string()));
    };
    match settlement {
        Settlement::Ack => ack(&held.handle).await,
        Settlement::Retry { after } => {
            // The worker answered this delivery, so the job does not kill its worker. The job's count of
            // unanswered deliveries is therefore reset.
            held.message.num_failed_attempts += 1;
            held.message.num_unanswered = 0;
            let source = Source::of(held.message.lane);
            replace(shared, shared.to_retry(&held.message, held.stage, source, after), &held.handle).await
        }
        Settlement::Requeue { after } => give_back(shared, held, after).await,
    }
}

/// Publishes the dead letter of a delivery; the delivery itself stays unsettled.
pub(crate) async fn dead_letter(shared: &Shared, tag: u64, code: FailureCode, chain: &str) -> Result<(), BrokerError> {
    let letter = StageName::ALL.iter().find_map(|stage| {
        let inbox = shared.stage(*stage).inbox();
        let held = inbox.outstanding(tag)?;
        let message = Message { num_unanswered: held.num_unanswered, ..held.message.clone() };
        Some((shared.to_dead(&message, held.stage, code, chain), held.handle.clone()))
    });
    let (letter, handle) = letter.ok_or_else(|| not_found("dead_letter", tag.to_string()))?;
    publish(shared, letter, &handle).await
}

fn take(shared: &Shared, tag: u64) -> Option<Held<AckHandle>> {
    StageName::ALL.iter().find_map(|stage| {
        let held = shared.stage(*stage).inbox().take(tag)?;
        // The prefetch now allows another delivery, so waiting receivers are notified.
        shared.stage(*stage).ready.notify_waiters();
        Some(held)
    })
}

/// Publishes the job to the queue that delivered it, with unchanged counts. A negative acknowledgement is not
/// used, because the broker would count the delivery as unanswered.
pub(crate) async fn give_back(shared: &Shared, mut held: Held<AckHandle>, after: Duration) -> Result<(), BrokerError> {
    held.message.num_unanswered = held.num_unanswered;
    let Held { stage, source, message, handle, .. } = &held;
    let outgoing = match after {
        Duration::ZERO => shared.to_work(message, *stage, *source),
        after => shared.to_retry(message, *stage, *source, after),
    };
    replace(shared, outgoing, handle).await
}

/// Publishes the replacement of a delivery, then acknowledges the delivery.
pub(crate) async fn replace(shared: &Shared, outgoing: Outgoing, handle: &AckHandle) -> Result<(), BrokerError> {
    publish(shared, outgoing, handle).await?;
    ack(handle).await
}

/// Publishes a message. While the broker is unavailable, this function tries again as long as the channel of
/// the delivery is open.
async fn publish(shared: &Shared, outgoing: Outgoing, handle: &AckHandle) -> Result<(), BrokerError> {
    let mut is_lost = handle.lease.is_lost.subscribe();
    loop {
        let published = tokio::select! {
            published = shared.publisher.publish(vec![outgoing.clone()]) => published,
            _ = is_lost.wait_for(|is_lost| *is_lost) => return Err(not_found("publish", outgoing.key)),
        };
        match published {
            Ok(()) => return Ok(()),
            Err(error) if error.kind == ErrorKind::Unavailable && handle.acker.usable() => {
                tracing::warn!(
                    key = outgoing.key,
                    "a message was not published and is sent again: {}",
                    cairn_ports::plain(&error)
                );
            }
            Err(error) => return Err(error),
        }
    }
}

async fn ack(handle: &AckHandle) -> Result<(), BrokerError> {
    let cause: Cause = match handle.acker.ack(BasicAckOptions::default()).await {
        Ok(true) => return Ok(()),
        Ok(false) => "the channel of the delivery is closed".into(),
        Err(error) => error.into(),
    };
    handle.lease.broken.notify_one();
    Err(not_found("settle", "delivery".to_owned()).because(cause))
}

fn not_found(operation: &'static str, key: String) -> BrokerError {
    BrokerError::new(ErrorKind::NotFound, operation, key)
}
