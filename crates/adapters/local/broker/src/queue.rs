//! Implements the queue of one stage. The functions of the queue never wait.

use std::collections::{BTreeMap, VecDeque};

use cairn_domain::Lane;
use cairn_ports::{DeadLetter, Delivery, FailureCode, SUSPECT_AFTER, Settlement};
use cairn_wire::Job;
use tokio::time::Instant;

use crate::settings::QueueSettings;

pub(crate) struct Message {
    lane: Lane,
    job: Job,
    num_failed_attempts: u32,
    num_unanswered: u32,
}

impl Message {
    pub(crate) fn new(lane: Lane, job: Job) -> Self {
        Self { lane, job, num_failed_attempts: 0, num_unanswered: 0 }
    }
}

struct Outstanding {
    message: Message,
    /// The time at which the delivery is reclaimed. `None` if the clock cannot represent this time.
    reclaimed_at: Option<Instant>,
}

pub(crate) struct StageQueue {
    settings: QueueSettings,
    interactive: VecDeque<Message>,
    bulk: VecDeque<Message>,
    /// Delayed messages by the time from which they may be delivered. Messages with equal times keep the
    /// order in which they were settled.
    delayed: BTreeMap<(Instant, u64), Message>,
    outstanding: BTreeMap<u64, Outstanding>,
}

impl StageQueue {
    pub(crate) fn new(settings: QueueSettings) -> Self {
        Self {
            settings,
            interactive: VecDeque::new(),
            bulk: VecDeque::new(),
            delayed: BTreeMap::new(),
            outstanding: BTreeMap::new(),
        }
    }

    pub(crate) fn has_capacity(&self) -> bool {
        self.interactive.len() + self.bulk.len() + self.delayed.len() < self.settings.capacity.max(1)
    }

    pub(crate) fn depth(&self) -> u64 {
        (self.interactive.len() + self.bulk.len() + self.delayed.len() + self.outstanding.len()) as u64
    }

    pub(crate) fn push_back(&mut self, message: Message) {
        self.lane(message.lane).push_back(message);
    }

    fn lane(&mut self, lane: Lane) -> &mut VecDeque<Message> {
        match lane {
            Lane::Interactive => &mut self.interactive,
            Lane::Bulk => &mut self.bulk,
        }
    }

    /// Delivers the next message under `tag`, if `prefetch` allows it.
    pub(crate) fn deliver(&mut self, tag: u64, now: Instant) -> Option<Delivery> {
        self.promote_due(now);
        if self.outstanding.len() >= self.settings.prefetch.max(1) {
            return None;
        }
        let message = self.interactive.pop_front().or_else(|| self.bulk.pop_front())?;
        let is_suspect = message.num_unanswered >= SUSPECT_AFTER;
        let delivery = Delivery {
            tag,
            job: message.job.clone(),
            lane: message.lane,
            num_failed_attempts: message.num_failed_attempts,
            num_unanswered: message.num_unanswered,
            is_suspect,
            traceparent: None,
        };
        self.outstanding
            .insert(tag, Outstanding { message, reclaimed_at: now.checked_add(self.settings.unanswered_after) });
        Some(delivery)
    }

    fn promote_due(&mut self, now: Instant) {
        while let Some(entry) = self.delayed.first_entry()
            && entry.key().0 <= now
        {
            let message = entry.remove();
            self.push_back(message);
        }
    }

    /// The time at which a message may become receivable without any other event.
    pub(crate) fn next_change(&self) -> Option<Instant> {
        let due = self.delayed.first_key_value().map(|((due, _), _)| *due);
        // While `prefetch` jobs are unsettled, a due message becomes receivable only when a delivery is
        // answered, not at a certain time.
        let due = if self.outstanding.len() < self.settings.prefetch.max(1) { due } else { None };
        let reclaimed = self.outstanding.values().filter_map(|outstanding| outstanding.reclaimed_at).min();
        [due, reclaimed].into_iter().flatten().min()
    }

    pub(crate) fn settle(&mut self, tag: u64, settlement: Settlement, now: Instant) {
        let Some(Outstanding { mut message, .. }) = self.outstanding.remove(&tag) else { return };
        match settlement {
            Settlement::Ack => {}
            Settlement::Retry { after } => {
                message.num_failed_attempts += 1;
                self.delayed.insert((now + after, tag), message);
            }
            Settlement::Requeue { after } => {
                self.delayed.insert((now + after, tag), message);
            }
        }
    }

    /// The dead letter of an outstanding delivery.
    pub(crate) fn dead_letter(&self, tag: u64, code: FailureCode, chain: &str) -> Option<DeadLetter> {
        let Message { job, lane, num_failed_attempts, num_unanswered } = &self.outstanding.get(&tag)?.message;
        Some(DeadLetter {
            id: job.id(),
            stage: job.stage(),
            lane: *lane,
            job: Some(job.clone()),
            body: job.to_json(),
            code,
            message: chain.to_owned(),
            num_failed_attempts: *num_failed_attempts,
            num_unanswered: *num_unanswered,
        })
    }

    /// Returns the message of an unanswered delivery to the front of its lane.
    pub(crate) fn reclaim(&mut self, tag: u64) {
        if let Some(Outstanding { mut message, .. }) = self.outstanding.remove(&tag) {
            message.num_unanswered += 1;
            self.lane(message.lane).push_front(message);
        }
    }

    /// Reclaims the deliveries that were not answered in time. Returns their tags, which are no longer valid.
    pub(crate) fn reclaim_unanswered(&mut self, now: Instant) -> Vec<u64> {
        let is_late = |outstanding: &Outstanding| outstanding.reclaimed_at.is_some_and(|at| at <= now);
        let late: Vec<u64> =
            self.outstanding.iter().filter(|(_, outstanding)| is_late(outstanding)).map(|(tag, _)| *tag).collect();
        for tag in late.iter().rev() {
            self.reclaim(*tag);
        }
        late
    }
}
