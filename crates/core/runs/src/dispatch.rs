//! Dispatches a repository's requests: selects the request whose job may be published now.

use crate::{Dispatched, RepositoryState, Requests, Wanted};

impl RepositoryState {
    /// Returns the request whose job may be published now, if one exists. A dispatched job is treated as lost
    /// if it did not reach the broker in time, or if no worker has started it within `again_after_ms`. A new
    /// request starts at once, even if an earlier request waits for its next attempt.
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
        // If an earlier request is not fulfilled yet, the options of both requests are combined.
        let request = self.requests.dispatched.map_or(wanted, |before| wanted.joined(before.request));
        self.requests.wanted = Some(request);
        self.requests.dispatched =
            Some(Dispatched { request, at_ms: now_ms, is_sent: false, postponed_until_ms: None });
        Some(request)
    }

    /// Cancels all requests. A sync in progress loses its lease, so it cannot begin a run. Returns false, and
    /// changes nothing, if no request exists.
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
    use cairn_domain::{Lane, SyncProgress};

    use super::*;
    use crate::HANDED_OVER_WITHIN_MS;

    #[test]
    fn requests_before_the_start_are_merged() {
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
    fn manual_and_scheduled_requests_count_as_manual() {
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
        assert!(is_scheduled(&[person, under_way, schedule]), "the scheduled request is a new request");
    }

    #[test]
    fn new_request_leaves_the_running_one_unchanged() {
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
        assert_eq!(
            asked(&answered, first),
            Some((Lane::Bulk, false, true)),
            "the next request also includes the answered request"
        );
        assert_eq!(
            answered.dispatch(4, 100).map(|wanted| wanted.rebuild),
            Some(false),
            "options of the answered request do not apply"
        );
        // The attempt at the first request failed. The second request starts instead of the first request,
        // with the options of both requests.
        assert!(state.requests.postpone(first, 900));
        let next = state.dispatch(5, 100).expect("a new request does not wait");
        assert_eq!((next.number, next.lane, next.rebuild, next.is_scheduled), (second, Lane::Interactive, true, false));
        assert_eq!(asked(&state, second), Some((Lane::Interactive, true, false)));
        // The options are also combined if the job of the request was lost.
        assert_eq!(state.dispatch(5 + HANDED_OVER_WITHIN_MS, 100_000).map(|wanted| wanted.rebuild), Some(true));
        state.requests.answer(second);
        assert_eq!((state.requests.wanted, state.requests.dispatched), (None, None));
    }

    #[test]
    fn unsent_job_is_dispatched_again() {
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
    fn postponed_request_does_not_delay_a_new_one() {
        let mut state = RepositoryState::default();
        let number = state.requests.ask(Lane::Bulk, false, 1);
        assert!(state.dispatch(2, 100).is_some());
        state.requests.dispatched(number);
        assert!(!state.requests.postpone(number + 1, 500), "another request");
        assert!(state.requests.postpone(number, 500));
        assert_eq!((state.dispatch(103, 100), state.dispatch(599, 100)), (None, None), "its job is in the retry queue");
        assert!(state.dispatchable(600, 100).is_some(), "or was lost");
        let again = state.requests.ask(Lane::Interactive, false, 400);
        assert_eq!(state.dispatch(401, 100).map(|wanted| wanted.number), Some(again));
        assert_eq!(state.dispatch(402, 100), None, "the new request is in progress");
        assert!(!state.requests.postpone(number, 900), "the earlier request is no longer in progress");
    }

    #[test]
    fn cancelled_request_begins_no_run() {
        let mut state = RepositoryState::default();
        assert!(!state.cancel_requests(0), "no request exists");
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
        // A new request can start at once.
        assert!(state.requests.ask(Lane::Bulk, false, 10) > number + 1);
        assert!(state.dispatch(11, 100).is_some());
        assert!(state.lease.take(12, 100).expect("free") > epoch + 1);
    }

    #[test]
    fn repository_registered_again_gets_new_numbers() {
        let former = RepositoryState::default().requests.ask(Lane::Bulk, false, 1000);
        assert!(RepositoryState::default().requests.ask(Lane::Bulk, false, 2000) > former);
    }

    #[test]
    fn lost_job_is_dispatched_again_after_the_lease() {
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
