//! Creates and reads the ids of requests.

use std::sync::atomic::{AtomicU64, Ordering};

use axum::http::{HeaderMap, HeaderValue};

/// The header that contains the request id.
pub(super) const REQUEST_ID: &str = "x-request-id";
const MAX_REQUEST_ID: usize = 64;

/// Creates request ids. The ids do not reveal how many requests were made.
pub(super) struct RequestIds {
    key: [u8; 32],
    next: AtomicU64,
}

impl RequestIds {
    pub(super) fn new() -> Self {
        Self { key: rand::random(), next: AtomicU64::new(0) }
    }

    /// The request id that the caller sent, if it is valid; otherwise a new id.
    pub(super) fn of(&self, headers: &HeaderMap) -> HeaderValue {
        let is_plain = |id: &&HeaderValue| {
            let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
            (1..=MAX_REQUEST_ID).contains(&id.len()) && id.as_bytes().iter().all(is_plain)
        };
        if let Some(given) = headers.get(REQUEST_ID).filter(is_plain) {
            return given.clone();
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let digest = blake3::keyed_hash(&self.key, &number.to_le_bytes());
        HeaderValue::from_str(&digest.to_hex()[..16]).unwrap_or(HeaderValue::from_static("0"))
    }
}
