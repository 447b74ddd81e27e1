//! Divides texts into batches. The module estimates the tokens of texts, fills calls up to their limits, and
//! shortens texts that are too long.

use std::collections::VecDeque;
use std::ops::Range;

/// A batch that is too large is halved repeatedly, at most until each batch contains one text. A single text
/// that is too long is shortened at most this many times.
pub const MAX_CUTS: u32 = 8;

/// Limits of one call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BatchLimits {
    pub texts: usize,
    pub tokens: u64,
}

/// Returns consecutive batches, each filled up to the limits. A single text that exceeds the limits becomes a
/// separate batch.
pub fn batches(tokens: &[u64], limits: BatchLimits) -> Vec<Range<usize>> {
    let mut batches = Vec::new();
    let (mut start, mut sum) = (0, 0);
    for (index, tokens) in tokens.iter().enumerate() {
        let is_full = index - start >= limits.texts.max(1) || sum + tokens > limits.tokens;
        if is_full && index > start {
            batches.push(start..index);
            (start, sum) = (index, 0);
        }
        sum += tokens;
    }
    if start < tokens.len() {
        batches.push(start..tokens.len());
    }
    batches
}

/// Returns both halves of a batch that the provider rejects as too large; `None` for a single text.
pub fn halves(batch: &Range<usize>) -> Option<(Range<usize>, Range<usize>)> {
    let middle = batch.start + batch.len() / 2;
    (batch.len() > 1).then_some((batch.start..middle, middle..batch.end))
}

/// Returns at most the first `max_bytes` of a text, cut at a character boundary.
pub fn shortened(text: &str, max_bytes: usize) -> &str {
    &text[..text.floor_char_boundary(max_bytes)]
}

/// Estimates tokens from bytes, and adjusts the estimate to the token counts that the provider reports. An
/// estimate should be too high rather than too low, because unused tokens are returned to the quota when the
/// call ends.
#[derive(Clone, Debug)]
pub struct TokenEstimator {
    /// Tokens per thousand bytes in recent batches of at least `MIN_BYTES`.
    recent: VecDeque<u64>,
    tokens_per_1000_bytes: u64,
}

/// The first estimate is two bytes per token. No known provider counts more tokens per byte in ordinary code,
/// in any language.
const FIRST_GUESS: u64 = 500;
/// Number of special tokens that a provider adds to each text.
const PER_TEXT: u64 = 3;
/// A batch with fewer bytes is not representative, so its token count is ignored.
const MIN_BYTES: u64 = 2048;
const NUM_RECENT: usize = 64;
/// The estimate is this percentage of the highest token rate in the recent batches.
const MARGIN_PERCENT: u64 = 110;

impl Default for TokenEstimator {
    fn default() -> Self {
        Self { recent: VecDeque::new(), tokens_per_1000_bytes: FIRST_GUESS }
    }
}

impl TokenEstimator {
    pub fn estimate(&self, text: &str) -> u64 {
        (text.len() as u64 * self.tokens_per_1000_bytes).div_ceil(1000) + PER_TEXT
    }

    /// Records that the provider counted `tokens` tokens in `num_texts` texts of `bytes` bytes.
    pub fn learn(&mut self, num_texts: usize, bytes: u64, tokens: u64) {
        if bytes < MIN_BYTES {
            return;
        }
        let tokens = tokens.saturating_sub(PER_TEXT * num_texts as u64);
        self.recent.push_back((tokens * 1000).div_ceil(bytes));
        if self.recent.len() > NUM_RECENT {
            self.recent.pop_front();
        }
        let most = self.recent.iter().max().copied().unwrap_or(FIRST_GUESS);
        self.tokens_per_1000_bytes = (most * MARGIN_PERCENT / 100).clamp(50, 1100);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LIMITS: BatchLimits = BatchLimits { texts: 3, tokens: 10 };

    #[test]
    fn batches_are_filled_up_to_both_limits() {
        let check = |tokens: &[u64], ends: &[usize]| {
            let found: Vec<usize> = batches(tokens, LIMITS).iter().map(|batch| batch.end).collect();
            assert_eq!(found, ends, "{tokens:?}");
        };
        check(&[], &[]);
        check(&[1], &[1]);
        check(&[1, 1, 1, 1], &[3, 4]);
        check(&[5, 5, 1], &[2, 3]);
        check(&[11], &[1]);
        check(&[1, 99, 1, 1], &[1, 2, 4]);
        check(&[99, 99], &[1, 2]);
    }

    #[test]
    fn halves_contain_all_texts() {
        assert_eq!(halves(&(4..9)), Some((4..6, 6..9)));
        assert_eq!(halves(&(4..5)), None);
        let (mut batch, mut num_splits) = (0..2_048, 0);
        while let Some((_, right)) = halves(&batch) {
            (batch, num_splits) = (right, num_splits + 1);
        }
        assert_eq!(num_splits, 11);
    }

    #[test]
    fn texts_are_cut_between_characters() {
        for (max_bytes, expect) in [(0, ""), (1, "a"), (2, "a"), (3, "a"), (4, "a数"), (99, "a数b")] {
            assert_eq!(shortened("a数b", max_bytes), expect, "{max_bytes}");
        }
    }

    #[test]
    fn estimates_stay_above_recent_provider_counts() {
        let mut estimator = TokenEstimator::default();
        let text = "x".repeat(10_000);
        assert_eq!(estimator.estimate(&text), 5003);
        estimator.learn(10, 10_000, 2_530);
        assert_eq!(estimator.estimate(&text), 2_753);
        estimator.learn(1, 100, 100);
        assert_eq!(estimator.estimate(&text), 2_753, "small batches are ignored");
        estimator.learn(10, 10_000, 4_030);
        for _ in 0..63 {
            estimator.learn(10, 10_000, 2_530);
            assert_eq!(estimator.estimate(&text), 4_403, "the estimate follows the recent maximum");
        }
        estimator.learn(10, 10_000, 2_530);
        assert_eq!(estimator.estimate(&text), 2_753);
    }

    proptest! {
        #[test]
        fn batches_partition_the_texts_within_the_limits(
            tokens in proptest::collection::vec(1..15u64, 0..60),
        ) {
            let batches = batches(&tokens, LIMITS);
            let all: Vec<usize> = batches.iter().cloned().flatten().collect();
            prop_assert_eq!(all, (0..tokens.len()).collect::<Vec<_>>());
            for (batch, next) in batches.iter().zip(batches.iter().skip(1).map(Some).chain([None])) {
                let sum: u64 = tokens[batch.clone()].iter().sum();
                prop_assert!(batch.len() <= LIMITS.texts && (sum <= LIMITS.tokens || batch.len() == 1));
                if let Some(next) = next {
                    prop_assert!(batch.len() == LIMITS.texts || sum + tokens[next.start] > LIMITS.tokens);
                }
            }
        }
    }
}
