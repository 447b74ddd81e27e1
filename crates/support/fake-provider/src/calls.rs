//! Records of the calls to the provider, and a summary of them.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Call {
    /// The time since the start of the provider.
    pub at: Duration,
    pub key: String,
    pub num_texts: usize,
    /// The number of passages in this call whose vectors an earlier call has already returned. The caller
    /// pays for these passages again. Zero for questions.
    pub num_repeated: usize,
    /// The number of tokens in the texts, even if the call failed.
    pub tokens: u64,
    /// `None` if the connection ended without a reply.
    pub status: Option<u16>,
    pub is_question: bool,
    /// Whether the call came too early: before the time that an earlier reply with status 429 set for the key
    /// of this call.
    pub is_early: bool,
}

/// A summary of calls.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Report {
    pub num_calls: usize,
    pub num_texts: usize,
    /// The number of texts for which the caller paid again.
    pub num_repeated: usize,
    pub tokens: u64,
    /// The number of calls by status. The status 0 means that there was no reply.
    pub statuses: BTreeMap<u16, usize>,
    pub num_early: usize,
    /// The maximum number of requests of one key in any window, including refused requests.
    pub most_requests: u64,
    pub most_tokens: u64,
}

impl Report {
    pub fn of(calls: &[Call], window: Duration) -> Self {
        let mut statuses = BTreeMap::new();
        for call in calls {
            *statuses.entry(call.status.unwrap_or(0)).or_default() += 1;
        }
        let mut keys: Vec<&str> = calls.iter().map(|call| call.key.as_str()).collect();
        keys.sort_unstable();
        keys.dedup();
        let most = keys.into_iter().map(|key| most_in_any_window(calls, key, window));
        let most = most.fold((0, 0), |most, of_key| (most.0.max(of_key.0), most.1.max(of_key.1)));
        Self {
            num_calls: calls.len(),
            num_texts: calls.iter().map(|call| call.num_texts).sum(),
            num_repeated: calls.iter().map(|call| call.num_repeated).sum(),
            tokens: calls.iter().map(|call| call.tokens).sum(),
            statuses,
            num_early: calls.iter().filter(|call| call.is_early).count(),
            most_requests: most.0,
            most_tokens: most.1,
        }
    }
}

/// The maximum number of requests and the maximum number of tokens that a key used in any window, computed
/// from the exact times of the calls. A window does not include its start.
fn most_in_any_window(calls: &[Call], key: &str, window: Duration) -> (u64, u64) {
    let calls: Vec<&Call> = calls.iter().filter(|call| call.key == key).collect();
    let (mut first, mut tokens, mut most) = (0, 0, (0, 0));
    for (index, call) in calls.iter().enumerate() {
        tokens += call.tokens;
        while calls[first].at + window <= call.at {
            tokens -= calls[first].tokens;
            first += 1;
        }
        most = (most.0.max((index + 1 - first) as u64), most.1.max(tokens));
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(at: u64, key: &str, tokens: u64) -> Call {
        Call {
            at: Duration::from_secs(at),
            key: key.to_owned(),
            num_texts: 1,
            num_repeated: 0,
            tokens,
            status: (tokens > 0).then_some(200),
            is_question: false,
            is_early: false,
        }
    }

    #[test]
    fn fullest_window_is_found_per_key() {
        let calls = [call(0, "a", 5), call(30, "a", 6), call(59, "b", 7), call(60, "a", 3), call(61, "a", 0)];
        let report = Report::of(&calls, Duration::from_secs(60));
        assert_eq!((report.most_requests, report.most_tokens), (3, 11));
        assert_eq!((report.num_calls, report.tokens), (5, 21));
        assert_eq!(report.statuses, BTreeMap::from([(0, 1), (200, 4)]));
    }
}
