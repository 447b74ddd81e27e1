//! One batch: called, tried again, split, shortened, until there is a vector for each text or an error.

use std::borrow::Cow;
use std::ops::Range;
use std::time::Duration;

use cairn_domain::{DenseVector, InputType};
use cairn_ports::{EmbedderError, ErrorKind};

use super::embedder::{HttpEmbedder, class_of};
use super::gate::{Closed, Pass};
use super::remainders::{Fellow, Told};
use crate::batches::{MAX_CUTS, halves, shortened};
use crate::control::{Class, Control};
use crate::provider::{CallError, Outcome, max_answer_bytes, outcome_of, request_body};
use crate::transport::TransportError;

/// A call and its retries.
const MAX_ATTEMPTS: u32 = 3;
const FIRST_BACKOFF: Duration = Duration::from_millis(100);

enum Called {
    Vectors(Vec<DenseVector>),
    TooLarge,
}

impl HttpEmbedder {
    /// Vectors of the texts in `batch`, with their places. A remainder may share its call with others.
    pub(super) async fn batch(
        &self,
        input_type: InputType,
        texts: &[Cow<'_, str>],
        batch: Range<usize>,
        is_remainder: bool,
    ) -> Result<Vec<(usize, DenseVector)>, EmbedderError> {
        let mut found = Vec::with_capacity(batch.len());
        let whole = batch.clone();
        let mut pending = vec![batch];
        // Depth first: what no splitting and no cutting helps is known after a few calls.
        while let Some(batch) = pending.pop() {
            let may_share = is_remainder && batch == whole;
            match self.call(input_type, &texts[batch.clone()], may_share).await? {
                Called::Vectors(vectors) => found.extend(batch.zip(vectors)),
                Called::TooLarge => match halves(&batch) {
                    Some((left, right)) => pending.extend([right, left]),
                    None => found.push((batch.start, self.shortening(input_type, &texts[batch.start]).await?)),
                },
            }
        }
        Ok(found)
    }

    /// A single text that is too long loses a third until it fits.
    async fn shortening(&self, input_type: InputType, text: &str) -> Result<DenseVector, EmbedderError> {
        self.counts.truncated.add(1);
        let mut shorter = text;
        for _ in 0..MAX_CUTS {
            shorter = shortened(shorter, shorter.len() * 2 / 3);
            if shorter.trim().is_empty() {
                break;
            }
            if let Called::Vectors(vectors) = self.call(input_type, &[Cow::Borrowed(shorter)], false).await? {
                tracing::debug!(
                    from = text.len(),
                    to = shorter.len(),
                    "a text was cut: the provider called it too long"
                );
                return vectors.into_iter().next().ok_or_else(|| self.error(ErrorKind::Invalid, 1));
            }
        }
        Err(self.error(ErrorKind::TooLarge, 1))
    }

    /// One call, and its retries as far as the budget goes.
    async fn call(
        &self,
        input_type: InputType,
        texts: &[Cow<'_, str>],
        mut may_share: bool,
    ) -> Result<Called, EmbedderError> {
        if !may_share {
            self.gate.control().new_call();
        }
        let mut num_failures = 0;
        loop {
            let attempted = if may_share {
                self.shared_attempt(texts).await?
            } else {
                Some(self.attempt(input_type, texts).await?)
            };
            let Some(outcome) = attempted else {
                may_share = false;
                self.gate.control().new_call();
                continue;
            };
            match outcome {
                Outcome::Answered { vectors, .. } => return Ok(Called::Vectors(vectors)),
                Outcome::TooLarge => return Ok(Called::TooLarge),
                // The gate waits, or says that it is too long.
                Outcome::Throttled { .. } => {}
                Outcome::Rejected { error } | Outcome::Refused { error } => {
                    return Err(self.error(error.kind(), texts.len()).because(error));
                }
                Outcome::Failed { error, .. } => {
                    num_failures += 1;
                    let now = self.gate.now();
                    if num_failures >= MAX_ATTEMPTS || !self.gate.control().take_retry(now) {
                        return Err(self.error(error.kind(), texts.len()).because(error));
                    }
                    self.counts.retries.add(1);
                    tokio::time::sleep(self.backoff(num_failures)).await;
                }
            }
        }
    }

    async fn attempt(&self, input_type: InputType, texts: &[Cow<'_, str>]) -> Result<Outcome, EmbedderError> {
        let class = class_of(input_type);
        let tokens = self.estimated(class, texts);
        let ask = |control: &mut Control, now| control.ask(now, tokens, class);
        let entered = self.gate.enter(class, &self.counts.waited_ms, ask).await;
        let pass = entered.map_err(|closed| self.error(kind_of(closed), texts.len()))?;
        self.post(pass, input_type, texts).await
    }

    /// A call for all who wait and fit, or one of these that took this one along. None if it failed, and it is not known because of
    /// whose texts: one caller's bad text fails no other.
    async fn shared_attempt(&self, texts: &[Cow<'_, str>]) -> Result<Option<Outcome>, EmbedderError> {
        let (class, limits) = (Class::Passages, self.limits(Class::Passages));
        let tokens = self.estimated(class, texts);
        let (pass, fellows) = loop {
            let owned = texts.iter().map(|text| text.clone().into_owned()).collect();
            let (place, lift) = self.remainders.add(owned, tokens);
            let mut fellows = Vec::new();
            let ask = |control: &mut Control, now| {
                let (verdict, along) = place.take_along(limits, |tokens| control.ask(now, tokens, class));
                fellows = along;
                verdict
            };
            let asked_at = self.gate.now();
            let ride = tokio::select! {
                biased;
                ride = lift.taken() => ride,
                entered = self.gate.enter(class, &self.counts.waited_ms, ask) => {
                    break (entered.map_err(|closed| self.error(kind_of(closed), texts.len()))?, fellows);
                }
            };
            self.counts.waited_ms.add((self.gate.now() - asked_at).as_millis() as u64);
            match ride.told().await {
                Some(Told::Vectors(vectors)) => return Ok(Some(Outcome::Answered { vectors, tokens: None })),
                Some(Told::Alone) => return Ok(None),
                Some(Told::Again) | None => {}
            }
        };
        self.gate.control().new_call();
        let others = fellows.iter().flat_map(|fellow| &fellow.texts).map(|text| Cow::Borrowed(text.as_str()));
        let all: Vec<Cow<'_, str>> = texts.iter().map(|text| Cow::Borrowed(text.as_ref())).chain(others).collect();
        let outcome = self.post(pass, InputType::Passage, &all).await?;
        Ok(self.tell_fellows(outcome, texts.len(), fellows))
    }

    /// Tells the fellows what the call means for them. What it means for the first `num_own` texts is returned.
    fn tell_fellows(&self, outcome: Outcome, num_own: usize, fellows: Vec<Fellow>) -> Option<Outcome> {
        if fellows.is_empty() {
            return Some(outcome);
        }
        match outcome {
            Outcome::Answered { mut vectors, tokens } => {
                let mut others = vectors.split_off(num_own).into_iter();
                for fellow in fellows {
                    let of_fellow = others.by_ref().take(fellow.texts.len()).collect();
                    if let Err((texts, Told::Vectors(unheard))) = fellow.tell(Told::Vectors(of_fellow)) {
                        self.keep_vectors(texts.iter().map(String::as_str).zip(unheard));
                    }
                }
                Some(Outcome::Answered { vectors, tokens })
            }
            outcome => {
                let told = if is_about_texts(&outcome) { Told::Alone } else { Told::Again };
                for fellow in fellows {
                    let _heard = fellow.tell(told.clone());
                }
                (told == Told::Again).then_some(outcome)
            }
        }
    }

    /// The call itself.
    async fn post(
        &self,
        pass: Pass<'_>,
        input_type: InputType,
        texts: &[Cow<'_, str>],
    ) -> Result<Outcome, EmbedderError> {
        // The pass may have taken long, and it is no call that the next owner knows of.
        if !self.is_held() {
            return Err(self.error(ErrorKind::Unavailable, texts.len()).because("another process owns the key now"));
        }
        self.counts.calls.add(1);
        let body = request_body(&self.config, input_type, texts);
        let post = self.transport.post(body, max_answer_bytes(&self.config, texts.len()));
        let deadline = Duration::from_millis(self.config.call_timeout_ms);
        let answer = match tokio::time::timeout(deadline, post).await {
            Ok(answer) => answer.map_err(CallError::from),
            Err(_) => Err(CallError::Deadline(deadline)),
        };
        let outcome = outcome_of(&self.config, texts.len(), answer);
        pass.end(outcome.end());
        self.count(&outcome, texts);
        Ok(outcome)
    }

    fn count(&self, outcome: &Outcome, texts: &[Cow<'_, str>]) {
        match outcome {
            Outcome::Answered { tokens, .. } => self.answered(texts, *tokens),
            Outcome::TooLarge if texts.len() > 1 => self.counts.split.add(1),
            Outcome::TooLarge | Outcome::Rejected { .. } => {}
            Outcome::Throttled { .. } => self.counts.throttled.add(1),
            Outcome::Refused { .. } => self.counts.refused.add(1),
            Outcome::Failed { error, .. } => self.count_failure(error),
        }
    }

    fn answered(&self, texts: &[Cow<'_, str>], tokens: Option<u64>) {
        self.counts.texts.add(texts.len() as u64);
        if let Some(tokens) = tokens {
            self.counts.tokens.add(tokens);
            let bytes: usize = texts.iter().map(|text| text.len()).sum();
            self.estimator().learn(texts.len(), bytes as u64, tokens);
        }
    }

    fn count_failure(&self, error: &CallError) {
        self.counts.failed.add(1);
        if matches!(error, CallError::Invalid(_) | CallError::NoAnswer(TransportError::TooLong { .. })) {
            self.counts.invalid.add(1);
        }
    }

    /// Doubled with each failure, and different for calls that failed together: between half of it and all of it.
    fn backoff(&self, num_failures: u32) -> Duration {
        let full = FIRST_BACKOFF * 2u32.pow(num_failures.min(6));
        let spread = self.counts.calls.get().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        full / 2 + full / 2 * spread as u32 / u32::MAX
    }
}

/// Whether other texts may fare better. Who is busy, away or refuses the key does so whatever is sent.
fn is_about_texts(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::TooLarge | Outcome::Rejected { .. } => true,
        Outcome::Failed { error, .. } => error.kind() != ErrorKind::Unavailable,
        Outcome::Answered { .. } | Outcome::Throttled { .. } | Outcome::Refused { .. } => false,
    }
}

fn kind_of(closed: Closed) -> ErrorKind {
    match closed {
        Closed::Throttled { retry_after } => ErrorKind::Throttled { retry_after: Some(retry_after) },
        Closed::Broken { .. } => ErrorKind::Unavailable,
        Closed::TooMuch => ErrorKind::TooLarge,
    }
}
