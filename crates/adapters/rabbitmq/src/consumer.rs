//! The consumer of one queue. The consumer attaches to the queue, receives deliveries, and attaches again
//! after each loss. The number of attempts is not limited.

use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cairn_domain::StageName;
use cairn_ports::{BrokerError, ErrorKind, SUSPECT_AFTER, plain};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use lapin::Consumer;
use lapin::message::Delivery;
use lapin::options::{BasicCancelOptions, BasicConsumeOptions, BasicQosOptions};
use lapin::types::FieldTable;
use tokio::sync::{Notify, watch};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use crate::backoff::Backoff;
use crate::health::Kind;
use crate::inbox::Held;
use crate::link::Up;
use crate::message::Message;
use crate::settle;
use crate::shared::{AckHandle, Isolating, Lease, Shared};
use crate::topology::{self, Source, passive};

/// A consumer that was attached for longer than this time counts as recovered. If such a consumer is lost
/// later, the backoff starts again with the shortest bound.
const SETTLED_AFTER: Duration = Duration::from_secs(5);

/// The reason why a consumer ended.
enum End {
    /// The stage is no longer consumed.
    Released,
    Lost(String),
}

/// Pending moves of messages to another queue. These messages are not handed to a worker.
type Moves = FuturesUnordered<Pin<Box<dyn Future<Output = ()> + Send>>>;

/// Consumes the queue whenever `is_wanted` of the stage is true. Never returns.
pub(crate) async fn consume(shared: Arc<Shared>, stage: StageName, source: Source) {
    let part = topology::routing_key(stage, source);
    let (min, max) = (shared.config.backoff_min_ms, shared.config.backoff_max_ms);
    let mut backoff = Backoff::new(Duration::from_millis(min), Duration::from_millis(max));
    loop {
        until(&shared.stage(stage).is_wanted, true).await;
        shared.health.down(&part, Kind::Consumer, "not attached yet");
        let up = shared.consuming.up().await;
        if source != Source::Interactive {
            until(&shared.stage(stage).is_interactive_tried, true).await;
        }
        let started = Instant::now();
        match attach_and_listen(&shared, &up, stage, source).await {
            End::Released => shared.health.forget(&part),
            End::Lost(fault) => {
                tracing::warn!(queue = part, "a consumer was lost: {fault}");
                shared.health.down(&part, Kind::Consumer, fault);
                if started.elapsed() > SETTLED_AFTER {
                    backoff.reset();
                }
                sleep(backoff.next()).await;
            }
        }
    }
}

async fn until(flag: &watch::Sender<bool>, value: bool) {
    // The wait fails only if the sender is dropped. This is not possible, because the sender is borrowed
    // during the wait.
    let _ = flag.subscribe().wait_for(|now| *now == value).await;
}

async fn attach_and_listen(shared: &Arc<Shared>, up: &Up, stage: StageName, source: Source) -> End {
    let limit = Duration::from_millis(shared.config.connect_timeout_ms);
    let attached = timeout(limit, attach(shared, up, stage, source)).await;
    if source == Source::Interactive {
        shared.stage(stage).is_interactive_tried.send_replace(true);
    }
    let (lease, consumer) = match attached {
        Ok(Ok(attached)) => attached,
        Ok(Err(error)) => return End::Lost(plain(&error)),
        Err(_) => return End::Lost(format!("the consumer was not attached within {limit:?}")),
    };
    shared.counters.attached.add(1);
    shared.health.up(&topology::routing_key(stage, source), Kind::Consumer);
    let mut listener = Listener { shared: Arc::clone(shared), stage, source, lease, moves: Moves::new() };
    let end = listener.listen(consumer).await;
    if source == Source::Interactive {
        shared.stage(stage).is_interactive_tried.send_replace(false);
    }
    if let End::Lost(_) = end {
        listener.lease.is_lost.send_replace(true);
        shared.stage(stage).inbox().abandon(listener.lease.id);
        shared.stage(stage).ready.notify_waiters();
    }
    end
}

/// Opens a channel, sets its prefetch, and starts the consumer. The prefetch is set for each new channel,
/// because the broker does not apply the prefetch of one channel to later channels.
async fn attach(shared: &Shared, up: &Up, stage: StageName, source: Source) -> lapin::Result<(Arc<Lease>, Consumer)> {
    let queue = shared.names.queue(stage, source);
    // Suspects are delivered one at a time.
    let prefetch = if source == Source::Suspect { 1 } else { shared.config.prefetch_of(stage) };
    let channel = up.connection.create_channel().await?;
    channel.basic_qos(prefetch, BasicQosOptions::default()).await?;
    let options = BasicConsumeOptions::default();
    let consumer = channel.basic_consume(queue.as_str().into(), "".into(), options, FieldTable::default()).await?;
    // While the broker answers the first request, it sends the messages that wait in the queue. So these
    // messages have arrived when the second reply arrives. The lanes attach one after the other, so waiting
    // interactive jobs are received first.
    passive(&channel, &queue).await?;
    passive(&channel, &queue).await?;
    let (broken, is_lost) = (Notify::new(), watch::channel(false).0);
    Ok((Arc::new(Lease { id: shared.next_id(), channel, broken, is_lost }), consumer))
}

struct Listener {
    shared: Arc<Shared>,
    stage: StageName,
    source: Source,
    lease: Arc<Lease>,
    moves: Moves,
}

impl Listener {
    async fn listen(&mut self, mut consumer: Consumer) -> End {
        let mut probe = interval(self.shared.config.heartbeat());
        probe.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (shared, lease) = (Arc::clone(&self.shared), Arc::clone(&self.lease));
        let queue = shared.names.queue(self.stage, self.source);
        loop {
            tokio::select! {
                delivery = consumer.next() => match delivery {
                    Some(Ok(delivery)) => self.accept(delivery),
                    Some(Err(error)) => return End::Lost(plain(&error)),
                    None => return End::Lost("the broker cancelled the consumer".to_owned()),
                },
                Some(()) = self.moves.next() => {}
                () = lease.broken.notified() => return End::Lost("an acknowledgement was refused".to_owned()),
                _ = probe.tick() => if let Err(fault) = probe_queue(&shared, &lease, &queue).await {
                    return End::Lost(fault);
                },
                () = until(&shared.stage(self.stage).is_wanted, false) => return self.release(consumer).await,
            }
        }
    }

    fn accept(&mut self, delivery: Delivery) {
        self.shared.counters.delivered.add(1);
        let (message, num_delivered) = Message::of_delivery(&delivery, self.source.lane());
        let handle = AckHandle { acker: delivery.acker, lease: Arc::clone(&self.lease) };
        let num_unanswered = message.num_unanswered.saturating_add(num_delivered);
        let job = match message.job() {
            Ok(job) => job,
            Err(fault) => return self.move_to_dead_letters(message, handle, fault),
        };
        let (stage, source, channel) = (self.stage, self.source, self.lease.id);
        let held = Held { stage, source, message, job, num_unanswered, handle, channel };
        if source != Source::Suspect && num_unanswered >= SUSPECT_AFTER {
            return self.isolate(held);
        }
        let stage = self.shared.stage(stage);
        stage.inbox().put(held);
        stage.ready.notify_waiters();
    }

    /// A message that is not a job can never be processed, so it becomes a dead letter.
    fn move_to_dead_letters(&self, message: Message, handle: AckHandle, fault: String) {
        let (shared, stage) = (Arc::clone(&self.shared), self.stage);
        let code = ErrorKind::Invalid.code();
        self.moves.push(Box::pin(async move {
            let letter = shared.to_dead(&message, stage, code, &fault);
            or_warn(settle::replace(&shared, letter, &handle)).await;
        }));
    }

    /// Moves a delivery to the suspect queue. All jobs that a lost consumer held are moved, including
    /// harmless jobs. Each suspect is delivered alone, which shows whether it kills its worker.
    fn isolate(&self, mut held: Held<AckHandle>) {
        let (shared, isolating) = (Arc::clone(&self.shared), Isolating::begin(&self.shared));
        held.message.num_unanswered = held.num_unanswered;
        self.moves.push(Box::pin(async move {
            tracing::warn!(job = %held.job, "the job was delivered {} times without an answer, so it will be run alone, as a suspect", held.num_unanswered);
            let suspect = shared.to_work(&held.message, held.stage, Source::Suspect);
            or_warn(settle::replace(&shared, suspect, &held.handle)).await;
            // The reply shows that the broker has received the acknowledgement. An error is ignored here,
            // because `listen` reports faults of the channel.
            let _ = passive(&held.handle.lease.channel, &shared.names.queue(held.stage, held.source)).await;
            drop(isolating);
        }));
    }

    /// Stops further deliveries. Deliveries that no worker received are published again with unchanged
    /// counts. As long as the channel exists, a worker can settle the deliveries that the worker holds.
    async fn release(&mut self, mut consumer: Consumer) -> End {
        let cancelled = self.lease.channel.basic_cancel(consumer.tag(), BasicCancelOptions::default()).await;
        if let Err(error) = cancelled {
            return End::Lost(plain(&error));
        }
        while let Some(Ok(delivery)) = consumer.next().await {
            self.accept(delivery);
        }
        let waiting = self.shared.stage(self.stage).inbox().take_waiting(self.source);
        for held in waiting {
            let shared = Arc::clone(&self.shared);
            self.moves.push(Box::pin(async move {
                or_warn(settle::give_back(&shared, held, Duration::ZERO)).await;
            }));
        }
        while self.moves.next().await.is_some() {}
        End::Released
    }
}

/// Checks that the broker replies and that the queue has a consumer. If no delivery arrives, the stream does
/// not show whether the broker replies or whether the consumer exists.
async fn probe_queue(shared: &Shared, lease: &Lease, queue: &str) -> Result<(), String> {
    let limit = shared.config.heartbeat();
    match timeout(limit, passive(&lease.channel, queue)).await {
        Ok(Ok(queue)) if queue.consumer_count() == 0 => Err("the broker has no consumer".to_owned()),
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => Err(plain(&error)),
        Err(_) => Err(format!("no reply within {limit:?}")),
    }
}

/// Logs a failed move. The message is not lost, because the broker delivers an unacknowledged message again.
async fn or_warn(moved: impl Future<Output = Result<(), BrokerError>>) {
    if let Err(error) = moved.await {
        tracing::warn!("a message was not moved to another queue, and will be delivered again: {}", plain(&error));
    }
}
