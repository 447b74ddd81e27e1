//! Settings of the provider.

use std::time::Duration;

use crate::shapes::Shape;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    pub shape: Shape,
    pub model: String,
    pub dimensions: usize,
    /// The window of the limits; a minute of real providers may be a few seconds here. It is counted in
    /// sixtieths.
    pub window: Duration,
    /// Limits of each key in a window; refused requests count. `None`: unlimited.
    pub requests: Option<u64>,
    pub tokens: Option<u64>,
    /// Limits of one request.
    pub max_texts: usize,
    pub max_tokens: u64,
    /// Limit of one text.
    pub max_text_tokens: u64,
    /// Accepted keys; if empty, any key is accepted, also none.
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
