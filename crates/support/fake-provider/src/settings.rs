//! What the provider is like.

use std::time::Duration;

use crate::shapes::Shape;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    pub shape: Shape,
    pub model: String,
    pub dimensions: usize,
    /// The window of the limits; a minute of real providers may be a few seconds here. Counted in sixtieths.
    pub window: Duration,
    /// In a window, for each key; refused requests count. None is no limit.
    pub requests: Option<u64>,
    pub tokens: Option<u64>,
    /// In one request.
    pub max_texts: usize,
    pub max_tokens: u64,
    /// In one text.
    pub max_text_tokens: u64,
    /// Accepted keys; empty is any, also none.
    pub keys: Vec<String>,
    pub latency: Duration,
}

impl Settings {
    pub fn new(shape: Shape) -> Self {
        Self {
            shape,
            model: "fake-embedding-1".to_owned(),
            dimensions: 64,
            window: Duration::from_secs(60),
            requests: None,
            tokens: None,
            max_texts: 128,
            max_tokens: 40_000,
            max_text_tokens: 8_000,
            keys: Vec::new(),
            latency: Duration::ZERO,
        }
    }
}
