//! Runs the simulated provider without a socket, in tokio's virtual time. The tests simulate minutes in
//! milliseconds, and the load of the machine has no influence on the results.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use cairn_embedding_http::{
    EmbeddingHttpConfig, HttpEmbedder, HttpReply, QuotaConfig, Share, Transport, TransportError,
};
use cairn_fake_provider::{Provider, Reply, Request, Settings, Shape};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};

#[derive(Clone)]
pub(crate) struct VirtualProvider {
    provider: Arc<Mutex<Provider>>,
    origin: Instant,
    /// Slots for calls that are processed at the same time. Further calls wait.
    slots: Arc<Semaphore>,
    /// Time that a message takes between the client and the provider, in each direction.
    network_delay: Duration,
}

impl VirtualProvider {
    pub(crate) fn new(settings: Settings) -> Self {
        Self::with_slots(settings, Semaphore::MAX_PERMITS)
    }

    pub(crate) fn with_slots(settings: Settings, slots: usize) -> Self {
        Self {
            provider: Arc::new(Mutex::new(Provider::new(settings))),
            origin: Instant::now(),
            slots: Arc::new(Semaphore::new(slots)),
            network_delay: Duration::from_millis(20),
        }
    }

    pub(crate) fn provider(&self) -> MutexGuard<'_, Provider> {
        self.provider.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn now(&self) -> Duration {
        self.origin.elapsed()
    }

    pub(crate) fn embedder(&self, config: EmbeddingHttpConfig) -> HttpEmbedder {
        self.embedder_of(Share::Whole, config)
    }

    pub(crate) fn embedder_of(&self, share: Share, config: EmbeddingHttpConfig) -> HttpEmbedder {
        HttpEmbedder::over(config, share, Arc::new(self.clone())).expect("valid settings")
    }
}

#[async_trait]
impl Transport for VirtualProvider {
    async fn post(&self, body: Vec<u8>, _max_bytes: usize) -> Result<HttpReply, TransportError> {
        sleep(self.network_delay).await;
        let _slot = self.slots.acquire().await;
        let path = if body.starts_with(b"{\"inputs\"") { "/embed" } else { "/v1/embeddings" };
        let reply = self.provider().handle(self.now(), Request { path, key: Some("k"), body: &body });
        let Reply::Response { status, headers, body, after, is_cut } = reply else {
            return Err(TransportError::Lost(None));
        };
        sleep(after + self.network_delay).await;
        if is_cut { Err(TransportError::Lost(None)) } else { Ok(HttpReply { status, headers, body }) }
    }
}

/// Settings of the client that match the simulated provider.
pub(crate) fn config(shape: Shape) -> EmbeddingHttpConfig {
    let (provider, path) = match shape {
        Shape::Voyage => ("voyage", "v1/embeddings"),
        Shape::Openai => ("openai", "v1/embeddings"),
        Shape::Tei => ("tei", "embed"),
    };
    let text = format!(
        "provider = '{provider}'\nurl = 'http://127.0.0.1:1/{path}'\nmodel = 'fake-embedding-1'\ndimensions = 64\n\
         allow_http = true\nmax_texts = 32\nmax_tokens = 16000\nmax_text_tokens = 6000\n"
    );
    let mut config: EmbeddingHttpConfig = toml::from_str(&text).expect("settings");
    if shape != Shape::Voyage {
        config.query_prefix = "query: ".to_owned();
    }
    config
}

pub(crate) fn quota(requests: u64, tokens: u64) -> QuotaConfig {
    QuotaConfig { requests_per_minute: Some(requests), tokens_per_minute: Some(tokens), ..QuotaConfig::default() }
}

/// Returns different texts of about 40 tokens each.
pub(crate) fn texts(first: usize, count: usize) -> Vec<String> {
    let text = |number: usize| {
        format!(
            "fn compute_{number}(left: u32, right: u32) -> u32 {{\n    let sum = left + right;\n    sum * {number}\n}}\n"
        )
    };
    (first..first + count).map(text).collect()
}

pub(crate) fn as_strs(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}
