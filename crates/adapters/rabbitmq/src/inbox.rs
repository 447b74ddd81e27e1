//! The deliveries of one stage in this process. Each delivery waits to be received, or a worker holds it. The
//! module contains only data and rules; none of its functions waits.

use std::collections::{BTreeMap, VecDeque};

use cairn_domain::StageName;
use cairn_ports::Delivery;
use cairn_wire::Job;

use crate::message::Message;
use crate::topology::Source;

/// A job that the broker delivered and that is not settled yet. `A` is the type of the handle that
/// acknowledges the job.
pub(crate) struct Held<A> {
    pub(crate) stage: StageName,
    pub(crate) source: Source,
    pub(crate) message: Message,
    pub(crate) job: Job,
    /// Number of unanswered deliveries of this message, by this queue and by earlier queues.
    pub(crate) num_unanswered: u32,
    pub(crate) handle: A,
    /// Id of the channel that delivered the message. When this channel closes, the delivery is lost.
    pub(crate) channel: u64,
}

pub(crate) struct Inbox<A> {
    prefetch: usize,
    waiting: BTreeMap<Source, VecDeque<Held<A>>>,
    outstanding: BTreeMap<u64, Held<A>>,
}

impl<A> Inbox<A> {
    pub(crate) fn new(prefetch: usize) -> Self {
        Self { prefetch, waiting: BTreeMap::new(), outstanding: BTreeMap::new() }
    }

    pub(crate) fn put(&mut self, held: Held<A>) {
        self.waiting.entry(held.source).or_default().push_back(held);
    }

    /// Returns the next job as a delivery with this `tag`, if the prefetch allows another delivery.
    pub(crate) fn next(&mut self, tag: u64, may_be_suspect: bool) -> Option<Delivery> {
        if self.outstanding.len() >= self.prefetch {
            return None;
        }
        // The map is ordered by source, and the sources are served in this order.
        let mut sources = self.waiting.iter_mut().filter(|(source, _)| may_be_suspect || **source != Source::Suspect);
        let held = sources.find_map(|(_, waiting)| waiting.pop_front())?;
        let delivery = Delivery {
            tag,
            job: held.job.clone(),
            lane: held.message.lane,
            num_failed_attempts: held.message.num_failed_attempts,
            num_unanswered: held.num_unanswered,
            is_suspect: held.source == Source::Suspect,
            traceparent: held.message.traceparent.clone(),
        };
        self.outstanding.insert(tag, held);
        Some(delivery)
    }

    /// Returns a delivery that a worker holds.
    pub(crate) fn outstanding(&self, tag: u64) -> Option<&Held<A>> {
        self.outstanding.get(&tag)
    }

    /// Removes a delivery that the caller will settle.
    pub(crate) fn take(&mut self, tag: u64) -> Option<Held<A>> {
        self.outstanding.remove(&tag)
    }

    /// Removes all deliveries of a closed channel, because the broker delivers them again.
    pub(crate) fn abandon(&mut self, channel: u64) {
        self.outstanding.retain(|_, held| held.channel != channel);
        for waiting in self.waiting.values_mut() {
            waiting.retain(|held| held.channel != channel);
        }
    }

    /// Removes the deliveries that no worker received yet, so that they can be given back.
    pub(crate) fn take_waiting(&mut self, source: Source) -> VecDeque<Held<A>> {
        self.waiting.remove(&source).unwrap_or_default()
    }

    pub(crate) fn num_unsettled(&self) -> usize {
        self.outstanding.len() + self.waiting.values().map(VecDeque::len).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use cairn_domain::{Key128, Lane, MessageId, RepositoryId, Tenant};
    use cairn_wire::SyncJob;

    use super::*;

    fn held(source: Source, request: u64, channel: u64) -> Held<()> {
        let repository = RepositoryId(Key128([1; 16]));
        let message = Message {
            id: MessageId(Key128([request as u8; 16])),
            body: Vec::new(),
            lane: source.lane(),
            num_failed_attempts: 0,
            num_unanswered: 0,
            first_seen_ms: 0,
            traceparent: None,
        };
        let job = Job::Sync(SyncJob { tenant: Tenant::local(), repository, request });
        Held { stage: StageName::Sync, source, message, job, num_unanswered: 0, handle: (), channel }
    }

    fn request(delivery: &Delivery) -> u64 {
        match &delivery.job {
            Job::Sync(job) => job.request,
            Job::Part(_) => 0,
        }
    }

    #[test]
    fn interactive_jobs_come_first_and_bulk_jobs_last() {
        let mut inbox = Inbox::new(9);
        for (source, number) in [(Source::Bulk, 1), (Source::Suspect, 2), (Source::Interactive, 3), (Source::Bulk, 4)] {
            inbox.put(held(source, number, 0));
        }
        let order: Vec<u64> =
            (0..4).filter_map(|tag| inbox.next(tag, true)).map(|delivery| request(&delivery)).collect();
        assert_eq!(order, [3, 2, 1, 4]);
    }

    #[test]
    fn suspect_waits_while_another_is_moved() {
        let mut inbox = Inbox::new(9);
        inbox.put(held(Source::Suspect, 1, 0));
        assert!(inbox.next(1, false).is_none());
        inbox.put(held(Source::Bulk, 2, 0));
        assert_eq!(inbox.next(2, false).map(|delivery| request(&delivery)), Some(2));
        assert_eq!(inbox.next(3, true).map(|delivery| request(&delivery)), Some(1));
    }

    #[test]
    fn prefetch_limits_all_sources_together() {
        let mut inbox = Inbox::new(2);
        for number in 0..4 {
            inbox.put(held(if number % 2 == 0 { Source::Bulk } else { Source::Interactive }, number, 0));
        }
        assert!(inbox.next(1, true).is_some() && inbox.next(2, true).is_some() && inbox.next(3, true).is_none());
        assert!(inbox.take(1).is_some() && inbox.take(1).is_none());
        assert!(inbox.next(3, true).is_some() && inbox.next(4, true).is_none());
        assert_eq!(inbox.num_unsettled(), 3);
    }

    #[test]
    fn deliveries_of_a_lost_channel_are_removed() {
        let mut inbox = Inbox::new(9);
        for channel in [7, 8, 7, 8] {
            inbox.put(held(Source::Bulk, channel, channel));
        }
        inbox.next(1, true);
        inbox.next(2, true);
        inbox.abandon(7);
        assert_eq!(inbox.num_unsettled(), 2);
        assert!(inbox.take(1).is_none() && inbox.take(2).is_some());
        assert_eq!(inbox.next(3, true).map(|delivery| (request(&delivery), delivery.lane)), Some((8, Lane::Bulk)));
    }
}
