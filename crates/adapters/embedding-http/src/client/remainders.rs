//! After its full batches, a caller may have some texts left: its remainder. A remainder rarely fills a call,
//! so remainders that wait for the gate at the same time share one call.
//!
//! The first remainder in the queue takes all waiting remainders that fit, and makes the call for all of
//! them. No remainder waits only to share a call. If the gate is open, a remainder makes its call alone. If
//! calls are scarce, other remainders are already waiting, and they share the call.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cairn_domain::DenseVector;
use tokio::sync::oneshot;

use crate::batches::BatchLimits;
use crate::control::Verdict;

/// The outcome of a shared call for one of its members.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum CallOutcome {
    Vectors(Vec<DenseVector>),
    /// The failure does not depend on the texts. The member should try again, alone or in a shared call.
    Again,
    /// The failure may depend on the texts of any member. The member should try again alone.
    Alone,
}

/// The remainders that wait for the gate, in order of arrival.
#[derive(Default, Debug)]
pub(super) struct Remainders(Mutex<Queue>);

#[derive(Default, Debug)]
struct Queue {
    waiting: VecDeque<Remainder>,
    num_added: u64,
}

#[derive(Debug)]
struct Remainder {
    number: u64,
    texts: Vec<String>,
    tokens: u64,
    taken: oneshot::Sender<oneshot::Receiver<CallOutcome>>,
}

/// A remainder that is part of another remainder's call. If the member is dropped without an outcome, its
/// remainder tries again.
#[derive(Debug)]
pub(super) struct Member {
    pub texts: Vec<String>,
    reply: oneshot::Sender<CallOutcome>,
}

impl Member {
    /// Sends the outcome. If the member was cancelled in the meantime, returns the texts and the outcome.
    pub(super) fn send(self, outcome: CallOutcome) -> Result<(), (Vec<String>, CallOutcome)> {
        let Self { texts, reply } = self;
        reply.send(outcome).map_err(|outcome| (texts, outcome))
    }
}

/// A position in the queue. Dropping the slot removes the remainder from the queue.
#[derive(Debug)]
pub(super) struct QueueSlot<'a> {
    queue: &'a Remainders,
    number: u64,
    num_texts: usize,
    tokens: u64,
}

/// Reports when another call takes this remainder.
#[derive(Debug)]
pub(super) struct Ticket(oneshot::Receiver<oneshot::Receiver<CallOutcome>>);

impl Ticket {
    /// Waits until another call takes the remainder. After that, the caller only waits for the end of that
    /// call.
    pub(super) async fn taken(self) -> SharedCall {
        // The sender stays in the queue as long as the slot exists.
        SharedCall(self.0.await.ok())
    }
}

/// A call that another remainder makes and that includes this remainder.
#[derive(Debug)]
pub(super) struct SharedCall(Option<oneshot::Receiver<CallOutcome>>);

impl SharedCall {
    /// Waits for the outcome of the call; `None` if the call was cancelled.
    pub(super) async fn outcome(self) -> Option<CallOutcome> {
        self.0?.await.ok()
    }
}

impl Remainders {
    pub(super) fn add(&self, texts: Vec<String>, tokens: u64) -> (QueueSlot<'_>, Ticket) {
        let (sender, taken) = oneshot::channel();
        let num_texts = texts.len();
        let mut queue = self.queue();
        queue.num_added += 1;
        let number = queue.num_added;
        queue.waiting.push_back(Remainder { number, texts, tokens, taken: sender });
        (QueueSlot { queue: self, number, num_texts, tokens }, Ticket(taken))
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QueueSlot<'_> {
    /// Asks for permission for a call with all waiting remainders that fit. If `ask` does not allow the call,
    /// asks again without the last of these remainders, and so on, until only this remainder is left. When
    /// `ask` allows a call, all its remainders leave the queue. If another call has already taken this
    /// remainder, the result is `Full`.
    pub(super) fn take_others(
        &self,
        limits: BatchLimits,
        mut ask: impl FnMut(u64) -> Verdict,
    ) -> (Verdict, Vec<Member>) {
        let mut queue = self.queue.queue();
        if !queue.waiting.iter().any(|remainder| remainder.number == self.number) {
            return (Verdict::Full, Vec::new());
        }
        let mut fitting = queue.fitting(self.number, (self.num_texts, self.tokens), limits);
        loop {
            let verdict = ask(self.tokens + fitting.iter().map(|(_, tokens)| tokens).sum::<u64>());
            if let Verdict::Go(_) = verdict {
                queue.remove(self.number);
                let members = fitting.into_iter().filter_map(|(number, _)| queue.remove(number)?.into_member());
                return (verdict, members.collect());
            }
            if fitting.pop().is_none() {
                return (verdict, Vec::new());
            }
        }
    }
}

impl Remainder {
    /// Makes this remainder a member of a shared call. Returns `None` if the remainder was cancelled.
    fn into_member(self) -> Option<Member> {
        let (reply, outcome) = oneshot::channel();
        self.taken.send(outcome).ok()?;
        Some(Member { texts: self.texts, reply })
    }
}

impl Drop for QueueSlot<'_> {
    fn drop(&mut self) {
        self.queue.queue().remove(self.number);
    }
}

impl Queue {
    /// Returns the remainders that fit into one call together with the remainder `first`, each as its
    /// `number` and its tokens. `first` has `texts` texts and `tokens` tokens.
    fn fitting(&self, first: u64, (mut texts, mut tokens): (usize, u64), limits: BatchLimits) -> Vec<(u64, u64)> {
        let mut fitting = Vec::new();
        for remainder in self.waiting.iter().filter(|remainder| remainder.number != first) {
            let (with_texts, with_tokens) = (texts + remainder.texts.len(), tokens + remainder.tokens);
            if with_texts <= limits.texts && with_tokens <= limits.tokens {
                (texts, tokens) = (with_texts, with_tokens);
                fitting.push((remainder.number, remainder.tokens));
            }
        }
        fitting
    }

    fn remove(&mut self, number: u64) -> Option<Remainder> {
        let at = self.waiting.iter().position(|remainder| remainder.number == number)?;
        self.waiting.remove(at)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::control::{Class, Control, ControlSettings, Quota};

    const LIMITS: BatchLimits = BatchLimits { texts: 6, tokens: 10 };

    fn texts(number: usize) -> Vec<String> {
        vec!["text".to_owned(); number]
    }

    /// Takes members for a call that may have at most `most` tokens. Returns the tokens of each call that
    /// was requested, and the members of the allowed call.
    fn taken(slot: &QueueSlot<'_>, most: u64) -> (Vec<u64>, Vec<Member>) {
        let window = Duration::from_secs(60);
        let quota = Quota {
            requests: None,
            tokens: None,
            window,
            guard: Duration::ZERO,
            headroom_percent: 0,
            questions_percent: 0,
            largest_text: 1,
        };
        let settings =
            ControlSettings { quota, concurrency: Some(9), max_concurrency: 9, max_retry_after: Duration::ZERO };
        let mut control = Control::new(&settings, Duration::ZERO);
        let mut requested = Vec::new();
        let (_, members) = slot.take_others(LIMITS, |tokens| {
            requested.push(tokens);
            if tokens > most { Verdict::Full } else { control.ask(Duration::ZERO, tokens, Class::Passages) }
        });
        (requested, members)
    }

    #[tokio::test]
    async fn call_takes_waiting_remainders_that_fit() {
        let queue = Remainders::default();
        let (first, _) = queue.add(texts(2), 4);
        let others = [(1, 2), (1, 5), (4, 1), (3, 3), (1, 1)].map(|(num, tokens)| queue.add(texts(num), tokens));
        assert_eq!(taken(&first, 3).0, [9, 6, 4]);
        let (requested, members) = taken(&first, 9);
        assert_eq!(requested, [9]);
        assert_eq!(members.iter().map(|member| member.texts.len()).collect::<Vec<_>>(), [1, 3]);
        let [(included, one), (waits, _), _, (_, other), _last] = others;
        assert_eq!(taken(&included, 9).0, [0_u64; 0], "the remainder is not sent a second time");
        members
            .into_iter()
            .for_each(|member| member.send(CallOutcome::Alone).expect("the member waits for the outcome"));
        let (one, other) = (one.taken().await.outcome().await, other.taken().await.outcome().await);
        assert_eq!((one, other), (Some(CallOutcome::Alone), Some(CallOutcome::Alone)));
        let (requested, members) = taken(&waits, 6);
        assert_eq!((requested, members.len()), (vec![7, 6], 1), "included remainders leave the queue");
    }

    #[tokio::test]
    async fn dropped_remainders_are_skipped_and_dropped_calls_have_no_outcome() {
        let queue = Remainders::default();
        let ((first, _), (second, ticket)) = (queue.add(texts(1), 1), queue.add(texts(1), 1));
        drop(queue.add(texts(1), 1));
        let (requested, members) = taken(&first, 9);
        assert_eq!((requested, members.len()), (vec![2], 1));
        drop(members);
        assert_eq!(ticket.taken().await.outcome().await, None);
        drop((first, second));
        assert!(queue.queue().waiting.is_empty());
    }
}
