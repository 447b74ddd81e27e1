//! Processes one batch: it is sent, retried, split and shortened until every text has a vector or an error is
//! certain.

use std::borrow::Cow;
use std::ops::Range;
use std::time::Duration;

use cairn_domain::{DenseVector, InputType};
use cairn_ports::{EmbedderError, ErrorKind};

use super::embedder::{HttpEmbedder, class_of};
use super::gate::{Closed, Pass};
use super::remainders::{CallOutcome, Member};
use crate::batches::{MAX_CUTS, halves, shortened};
use crate::control::{Class, Control};
use crate::provider::{CallError, CallResult, call_result, max_reply_bytes, request_body};
use crate::transport::TransportError;

/// Maximum number of attempts for a call: the first attempt and its retries.
const MAX_ATTEMPTS: u32 = 3;
const FIRST_BACKOFF: Duration = Duration::from_millis(100);

enum BatchResult {
    Vectors(Vec<DenseVector>),
    TooLarge,
}

impl HttpEmbedder {
    /// Returns the vectors of the texts in `batch`, each with the index of its text. If the batch is a
    /// remainder (the last texts, which do not fill a call), it may share its call with the remainders of
    /// other callers.
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
        // All pieces of the first half of a batch are processed before the second half. So a failure that
        // neither splitting nor cutting can fix is found after a few calls.
        while let Some(batch) = pending.pop() {
            let may_share = is_remainder && batch == whole;
            match self.call(input_type, &texts[batch.clone()], may_share).await? {
                BatchResult::Vectors(vectors) => found.extend(batch.zip(vectors)),
                BatchResult::TooLarge => match halves(&batch) {
                    Some((left, right)) => pending.extend([right, left]),
                    None => found.push((batch.start, self.shortening(input_type, &texts[batch.start]).await?)),
                },
            }
        }
        Ok(found)
    }

    /// Cuts a third from a single text that is too long, and repeats this until the provider accepts it.
    async fn shortening(&self, input_type: InputType, text: &str) -> Result<DenseVector, EmbedderError> {
        self.counts.truncated.add(1);
        let mut shorter = text;
        for _ in 0..MAX_CUTS {
            shorter = shortened(shorter, shorter.len() * 2 / 3);
            if shorter.trim().is_empty() {
                break;
            }
            if let BatchResult::Vectors(vectors) = self.call(input_type, &[Cow::Borrowed(shorter)], false).await? {
                tracing::debug!(
                    from = text.len(),
                    to = shorter.len(),
                    "a text was cut: the provider rejected it as too long"
                );
                return vectors.into_iter().next().ok_or_else(|| self.error(ErrorKind::Invalid, 1));
            }
        }
        Err(self.error(ErrorKind::TooLarge, 1))
    }

    /// Makes one call, and its retries within the retry budget.
    async fn call(
        &self,
        input_type: InputType,
        texts: &[Cow<'_, str>],
        mut may_share: bool,
    ) -> Result<BatchResult, EmbedderError> {
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
            let Some(result) = attempted else {
                may_share = false;
                self.gate.control().new_call();
                continue;
            };
            match result {
                CallResult::Answered { vectors, .. } => return Ok(BatchResult::Vectors(vectors)),
                CallResult::TooLarge => return Ok(BatchResult::TooLarge),
                // The next attempt waits at the gate. If the wait is too long, the gate returns an error.
                CallResult::Throttled { .. } => {}
                CallResult::Rejected { error } | CallResult::Refused { error } => {
                    return Err(self.error(error.kind(), texts.len()).because(error));
                }
                CallResult::Failed { error, .. } => {
                    num_failures += 1;
                    self.wait_to_retry(num_failures, error, texts.len()).await?;
                }
            }
        }
    }

    /// Waits until the next attempt after a failure. Returns the failure if there are no attempts left.
    async fn wait_to_retry(&self, num_failures: u32, error: CallError, num_texts: usize) -> Result<(), EmbedderError> {
        let now = self.gate.now();
        if num_failures >= MAX_ATTEMPTS || !self.gate.control().take_retry(now) {
            return Err(self.error(error.kind(), num_texts).because(error));
        }
        self.counts.retries.add(1);
        tokio::time::sleep(self.backoff(num_failures)).await;
        Ok(())
    }

    async fn attempt(&self, input_type: InputType, texts: &[Cow<'_, str>]) -> Result<CallResult, EmbedderError> {
        let class = class_of(input_type);
        let tokens = self.estimated(class, texts);
        let ask = |control: &mut Control, now| control.ask(now, tokens, class);
        let entered = self.gate.enter(class, &self.counts.waited_ms, ask).await;
        let pass = entered.map_err(|closed| self.error(kind_of(closed), texts.len()))?;
        self.post(pass, input_type, texts).await
    }

    /// Makes one call for these texts (the remainder of a caller) and all waiting remainders that fit. If
    /// another caller has already included this remainder in a call, waits for that call instead. Returns
    /// `None` if the shared call failed and a text of any caller may be the cause. The texts of each caller
    /// are then sent separately, so that the bad text of one caller causes no failures for other callers.
    async fn shared_attempt(&self, texts: &[Cow<'_, str>]) -> Result<Option<CallResult>, EmbedderError> {
        let (class, limits) = (Class::Passages, self.limits(Class::Passages));
        let tokens = self.estimated(class, texts);
        let (pass, members) = loop {
            let owned = texts.iter().map(|text| text.clone().into_owned()).collect();
            let (slot, ticket) = self.remainders.add(owned, tokens);
            let mut members = Vec::new();
            let ask = |control: &mut Control, now| {
                let (verdict, others) = slot.take_others(limits, |tokens| control.ask(now, tokens, class));
                members = others;
                verdict
            };
            let asked_at = self.gate.now();
            let shared_call = tokio::select! {
                biased;
                shared_call = ticket.taken() => shared_call,
                entered = self.gate.enter(class, &self.counts.waited_ms, ask) => {
                    break (entered.map_err(|closed| self.error(kind_of(closed), texts.len()))?, members);
                }
            };
            self.counts.waited_ms.add((self.gate.now() - asked_at).as_millis() as u64);
            match shared_call.outcome().await {
                Some(CallOutcome::Vectors(vectors)) => return Ok(Some(CallResult::Answered { vectors, tokens: None })),
                Some(CallOutcome::Alone) => return Ok(None),
                Some(CallOutcome::Again) | None => {}
            }
        };
        self.gate.control().new_call();
        let others = members.iter().flat_map(|member| &member.texts).map(|text| Cow::Borrowed(text.as_str()));
        let all: Vec<Cow<'_, str>> = texts.iter().map(|text| Cow::Borrowed(text.as_ref())).chain(others).collect();
        let result = self.post(pass, InputType::Passage, &all).await?;
        Ok(self.share_result(result, texts.len(), members))
    }

    /// Sends each member of the shared call its part of the result. Returns the caller's part: the result for
    /// the first `num_own` texts.
    fn share_result(&self, result: CallResult, num_own: usize, members: Vec<Member>) -> Option<CallResult> {
        if members.is_empty() {
            return Some(result);
        }
        match result {
            CallResult::Answered { mut vectors, tokens } => {
                let mut others = vectors.split_off(num_own).into_iter();
                for member in members {
                    let of_member = others.by_ref().take(member.texts.len()).collect();
                    if let Err((texts, CallOutcome::Vectors(unsent))) = member.send(CallOutcome::Vectors(of_member)) {
                        self.keep_vectors(texts.iter().map(String::as_str).zip(unsent));
                    }
                }
                Some(CallResult::Answered { vectors, tokens })
            }
            result => {
                let outcome = if may_depend_on_texts(&result) { CallOutcome::Alone } else { CallOutcome::Again };
                for member in members {
                    let _sent = member.send(outcome.clone());
                }
                (outcome == CallOutcome::Again).then_some(result)
            }
        }
    }

    /// Sends the request, without retries.
    async fn post(
        &self,
        pass: Pass<'_>,
        input_type: InputType,
        texts: &[Cow<'_, str>],
    ) -> Result<CallResult, EmbedderError> {
        // The gate may have delayed this call for a long time. If another process owns the key by now, that
        // process would not count this call.
        if !self.is_held() {
            return Err(self.error(ErrorKind::Unavailable, texts.len()).because("another process owns the key"));
        }
        self.counts.calls.add(1);
        let body = request_body(&self.config, input_type, texts);
        let post = self.transport.post(body, max_reply_bytes(&self.config, texts.len()));
        let deadline = Duration::from_millis(self.config.call_timeout_ms);
        let reply = match tokio::time::timeout(deadline, post).await {
            Ok(reply) => reply.map_err(CallError::from),
            Err(_) => Err(CallError::Deadline(deadline)),
        };
        let result = call_result(&self.config, texts.len(), reply);
        pass.end(result.end());
        self.count(&result, texts);
        Ok(result)
    }

    fn count(&self, result: &CallResult, texts: &[Cow<'_, str>]) {
        match result {
            CallResult::Answered { tokens, .. } => self.answered(texts, *tokens),
            CallResult::TooLarge if texts.len() > 1 => self.counts.split.add(1),
            CallResult::TooLarge | CallResult::Rejected { .. } => {}
            CallResult::Throttled { .. } => self.counts.throttled.add(1),
            CallResult::Refused { .. } => self.counts.refused.add(1),
            CallResult::Failed { error, .. } => self.count_failure(error),
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
        if matches!(error, CallError::Invalid(_) | CallError::NoReply(TransportError::TooLong { .. })) {
            self.counts.invalid.add(1);
        }
    }

    /// Returns a random wait between half of a bound and the bound. The bound doubles with each failure. The
    /// wait is random so that calls that failed at the same time do not retry at the same time.
    fn backoff(&self, num_failures: u32) -> Duration {
        let full = FIRST_BACKOFF * 2u32.pow(num_failures.min(6));
        let spread = self.counts.calls.get().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        full / 2 + full / 2 * spread as u32 / u32::MAX
    }
}

/// True if the failure may depend on the texts. If a provider is busy, is unreachable or refuses the key, the
/// call fails regardless of its texts.
fn may_depend_on_texts(result: &CallResult) -> bool {
    match result {
        CallResult::TooLarge | CallResult::Rejected { .. } => true,
        CallResult::Failed { error, .. } => error.kind() != ErrorKind::Unavailable,
        CallResult::Answered { .. } | CallResult::Throttled { .. } | CallResult::Refused { .. } => false,
    }
}

fn kind_of(closed: Closed) -> ErrorKind {
    match closed {
        Closed::Throttled { retry_after } => ErrorKind::Throttled { retry_after: Some(retry_after) },
        Closed::Broken { .. } => ErrorKind::Unavailable,
        Closed::TooMuch => ErrorKind::TooLarge,
    }
}
