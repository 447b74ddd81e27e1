//! Publishes messages, and returns only when the broker has confirmed every message.
//!
//! Each call uses its own channel. lapin attaches a returned message to a confirmation on the same channel,
//! but possibly to the confirmation of a different message. Therefore all confirmations of a round are
//! collected before any confirmation is evaluated. A returned message is recognised by its id.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cairn_ports::{BrokerError, ErrorKind, plain};
use futures::FutureExt;
use lapin::options::{BasicPublishOptions, ConfirmSelectOptions};
use lapin::{BasicProperties, Channel, Confirmation, PublisherConfirm};
use tokio::time::{Instant, sleep, sleep_until, timeout, timeout_at};

use crate::backoff::Backoff;
use crate::config::RabbitMqConfig;
use crate::link::Link;
use crate::statistics::Counters;

/// Messages that a full queue refused are published again after a wait. These are the shortest and the
/// longest wait.
const OFFER_AGAIN: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));

/// A message to be published.
#[derive(Clone)]
pub(crate) struct Outgoing {
    pub(crate) exchange: String,
    pub(crate) key: String,
    pub(crate) id: String,
    pub(crate) body: Vec<u8>,
    pub(crate) properties: BasicProperties,
}

pub(crate) struct Publisher {
    link: Arc<Link>,
    config: Arc<RabbitMqConfig>,
    counters: Arc<Counters>,
    /// Channels that no call uses, each with the number of its connection.
    idle: Mutex<Vec<(u64, Channel)>>,
}

/// Result of one round.
struct Round {
    /// Messages to be published again.
    refused: Vec<Outgoing>,
    /// The reason why messages were refused. If `publish` reaches its deadline, its error contains this
    /// reason.
    reason: String,
    /// True if every message was confirmed and none was refused. Another call may then use the channel.
    is_sound: bool,
}

impl Publisher {
    pub(crate) fn new(link: Arc<Link>, config: Arc<RabbitMqConfig>, counters: Arc<Counters>) -> Self {
        Self { link, config, counters, idle: Mutex::default() }
    }

    /// Returns when all messages are confirmed. Until the configured deadline, this function waits for a
    /// connection and republishes messages that a full queue refused.
    pub(crate) async fn publish(&self, messages: Vec<Outgoing>) -> Result<(), BrokerError> {
        let deadline = Instant::now() + Duration::from_millis(self.config.publish_deadline_ms);
        let (mut pending, mut backoff) = (messages, Backoff::new(OFFER_AGAIN.0, OFFER_AGAIN.1));
        let mut reason = "no connection".to_owned();
        while !pending.is_empty() {
            let Ok((epoch, channel)) = timeout_at(deadline, self.channel(&mut reason)).await else {
                return Err(unavailable(&pending, &reason));
            };
            let round = self.round(&channel, pending).await;
            if round.is_sound {
                self.idle().push((epoch, channel));
            }
            (pending, reason) = (round.refused, round.reason);
            if !pending.is_empty() {
                let next = Instant::now() + backoff.next();
                if next >= deadline {
                    return Err(unavailable(&pending, &reason));
                }
                sleep_until(next).await;
            }
        }
        Ok(())
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<(u64, Channel)>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a channel in confirm mode. A blocked connection is not used, because written data would
    /// accumulate in it without being sent.
    async fn channel(&self, reason: &mut String) -> (u64, Channel) {
        let mut backoff = Backoff::new(
            Duration::from_millis(self.config.backoff_min_ms),
            Duration::from_millis(self.config.backoff_max_ms),
        );
        loop {
            let up = self.link.up().await;
            if up.connection.status().blocked() {
                "the broker blocks publishing because of an alarm".clone_into(reason);
            } else {
                if let Some(channel) = self.idle_channel(up.epoch) {
                    return (up.epoch, channel);
                }
                let limit = Duration::from_millis(self.config.confirm_timeout_ms);
                match timeout(limit, open(&up.connection)).await {
                    Ok(Ok(channel)) => return (up.epoch, channel),
                    Ok(Err(error)) => *reason = plain(&error),
                    Err(_) => *reason = format!("no channel was opened within {limit:?}"),
                }
            }
            sleep(backoff.next()).await;
        }
    }

    fn idle_channel(&self, epoch: u64) -> Option<Channel> {
        let mut idle = self.idle();
        idle.retain(|(of, channel)| *of == epoch && channel.status().connected());
        idle.pop().map(|(_, channel)| channel)
    }

    /// Publishes each message once; at most `publish_window` messages are unconfirmed at the same time.
    async fn round(&self, channel: &Channel, messages: Vec<Outgoing>) -> Round {
        let (mut confirms, mut outcomes) = (VecDeque::new(), Vec::with_capacity(messages.len()));
        for message in &messages {
            if confirms.len() >= self.config.publish_window {
                outcomes.push(self.confirmation(&mut confirms).await);
            }
            if outcomes.iter().any(Result::is_err) {
                break;
            }
            confirms.push_back(self.send(channel, message).await);
        }
        while !confirms.is_empty() {
            outcomes.push(self.confirmation(&mut confirms).await);
            if outcomes.last().is_some_and(Result::is_err) {
                // If one confirmation fails, all pending confirmations fail too, so waiting for each of them
                // is useless.
                outcomes.extend(confirms.drain(..).map(reply_if_ready));
            }
        }
        self.judge(messages, outcomes)
    }

    async fn send(&self, channel: &Channel, message: &Outgoing) -> Result<PublisherConfirm, String> {
        let options = BasicPublishOptions { mandatory: true, ..BasicPublishOptions::default() };
        let (exchange, key) = (message.exchange.as_str().into(), message.key.as_str().into());
        let sending = channel.basic_publish(exchange, key, options, &message.body, message.properties.clone());
        self.within_limit(sending).await
    }

    /// Waits for the oldest open confirmation.
    async fn confirmation(
        &self,
        confirms: &mut VecDeque<Result<PublisherConfirm, String>>,
    ) -> Result<Confirmation, String> {
        match confirms.pop_front() {
            Some(Ok(confirm)) => self.within_limit(confirm).await,
            Some(Err(fault)) => Err(fault),
            None => Err("not sent".to_owned()),
        }
    }

    async fn within_limit<T>(&self, future: impl Future<Output = lapin::Result<T>>) -> Result<T, String> {
        let limit = Duration::from_millis(self.config.confirm_timeout_ms);
        match timeout(limit, future).await {
            Ok(outcome) => outcome.map_err(|error| plain(&error)),
            Err(_) => Err(format!("the broker sent no confirm within {limit:?}")),
        }
    }

    fn judge(&self, messages: Vec<Outgoing>, outcomes: Vec<Result<Confirmation, String>>) -> Round {
        let mut returned = BTreeSet::new();
        let mut round = Round { refused: Vec::new(), reason: String::new(), is_sound: true };
        let mut judged: Vec<Verdict> = outcomes.into_iter().map(|outcome| verdict(outcome, &mut returned)).collect();
        judged.resize_with(messages.len(), || Verdict::Unknown("not sent".to_owned()));
        for (message, verdict) in messages.into_iter().zip(judged) {
            let is_returned = returned.contains(&message.id);
            match verdict {
                Verdict::Confirmed if !is_returned => {
                    self.counters.published.add(1);
                    continue;
                }
                Verdict::Confirmed | Verdict::Refused if is_returned => {
                    self.counters.returned.add(1);
                    round.reason = format!("no queue is bound for `{}`: run `cairn topology apply`", message.key);
                }
                Verdict::Confirmed | Verdict::Refused => {
                    self.counters.refused.add(1);
                    round.reason = format!("the queue for `{}` is full, or has no leader", message.key);
                    // If the node of a quorum queue's leader was down when a channel first published to the
                    // queue, the channel never changes to another leader. Every message to this queue is then
                    // refused (observed with RabbitMQ 3.10). Only a new channel finds the next leader.
                    round.is_sound = false;
                }
                Verdict::Unknown(fault) => {
                    self.counters.unconfirmed.add(1);
                    (round.reason, round.is_sound) = (fault, false);
                }
            }
            round.refused.push(message);
        }
        round
    }
}

fn reply_if_ready(confirm: Result<PublisherConfirm, String>) -> Result<Confirmation, String> {
    let reply = confirm?.now_or_never().unwrap_or_else(|| Ok(Confirmation::NotRequested));
    reply.map_err(|error| plain(&error))
}

enum Verdict {
    /// The broker confirmed the message. The message was accepted unless it is among the returned messages.
    Confirmed,
    Refused,
    Unknown(String),
}

fn verdict(outcome: Result<Confirmation, String>, returned: &mut BTreeSet<String>) -> Verdict {
    let confirmation = match outcome {
        Ok(Confirmation::NotRequested) => return Verdict::Unknown("the channel does not confirm messages".to_owned()),
        Ok(confirmation) => confirmation,
        Err(fault) => return Verdict::Unknown(fault),
    };
    let verdict = if confirmation.is_ack() { Verdict::Confirmed } else { Verdict::Refused };
    if let Some(message) = confirmation.take_message() {
        returned.extend(message.delivery.properties.message_id().as_ref().map(ToString::to_string));
    }
    verdict
}

async fn open(connection: &lapin::Connection) -> lapin::Result<Channel> {
    let channel = connection.create_channel().await?;
    channel.confirm_select(ConfirmSelectOptions::default()).await?;
    Ok(channel)
}

fn unavailable(pending: &[Outgoing], reason: &str) -> BrokerError {
    let key = pending.first().map(|message| message.key.clone()).unwrap_or_default();
    let cause = format!("{} messages are not confirmed: {reason}", pending.len());
    BrokerError::new(ErrorKind::Unavailable, "publish", key).because(cause)
}
