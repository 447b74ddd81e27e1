//! Remainders: what is left of a caller's texts when its full batches are made seldom fills a call. Those that wait for the gate
//! at the same time share one.
//!
//! Whoever's turn it is takes along who waits and fits, and calls for all. Nobody waits for company: where the gate is open a
//! remainder goes alone, and where calls are scarce it finds others.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cairn_domain::DenseVector;
use tokio::sync::oneshot;

use crate::batches::BatchLimits;
use crate::control::Verdict;

/// What a shared call means for one of those who share it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Told {
    Vectors(Vec<DenseVector>),
    /// Not because of the texts: to be asked for again, in whatever company.
    Again,
    /// It may have been because of somebody's texts, and nobody knows whose.
    Alone,
}

/// Those that wait for the gate, in the order in which they came.
#[derive(Default, Debug)]
pub(super) struct Remainders(Mutex<Line>);

#[derive(Default, Debug)]
struct Line {
    waiting: VecDeque<Remainder>,
    num_added: u64,
}

#[derive(Debug)]
struct Remainder {
    number: u64,
    texts: Vec<String>,
    tokens: u64,
    taken: oneshot::Sender<oneshot::Receiver<Told>>,
}

/// One who was taken along. Dropped without a word, it asks again.
#[derive(Debug)]
pub(super) struct Fellow {
    pub texts: Vec<String>,
    answer: oneshot::Sender<Told>,
}

impl Fellow {
    /// Whoever has given up meanwhile hears nothing: what was to be told comes back, with the texts.
    pub(super) fn tell(self, told: Told) -> Result<(), (Vec<String>, Told)> {
        let Self { texts, answer } = self;
        answer.send(told).map_err(|told| (texts, told))
    }
}

/// A place in the line; leaves it when dropped.
#[derive(Debug)]
pub(super) struct Place<'a> {
    line: &'a Remainders,
    number: u64,
    num_texts: usize,
    tokens: u64,
}

/// Another's call, which may come and take this one along.
#[derive(Debug)]
pub(super) struct Lift(oneshot::Receiver<oneshot::Receiver<Told>>);

impl Lift {
    /// Waits until it has come; what is then to be awaited is its end, and nothing else.
    pub(super) async fn taken(self) -> Ride {
        // The sender waits in the line as long as the place is held.
        Ride(self.0.await.ok())
    }
}

/// A call of another that this one shares.
#[derive(Debug)]
pub(super) struct Ride(Option<oneshot::Receiver<Told>>);

impl Ride {
    /// None if the call was given up.
    pub(super) async fn told(self) -> Option<Told> {
        self.0?.await.ok()
    }
}

impl Remainders {
    pub(super) fn add(&self, texts: Vec<String>, tokens: u64) -> (Place<'_>, Lift) {
        let (taken_along, taken) = oneshot::channel();
        let num_texts = texts.len();
        let mut line = self.line();
        line.num_added += 1;
        let number = line.num_added;
        line.waiting.push_back(Remainder { number, texts, tokens, taken: taken_along });
        (Place { line: self, number, num_texts, tokens }, Lift(taken))
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place<'_> {
    /// Asks whether a call of so many tokens may go: with all who fit first, with one less, at last alone. If it may, those who come
    /// along wait no more, and neither does this one. One that was taken along itself may not go any more.
    pub(super) fn take_along(
        &self,
        limits: BatchLimits,
        mut ask: impl FnMut(u64) -> Verdict,
    ) -> (Verdict, Vec<Fellow>) {
        let mut line = self.line.line();
        if !line.waiting.iter().any(|remainder| remainder.number == self.number) {
            return (Verdict::Full, Vec::new());
        }
        let mut fitting = line.fitting(self.number, (self.num_texts, self.tokens), limits);
        loop {
            let verdict = ask(self.tokens + fitting.iter().map(|(_, tokens)| tokens).sum::<u64>());
            if let Verdict::Go(_) = verdict {
                line.remove(self.number);
                let fellows = fitting.into_iter().filter_map(|(number, _)| line.remove(number)?.taken_along());
                return (verdict, fellows.collect());
            }
            if fitting.pop().is_none() {
                return (verdict, Vec::new());
            }
        }
    }
}

impl Remainder {
    /// None if it has given up.
    fn taken_along(self) -> Option<Fellow> {
        let (answer, heard) = oneshot::channel();
        self.taken.send(heard).ok()?;
        Some(Fellow { texts: self.texts, answer })
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.line.line().remove(self.number);
    }
}

impl Line {
    /// Numbers and tokens of those that fit into one call with `first`, which has so many texts and tokens.
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

    /// Which sizes were asked for until one of at most `most` tokens went, and how many texts came along with it.
    fn taken(place: &Place<'_>, most: u64) -> (Vec<u64>, Vec<Fellow>) {
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
        let mut asked = Vec::new();
        let (_, fellows) = place.take_along(LIMITS, |tokens| {
            asked.push(tokens);
            if tokens > most { Verdict::Full } else { control.ask(Duration::ZERO, tokens, Class::Passages) }
        });
        (asked, fellows)
    }

    #[tokio::test]
    async fn a_call_takes_along_who_waits_and_fits() {
        let line = Remainders::default();
        let (first, _) = line.add(texts(2), 4);
        let others = [(1, 2), (1, 5), (4, 1), (3, 3), (1, 1)].map(|(num, tokens)| line.add(texts(num), tokens));
        assert_eq!(taken(&first, 3).0, [9, 6, 4]);
        let (asked, fellows) = taken(&first, 9);
        assert_eq!(asked, [9]);
        assert_eq!(fellows.iter().map(|fellow| fellow.texts.len()).collect::<Vec<_>>(), [1, 3]);
        let [(taken_along, one), (waits, _), _, (_, other), _last] = others;
        assert_eq!(taken(&taken_along, 9).0, [0_u64; 0], "it does not go a second time");
        fellows.into_iter().for_each(|fellow| fellow.tell(Told::Alone).expect("it is awaited"));
        let (one, other) = (one.taken().await.told().await, other.taken().await.told().await);
        assert_eq!((one, other), (Some(Told::Alone), Some(Told::Alone)));
        let (asked, fellows) = taken(&waits, 6);
        assert_eq!((asked, fellows.len()), (vec![7, 6], 1), "who was taken along waits no more");
    }

    #[tokio::test]
    async fn who_gave_up_is_not_taken_along_and_who_is_left_asks_again() {
        let line = Remainders::default();
        let ((first, _), (second, lift)) = (line.add(texts(1), 1), line.add(texts(1), 1));
        drop(line.add(texts(1), 1));
        let (asked, fellows) = taken(&first, 9);
        assert_eq!((asked, fellows.len()), (vec![2], 1));
        drop(fellows);
        assert_eq!(lift.taken().await.told().await, None);
        drop((first, second));
        assert!(line.line().waiting.is_empty());
    }
}
