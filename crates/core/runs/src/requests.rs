//! What was asked of a repository: a sync that is wanted, and one that is under way.
//!
//! Asking twice before anything has started is one request. What is asked while a sync is under way is done after it,
//! for that sync may have read the source before the change that the asker has in mind.

use cairn_domain::Lane;

use crate::RepositoryState;

/// A sync that somebody waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wanted {
    pub number: u64,
    pub lane: Lane,
    pub asked_at_ms: i64,
    /// Every record is to be made anew.
    pub rebuild: bool,
    /// A schedule asked, and no person: one that fails as the one before did is no news.
    pub is_scheduled: bool,
}

impl Wanted {
    /// One request for both.
    fn joined(self, other: Wanted) -> Self {
        Wanted {
            lane: self.lane.min(other.lane),
            rebuild: self.rebuild || other.rebuild,
            is_scheduled: self.is_scheduled && other.is_scheduled,
            ..self
        }
    }
}

/// A request that somebody hands to the broker, or has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dispatched {
    /// As it was handed over: what is asked meanwhile is the next, with wishes of its own.
    pub request: Wanted,
    pub at_ms: i64,
    /// The broker has confirmed its job.
    pub is_sent: bool,
    /// An attempt has failed, and the next one is made then.
    pub postponed_until_ms: Option<i64>,
}

/// Whoever dispatches a request hands its job to the broker within this time, or died in between.
pub const HANDED_OVER_WITHIN_MS: i64 = 10_000;

impl Dispatched {
    /// Whether nobody will work on it: its job never came to the broker, or was lost there.
    fn is_lost(self, now_ms: i64, again_after_ms: i64) -> bool {
        let patience_ms = if self.is_sent { again_after_ms } else { again_after_ms.min(HANDED_OVER_WITHIN_MS) };
        self.at_ms.max(self.postponed_until_ms.unwrap_or(i64::MIN)).saturating_add(patience_ms) <= now_ms
    }

    /// Whether its job waits for its next attempt: nobody works on it, and it is in nobody's way.
    pub fn is_postponed(self, now_ms: i64) -> bool {
        self.postponed_until_ms.is_some_and(|until_ms| now_ms < until_ms)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Requests {
    /// Number of the last request.
    pub last: u64,
    pub wanted: Option<Wanted>,
    pub dispatched: Option<Dispatched>,
}

impl Requests {
    /// Asks for a sync; returns the number of the request that stands for it.
    pub fn ask(&mut self, lane: Lane, rebuild: bool, now_ms: i64) -> u64 {
        self.want(Wanted { number: 0, lane, asked_at_ms: now_ms, rebuild, is_scheduled: false })
    }

    /// Asks for a sync because it is time for one.
    pub fn schedule(&mut self, now_ms: i64) -> u64 {
        self.want(Wanted { number: 0, lane: Lane::Bulk, asked_at_ms: now_ms, rebuild: false, is_scheduled: true })
    }

    fn want(&mut self, asked: Wanted) -> u64 {
        let under_way = self.dispatched.map_or(0, |dispatched| dispatched.request.number);
        let wanted = match self.wanted {
            Some(wanted) if wanted.number > under_way => wanted.joined(asked),
            _ => {
                // The first is at least the time, so that a repository that was deleted and registered again does not take up
                // the numbers of its former life: a late job of that would answer what it knows nothing of.
                self.last = if self.last == 0 { asked.asked_at_ms.max(1) as u64 } else { self.last + 1 };
                Wanted { number: self.last, ..asked }
            }
        };
        self.wanted = Some(wanted);
        wanted.number
    }

    /// The broker has confirmed the job of the request.
    pub fn dispatched(&mut self, number: u64) {
        if let Some(dispatched) = self.dispatched.as_mut().filter(|dispatched| dispatched.request.number == number) {
            dispatched.is_sent = true;
        }
    }

    /// An attempt has failed, and its job comes again then. False, and nothing changes, if that is not the request under way.
    pub fn postpone(&mut self, number: u64, until_ms: i64) -> bool {
        let dispatched = self.dispatched.as_mut().filter(|dispatched| dispatched.request.number == number);
        dispatched.map(|dispatched| dispatched.postponed_until_ms = Some(until_ms)).is_some()
    }

    /// Where what is wanted stands in the line: its lane, and the time of asking. Between two attempts it stands behind all of
    /// its lane that may start before the next.
    pub fn place(&self) -> Option<(Lane, i64)> {
        let wanted = self.wanted?;
        let own = self.dispatched.filter(|dispatched| dispatched.request.number == wanted.number);
        let until_ms = own.and_then(|dispatched| dispatched.postponed_until_ms);
        Some((wanted.lane, wanted.asked_at_ms.max(until_ms.unwrap_or(i64::MIN))))
    }

    /// What is asked under that number, if somebody still waits for an answer to it.
    pub fn asked(&self, number: u64) -> Option<Wanted> {
        let wanted = self.wanted.filter(|wanted| wanted.number >= number)?;
        let under_way = self.dispatched.map(|dispatched| dispatched.request);
        let own = under_way.filter(|request| request.number == number);
        Some(own.unwrap_or(Wanted { number, ..wanted }))
    }

    /// A sync has done what the request asked for, or cannot. What was asked since stays.
    pub fn answer(&mut self, number: u64) {
        if self.dispatched.is_some_and(|dispatched| dispatched.request.number == number) {
            self.dispatched = None;
        }
        if self.wanted.is_some_and(|wanted| wanted.number <= number) {
            self.wanted = None;
        }
    }
}

impl RepositoryState {
    /// The request whose job may be handed to the broker now, if there is one. One that was dispatched and not handed over
    /// in time was lost, and one that was handed over `again_after_ms` ago and that nobody works on. Who asks anew does not wait
    /// for the next attempt at an earlier request.
    pub fn dispatchable(&self, now_ms: i64, again_after_ms: i64) -> Option<Wanted> {
        let wanted = self.requests.wanted?;
        let is_in_the_way = |dispatched: Dispatched| {
            let is_asked_anew = dispatched.request.number < wanted.number && dispatched.is_postponed(now_ms);
            !is_asked_anew && !dispatched.is_lost(now_ms, again_after_ms)
        };
        let is_free = !self.requests.dispatched.is_some_and(is_in_the_way);
        let may_start = !self.is_deleted && self.unfinished.is_none() && !self.lease.is_active(now_ms);
        (is_free && may_start).then_some(wanted)
    }

    pub fn dispatch(&mut self, now_ms: i64, again_after_ms: i64) -> Option<Wanted> {
        let wanted = self.dispatchable(now_ms, again_after_ms)?;
        // What was handed over before and not answered is not lost with its job.
        let request = self.requests.dispatched.map_or(wanted, |before| wanted.joined(before.request));
        self.requests.wanted = Some(request);
        self.requests.dispatched =
            Some(Dispatched { request, at_ms: now_ms, is_sent: false, postponed_until_ms: None });
        Some(request)
    }

    /// Nobody waits for a sync any more, and whoever is at one loses its lease, so that it can begin no run. False, and
    /// nothing changes, if none was asked for.
    pub fn cancel_requests(&mut self, now_ms: i64) -> bool {
        let Requests { wanted, dispatched, last } = self.requests;
        if wanted.is_none() && dispatched.is_none() {
            return false;
        }
        self.requests = Requests { last, ..Requests::default() };
        self.lease.revoke(now_ms);
        true
    }
}

#[cfg(test)]
mod tests {
    use cairn_domain::SyncProgress;

    use super::*;

    #[test]
    fn asking_twice_is_one_request_until_it_is_under_way() {
        let mut state = RepositoryState::default();
        assert_eq!(state.requests.ask(Lane::Bulk, false, 1), 1);
        assert_eq!(state.requests.ask(Lane::Interactive, true, 20), 1);
        let wanted = state.dispatch(30, 100).expect("wanted");
        let expect = Wanted { number: 1, lane: Lane::Interactive, asked_at_ms: 1, rebuild: true, is_scheduled: false };
        assert_eq!(wanted, expect);
        assert_eq!(state.dispatch(31, 100), None);
        assert_eq!(state.requests.ask(Lane::Bulk, false, 40), 2);
        state.requests.answer(1);
        assert_eq!(state.dispatch(50, 100).map(|wanted| wanted.number), Some(2));
        state.requests.answer(2);
        assert_eq!(state.requests, Requests { last: 2, ..Requests::default() });
    }

    #[test]
    fn what_a_person_asks_beside_a_schedule_is_that_persons() {
        let is_scheduled = |steps: &[fn(&mut Requests) -> u64]| {
            let mut requests = Requests::default();
            for step in steps {
                step(&mut requests);
            }
            requests.wanted.expect("wanted").is_scheduled
        };
        let schedule: fn(&mut Requests) -> u64 = |requests| requests.schedule(1);
        let person: fn(&mut Requests) -> u64 = |requests| requests.ask(Lane::Bulk, false, 2);
        assert!(is_scheduled(&[schedule, schedule]));
        assert!(!is_scheduled(&[schedule, person]) && !is_scheduled(&[person, schedule]));
        let under_way: fn(&mut Requests) -> u64 = |requests| {
            let request = requests.wanted.expect("wanted");
            requests.dispatched = Some(Dispatched { request, at_ms: 3, is_sent: true, postponed_until_ms: None });
            request.number
        };
        assert!(is_scheduled(&[person, under_way, schedule]), "that is the next");
    }

    #[test]
    fn what_is_asked_meanwhile_takes_nothing_from_what_is_under_way() {
        let mut state = RepositoryState::default();
        let first = state.requests.ask(Lane::Interactive, true, 1);
        assert!(state.dispatch(2, 100).is_some());
        state.requests.dispatched(first);
        let second = state.requests.schedule(3);
        let asked = |state: &RepositoryState, number| {
            state.requests.asked(number).map(|asked| (asked.lane, asked.rebuild, asked.is_scheduled))
        };
        assert_eq!(asked(&state, first), Some((Lane::Interactive, true, false)));
        assert_eq!(asked(&state, second), Some((Lane::Bulk, false, true)));
        let mut answered = state.clone();
        answered.requests.answer(first);
        assert_eq!(asked(&answered, first), Some((Lane::Bulk, false, true)), "the next one answers for it too");
        assert_eq!(answered.dispatch(4, 100).map(|wanted| wanted.rebuild), Some(false), "it was made anew");
        // An attempt failed: the next request is begun in its place, and does what it was to do.
        assert!(state.requests.postpone(first, 900));
        let next = state.dispatch(5, 100).expect("nobody waits for the next attempt");
        assert_eq!((next.number, next.lane, next.rebuild, next.is_scheduled), (second, Lane::Interactive, true, false));
        assert_eq!(asked(&state, second), Some((Lane::Interactive, true, false)));
        // So if its job was lost.
        assert_eq!(state.dispatch(5 + HANDED_OVER_WITHIN_MS, 100_000).map(|wanted| wanted.rebuild), Some(true));
        state.requests.answer(second);
        assert_eq!((state.requests.wanted, state.requests.dispatched), (None, None));
    }

    #[test]
    fn a_job_that_never_came_to_the_broker_is_handed_over_again_soon() {
        let mut state = RepositoryState::default();
        let number = state.requests.ask(Lane::Bulk, false, 1);
        assert!(state.dispatch(0, 1_800_000).is_some());
        assert_eq!(state.dispatch(HANDED_OVER_WITHIN_MS - 1, 1_800_000), None);
        assert!(state.dispatch(HANDED_OVER_WITHIN_MS, 1_800_000).is_some());
        state.requests.dispatched(number + 1);
        assert!(state.requests.dispatched.is_some_and(|dispatched| !dispatched.is_sent), "another request");
        state.requests.dispatched(number);
        assert_eq!(state.dispatch(HANDED_OVER_WITHIN_MS + 1_799_999, 1_800_000), None);
        assert!(state.dispatch(HANDED_OVER_WITHIN_MS + 1_800_000, 1_800_000).is_some());
    }

    #[test]
    fn what_is_postponed_is_not_lost_and_holds_up_nobody_who_asks_anew() {
        let mut state = RepositoryState::default();
        let number = state.requests.ask(Lane::Bulk, false, 1);
        assert!(state.dispatch(2, 100).is_some());
        state.requests.dispatched(number);
        assert!(!state.requests.postpone(number + 1, 500), "another request");
        assert!(state.requests.postpone(number, 500));
        assert_eq!((state.dispatch(103, 100), state.dispatch(599, 100)), (None, None), "its job comes by itself");
        assert!(state.dispatchable(600, 100).is_some(), "or was lost");
        let again = state.requests.ask(Lane::Interactive, false, 400);
        assert_eq!(state.dispatch(401, 100).map(|wanted| wanted.number), Some(again));
        assert_eq!(state.dispatch(402, 100), None, "that one is under way");
        assert!(!state.requests.postpone(number, 900), "the earlier one is over");
    }

    #[test]
    fn what_is_cancelled_is_not_dispatched_and_its_sync_begins_nothing() {
        let mut state = RepositoryState::default();
        assert!(!state.cancel_requests(0), "nothing was asked for");
        state.requests.ask(Lane::Bulk, false, 1);
        assert!(state.cancel_requests(2));
        assert_eq!(state.dispatch(3, 100), None);
        let number = state.requests.ask(Lane::Bulk, false, 4);
        assert!(state.dispatch(5, 100).is_some());
        let epoch = state.lease.take(6, 100).expect("free");
        state.requests.ask(Lane::Bulk, false, 7);
        assert!(state.cancel_requests(8));
        assert!(
            state.lease.check(epoch).is_err() && state.lease.renew(epoch, 9, 100, SyncProgress::default()).is_err()
        );
        assert_eq!((state.requests.wanted, state.requests.dispatched), (None, None));
        // Whoever asks anew waits for nobody.
        assert!(state.requests.ask(Lane::Bulk, false, 10) > number + 1);
        assert!(state.dispatch(11, 100).is_some());
        assert!(state.lease.take(12, 100).expect("free") > epoch + 1);
    }

    #[test]
    fn a_repository_that_comes_back_takes_up_no_number_of_its_former_life() {
        let former = RepositoryState::default().requests.ask(Lane::Bulk, false, 1000);
        assert!(RepositoryState::default().requests.ask(Lane::Bulk, false, 2000) > former);
    }

    #[test]
    fn a_lost_job_is_handed_over_again_but_not_while_somebody_works() {
        let mut state = RepositoryState::default();
        state.requests.ask(Lane::Bulk, false, 0);
        assert!(state.dispatch(0, 100).is_some());
        let epoch = state.lease.take(50, 100).expect("free");
        assert_eq!(state.dispatch(120, 100), None);
        state.lease.renew(epoch, 121, 0, SyncProgress::default()).expect("held");
        assert!(state.dispatch(122, 100).is_some());
        state.is_deleted = true;
        assert_eq!(state.dispatch(999, 100), None);
    }
}
