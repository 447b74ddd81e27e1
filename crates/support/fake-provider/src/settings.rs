//! The settings of the provider.

use std::time::Duration;

use crate::shapes::Shape;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    pub shape: Shape,
    pub model: String,
    pub dimensions: usize,
    /// The length of the time window for the limits. Real providers use one minute; a test may use a few
    /// seconds. The usage is counted in steps of a sixtieth of the window.
    pub window: Duration,
    /// The maximum number of requests of each key in a window, including refused requests. `None` means
    /// unlimited.
    pub requests: Option<u64>,
    pub tokens: Option<u64>,
    /// The maximum number of texts in one request.
    pub max_texts: usize,
    pub max_tokens: u64,
    /// The maximum number of tokens in one text.
    pub max_text_tokens: u64,
    /// The accepted keys. If the list is empty, any key and requests without a key are accepted.
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
