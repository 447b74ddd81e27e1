//! The port.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use cairn_domain::{DenseVector, InputType, ModelId};
use cairn_ports::{Embedder, EmbedderError, ErrorKind};
use futures::stream::{StreamExt, TryStreamExt};
use tokio::time::Instant;

use super::counters::{Counts, EmbedderCounters};
use super::gate::{Gate, Patience};
use super::kept::Kept;
use super::remainders::Remainders;
use crate::batches::{BatchLimits, TokenEstimator, batches, shortened};
use crate::config::{EmbeddingHttpConfig, InvalidConfig, Share};
use crate::control::{Class, Control};
use crate::transport::{ReqwestTransport, Timeouts, Transport};

/// Providers refuse texts without any sign; this stands for them.
const BLANK: &str = "(empty)";

type IsHeld = Box<dyn Fn() -> bool + Send + Sync>;

/// Embeds with a provider. Clones nothing: share it behind an `Arc`, so that all callers of a key obey one limiter.
pub struct HttpEmbedder {
    pub(super) config: EmbeddingHttpConfig,
    pub(super) transport: Arc<dyn Transport>,
    pub(super) gate: Gate,
    pub(super) counts: Counts,
    pub(super) remainders: Remainders,
    model: ModelId,
    estimator: Mutex<TokenEstimator>,
    kept: Mutex<Kept>,
    /// Whether the key may be used at this moment. None where nobody else has it.
    is_held: Mutex<Option<IsHeld>>,
}

impl HttpEmbedder {
    /// Reads the key and checks the settings; makes no connection.
    pub fn new(config: EmbeddingHttpConfig, share: Share) -> Result<Self, InvalidConfig> {
        config.validate(share)?;
        let fault = |fault: String| InvalidConfig { faults: vec![fault] };
        let key = config.api_key.as_ref().map(|reference| reference.read()).transpose();
        let key = key.map_err(|error| fault(error.to_string()))?;
        let url = config.url().ok_or_else(|| fault("`url` is no URL".to_owned()))?;
        let timeouts = Timeouts {
            connect: Duration::from_millis(config.connect_timeout_ms),
            read: Duration::from_millis(config.read_timeout_ms),
        };
        let transport = ReqwestTransport::new(url, key.as_ref(), timeouts);
        let transport =
            transport.map_err(|error| fault(format!("no HTTP client can be built: {}", error.without_url())))?;
        Self::over(config, share, Arc::new(transport))
    }

    /// Over another way to the provider.
    pub fn over(
        config: EmbeddingHttpConfig,
        share: Share,
        transport: Arc<dyn Transport>,
    ) -> Result<Self, InvalidConfig> {
        config.validate(share)?;
        let settings = config.control(share);
        let questions = Duration::from_millis(config.max_question_wait_ms);
        let passages = Duration::from_millis(config.max_wait_ms);
        // Its own pace never makes a batch wait longer than a window, whatever else waits.
        let window = settings.quota.window + settings.quota.guard;
        let gate = Gate::new(
            Control::new(&settings, Duration::ZERO),
            Instant::now(),
            Patience { in_all: questions, throttled: questions },
            Patience { in_all: window + passages, throttled: passages },
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

    /// This process has become the key's owner: another may have used it until now. From here on no call is made while
    /// `is_held` says no, not even by a process that stood still and does not know yet.
    pub fn take_over(&self, is_held: impl Fn() -> bool + Send + Sync + 'static) {
        *self.is_held.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(is_held));
        let now = self.gate.now();
        self.gate.control().take_over(now, self.config.takeover_wait());
    }

    /// One small call that shows whether address, key, model and dimensions fit together. For the start of a service.
    pub async fn check(&self) -> Result<(), EmbedderError> {
        self.embed(InputType::Query, &["check"]).await.map(drop)
    }

    pub fn counters(&self) -> EmbedderCounters {
        let now = self.gate.now();
        let control = self.gate.control();
        EmbedderCounters {
            num_breaker_opened: control.num_breaker_opened(),
            num_under_way: control.under_way() as u64,
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

    /// No text, and no batch of one text, is estimated at more than can ever go.
    pub(super) fn estimated(&self, class: Class, texts: &[Cow<'_, str>]) -> u64 {
        let at_most = self.gate.control().at_most(class);
        let estimator = self.estimator();
        texts.iter().map(|text| estimator.estimate(text)).sum::<u64>().min(at_most)
    }

    pub(super) fn error(&self, kind: ErrorKind, num_texts: usize) -> EmbedderError {
        EmbedderError::new(kind, "embed", format!("{} ({num_texts} texts)", self.model.name))
    }

    /// As the provider is to see it: with its prefix, never empty, never too long.
    fn prepared<'a>(&self, input_type: InputType, text: &'a str) -> Cow<'a, str> {
        let prefix = self.config.prefix(input_type);
        let text = if text.trim().is_empty() { BLANK } else { text };
        let room = self.config.max_text_bytes().saturating_sub(prefix.len());
        let cut = shortened(text, room);
        if cut.len() < text.len() {
            self.counts.truncated.add(1);
            tracing::debug!(from = text.len(), to = cut.len(), "a text was cut: it is longer than the model reads");
        }
        if prefix.is_empty() { Cow::Borrowed(cut) } else { Cow::Owned(format!("{prefix}{cut}")) }
    }

    pub(super) fn limits(&self, class: Class) -> BatchLimits {
        let limits = self.config.batch_limits();
        BatchLimits { tokens: limits.tokens.min(self.gate.control().at_most(class)), ..limits }
    }

    /// Batches that may wait at the gate at once.
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
    /// Vectors of the texts, all by the provider. Those of passages are kept as they come, for one batch that fails fails all.
    async fn called(&self, input_type: InputType, texts: &[Cow<'_, str>]) -> Result<Vec<DenseVector>, EmbedderError> {
        let class = class_of(input_type);
        let tokens: Vec<u64> = texts.iter().map(|text| self.estimated(class, std::slice::from_ref(text))).collect();
        let calls = batches(&tokens, self.limits(class)).into_iter().map(|batch| async {
            let is_remainder = class == Class::Passages && batch.end == texts.len();
            let found = self.batch(input_type, texts, batch, is_remainder).await?;
            if class == Class::Passages {
                self.keep_vectors(found.iter().map(|(place, vector)| (texts[*place].as_ref(), vector.clone())));
            }
            Ok(found)
        });
        let found: Vec<Vec<(usize, DenseVector)>> =
            futures::stream::iter(calls).buffer_unordered(self.num_at_once()).try_collect().await?;
        let mut found: Vec<(usize, DenseVector)> = found.into_iter().flatten().collect();
        found.sort_by_key(|(place, _)| *place);
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
