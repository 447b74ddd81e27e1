//! Implements the port `Embedder` over HTTP.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use cairn_domain::{DenseVector, InputType, ModelId};
use cairn_ports::{Embedder, EmbedderError, ErrorKind};
use futures::stream::{StreamExt, TryStreamExt};
use tokio::time::Instant;

use super::counters::{Counts, EmbedderCounters};
use super::gate::{Gate, MaxWait};
use super::kept::Kept;
use super::remainders::Remainders;
use crate::batches::{BatchLimits, TokenEstimator, batches, shortened};
use crate::config::{EmbeddingHttpConfig, InvalidConfig, Share};
use crate::control::{Class, Control};
use crate::transport::{ReqwestTransport, Timeouts, Transport};

/// Text that is sent instead of a text without visible characters, which providers would refuse.
const BLANK: &str = "(empty)";

type IsHeld = Box<dyn Fn() -> bool + Send + Sync>;

/// Requests vectors from a provider. Share one embedder in an `Arc`, so that all users of a key share one
/// limiter.
pub struct HttpEmbedder {
    pub(super) config: EmbeddingHttpConfig,
    pub(super) transport: Arc<dyn Transport>,
    pub(super) gate: Gate,
    pub(super) counts: Counts,
    pub(super) remainders: Remainders,
    model: ModelId,
    estimator: Mutex<TokenEstimator>,
    kept: Mutex<Kept>,
    /// Returns whether this process may use the key now. `None` if no other process can own the key.
    is_held: Mutex<Option<IsHeld>>,
}

impl HttpEmbedder {
    /// Reads the key and checks the settings. This function does not connect to the provider.
    pub fn new(config: EmbeddingHttpConfig, share: Share) -> Result<Self, InvalidConfig> {
        config.validate(share)?;
        let fault = |fault: String| InvalidConfig { faults: vec![fault] };
        let key = config.api_key.as_ref().map(|reference| reference.read()).transpose();
        let key = key.map_err(|error| fault(error.to_string()))?;
        let url = config.url().ok_or_else(|| fault("`url` is not a URL".to_owned()))?;
        let timeouts = Timeouts {
            connect: Duration::from_millis(config.connect_timeout_ms),
            read: Duration::from_millis(config.read_timeout_ms),
        };
        let transport = ReqwestTransport::new(url, key.as_ref(), timeouts);
        let transport =
            transport.map_err(|error| fault(format!("the HTTP client cannot be built: {}", error.without_url())))?;
        Self::over(config, share, Arc::new(transport))
    }

    /// Creates an embedder that uses the given transport to the provider.
    pub fn over(
        config: EmbeddingHttpConfig,
        share: Share,
        transport: Arc<dyn Transport>,
    ) -> Result<Self, InvalidConfig> {
        config.validate(share)?;
        let settings = config.control(share);
        let question_wait = Duration::from_millis(config.max_question_wait_ms);
        let passage_wait = Duration::from_millis(config.max_wait_ms);
        // The pace of this client delays a batch by at most one window.
        let window = settings.quota.window + settings.quota.guard;
        let gate = Gate::new(
            Control::new(&settings, Duration::ZERO),
            Instant::now(),
            MaxWait { total: question_wait, throttled: question_wait },
            MaxWait { total: window + passage_wait, throttled: passage_wait },
        );
        let model = config.model_id();
        Ok(Self {
            config,
            transport,
            gate,
            counts: Counts::default(),
            remainders: Remainders::default(),
            model,
            estimator: Mutex::default(),
            kept: Mutex::default(),
            is_held: Mutex::default(),
        })
    }

    /// Records that this process has become the owner of the key; another process may have used the key until
    /// now. From now on, no call is made while `is_held` returns false. This also protects a process that was
    /// suspended and has not noticed the loss of the key yet.
    pub fn take_over(&self, is_held: impl Fn() -> bool + Send + Sync + 'static) {
        *self.is_held.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(is_held));
        let now = self.gate.now();
        self.gate.control().take_over(now, self.config.takeover_wait());
    }

    /// Makes one small call that checks the address, the key, the model and the dimensions. Services call
    /// this function when they start.
    pub async fn check(&self) -> Result<(), EmbedderError> {
        self.embed(InputType::Query, &["check"]).await.map(drop)
    }

    pub fn counters(&self) -> EmbedderCounters {
        let now = self.gate.now();
        let control = self.gate.control();
        EmbedderCounters {
            num_breaker_opened: control.num_breaker_opened(),
            num_in_progress: control.num_in_progress() as u64,
            concurrency_limit: control.concurrency_limit() as u64,
            is_broken: control.is_broken(),
            throttled_for: control.throttled_until().saturating_sub(now),
            ..self.counts.snapshot()
        }
    }

    pub(super) fn is_held(&self) -> bool {
        self.is_held.lock().unwrap_or_else(PoisonError::into_inner).as_ref().is_none_or(|is_held| is_held())
    }

    pub(super) fn estimator(&self) -> MutexGuard<'_, TokenEstimator> {
        self.estimator.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Estimates the tokens of texts. The estimate never exceeds the limit of one call. So a call with a
    /// single text is always within the limit.
    pub(super) fn estimated(&self, class: Class, texts: &[Cow<'_, str>]) -> u64 {
        let at_most = self.gate.control().at_most(class);
        let estimator = self.estimator();
        texts.iter().map(|text| estimator.estimate(text)).sum::<u64>().min(at_most)
    }

    pub(super) fn error(&self, kind: ErrorKind, num_texts: usize) -> EmbedderError {
        EmbedderError::new(kind, "embed", format!("{} ({num_texts} texts)", self.model.name))
    }

    /// Returns the text that is sent: with its prefix, never empty, and never too long.
    fn prepared<'a>(&self, input_type: InputType, text: &'a str) -> Cow<'a, str> {
        let prefix = self.config.prefix(input_type);
        let text = if text.trim().is_empty() { BLANK } else { text };
        let max_bytes = self.config.max_text_bytes().saturating_sub(prefix.len());
        let cut = shortened(text, max_bytes);
        if cut.len() < text.len() {
            self.counts.truncated.add(1);
            tracing::debug!(from = text.len(), to = cut.len(), "a text was cut: it is longer than the model accepts");
        }
        if prefix.is_empty() { Cow::Borrowed(cut) } else { Cow::Owned(format!("{prefix}{cut}")) }
    }

    pub(super) fn limits(&self, class: Class) -> BatchLimits {
        let limits = self.config.batch_limits();
        BatchLimits { tokens: limits.tokens.min(self.gate.control().at_most(class)), ..limits }
    }

    /// Maximum number of batches that may wait at the gate at the same time.
    fn num_at_once(&self) -> usize {
        let settings = self.config.control(Share::Whole);
        settings.concurrency.unwrap_or(settings.max_concurrency)
    }
}

#[async_trait]
impl Embedder for HttpEmbedder {
    fn model(&self) -> &ModelId {
        &self.model
    }

    async fn embed(&self, input_type: InputType, texts: &[&str]) -> Result<Vec<DenseVector>, EmbedderError> {
        let texts: Vec<Cow<'_, str>> = texts.iter().map(|text| self.prepared(input_type, text)).collect();
        if input_type == InputType::Query {
            return self.called(input_type, &texts).await;
        }
        let mut vectors: Vec<Option<DenseVector>> = texts.iter().map(|text| self.kept().find(text)).collect();
        let missing: Vec<Cow<'_, str>> =
            texts.iter().zip(&vectors).filter(|(_, kept)| kept.is_none()).map(|(text, _)| text.clone()).collect();
        let mut called = self.called(input_type, &missing).await?.into_iter();
        for vector in vectors.iter_mut().filter(|vector| vector.is_none()) {
            *vector = called.next();
        }
        let mut kept = self.kept();
        texts.iter().for_each(|text| kept.forget(text));
        Ok(vectors.into_iter().flatten().collect())
    }
}

impl HttpEmbedder {
    /// Requests the vectors of all these texts from the provider. If one batch fails, the whole request
    /// fails. So the vectors of passages are stored in `kept` as soon as they arrive.
    async fn called(&self, input_type: InputType, texts: &[Cow<'_, str>]) -> Result<Vec<DenseVector>, EmbedderError> {
        let class = class_of(input_type);
        let tokens: Vec<u64> = texts.iter().map(|text| self.estimated(class, std::slice::from_ref(text))).collect();
        let calls = batches(&tokens, self.limits(class)).into_iter().map(|batch| async {
            let is_remainder = class == Class::Passages && batch.end == texts.len();
            let found = self.batch(input_type, texts, batch, is_remainder).await?;
            if class == Class::Passages {
                self.keep_vectors(found.iter().map(|(index, vector)| (texts[*index].as_ref(), vector.clone())));
            }
            Ok(found)
        });
        let found: Vec<Vec<(usize, DenseVector)>> =
            futures::stream::iter(calls).buffer_unordered(self.num_at_once()).try_collect().await?;
        let mut found: Vec<(usize, DenseVector)> = found.into_iter().flatten().collect();
        found.sort_by_key(|(index, _)| *index);
        Ok(found.into_iter().map(|(_, vector)| vector).collect())
    }

    pub(super) fn keep_vectors<'a>(&self, vectors: impl Iterator<Item = (&'a str, DenseVector)>) {
        let mut kept = self.kept();
        vectors.for_each(|(text, vector)| kept.keep(text, vector));
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) fn class_of(input_type: InputType) -> Class {
    match input_type {
        InputType::Query => Class::Questions,
        InputType::Passage => Class::Passages,
    }
}
