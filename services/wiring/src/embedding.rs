//! The embedding model of a cluster.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use cairn_domain::{DenseVector, InputType, ModelId};
use cairn_embedding_http::{EmbeddingHttpConfig, HttpEmbedder, ProviderKind, Share};
use cairn_local_embedding::{LocalEmbedder, WordTable};
use cairn_ports::{Embedder, EmbedderError, ErrorKind};
use cairn_telemetry::metrics::{Kind, Reading, export};
use serde::Deserialize;

/// The settings of the embedding model. All services of a cluster use the same model.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(try_from = "Written")]
pub enum EmbeddingConfig {
    /// The model that ships with Cairn. This model needs no key, has no quota, and works with any number of
    /// replicas.
    #[default]
    Local,
    /// A provider that is called over HTTP.
    Http {
        provider: Box<EmbeddingHttpConfig>,
        /// One of `rabbitmq.topology.owned_keys`. Only the embedder that owns the key calls the provider.
        /// Without this setting, all embedders call the provider. The setting may be omitted only for TEI,
        /// which has no quota.
        key_name: Option<String>,
    },
}

/// The section in the form of the settings file. With serde's tagged enums, errors would not name the place
/// of a fault.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    kind: EmbeddingKind,
    provider: Option<Box<EmbeddingHttpConfig>>,
    key_name: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum EmbeddingKind {
    Local,
    Http,
}

impl TryFrom<Written> for EmbeddingConfig {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Self, Self::Error> {
        match written {
            Written { kind: EmbeddingKind::Local, provider: None, key_name: None } => Ok(Self::Local),
            Written { kind: EmbeddingKind::Local, .. } => Err("`provider` and `key_name` need `kind = \"http\"`"),
            Written { kind: EmbeddingKind::Http, provider: Some(provider), key_name } => {
                Ok(Self::Http { provider, key_name })
            }
            Written { kind: EmbeddingKind::Http, provider: None, .. } => {
                Err("`kind = \"http\"` needs the section `provider`")
            }
        }
    }
}

impl EmbeddingConfig {
    pub fn model_id(&self) -> anyhow::Result<ModelId> {
        Ok(match self {
            EmbeddingConfig::Local => LocalEmbedder::shipped()?.model().clone(),
            EmbeddingConfig::Http { provider, .. } => provider.model_id(),
        })
    }

    /// The faults in these settings. `owned_keys` are the keys of the broker's topology, if the topology is
    /// configured.
    pub(crate) fn faults(&self, owned_keys: Option<&[String]>) -> Vec<String> {
        let EmbeddingConfig::Http { provider, key_name } = self else { return Vec::new() };
        let mut faults = provider.validate(Share::Passages).err().map_or_else(Vec::new, |invalid| invalid.faults);
        match (key_name, owned_keys) {
            (None, _) if provider.provider != ProviderKind::Tei => {
                faults.push("`key_name` is missing: the provider has a quota, so only the process that owns the key may use it. Set a name from `rabbitmq.topology.owned_keys`".to_owned());
            }
            (Some(name), Some(owned)) if !owned.contains(name) => {
                faults.push("`key_name` is not among `rabbitmq.topology.owned_keys`: add it there".to_owned());
            }
            _ => {}
        }
        faults
    }
}

impl EmbeddingConfig {
    /// The faults of these settings for local mode, in which one process uses the whole quota of a key.
    pub(crate) fn local_faults(&self) -> Vec<String> {
        let EmbeddingConfig::Http { provider, key_name } = self else { return Vec::new() };
        let mut faults = provider.validate(Share::Whole).err().map_or_else(Vec::new, |invalid| invalid.faults);
        if key_name.is_some() {
            faults.push("`key_name` is allowed only in clusters: in local mode, one process uses the whole quota, so remove the setting".to_owned());
        }
        faults
    }
}

/// Creates the embedder of local mode, which embeds passages and questions.
pub fn local_embedder(config: &EmbeddingConfig) -> anyhow::Result<Arc<LazyEmbedder>> {
    let embedder = OnceLock::new();
    let model = match config {
        // The model that ships with Cairn is loaded at once: it needs no key, and its name is stored only in
        // its file.
        EmbeddingConfig::Local => {
            let shipped: Arc<dyn Embedder> = Arc::new(LocalEmbedder::shipped()?);
            embedder.get_or_init(|| shipped).model().clone()
        }
        EmbeddingConfig::Http { provider, .. } => provider.model_id(),
    };
    Ok(Arc::new(LazyEmbedder { config: config.clone(), model, embedder }))
}

/// An embedder that is created when the first text is embedded. Therefore a command that embeds nothing works
/// without the key of the provider.
pub struct LazyEmbedder {
    config: EmbeddingConfig,
    model: ModelId,
    embedder: OnceLock<Arc<dyn Embedder>>,
}

impl LazyEmbedder {
    /// Creates the embedder. Fails if the key of the provider is missing.
    pub fn prepare(&self) -> anyhow::Result<&Arc<dyn Embedder>> {
        if let Some(embedder) = self.embedder.get() {
            return Ok(embedder);
        }
        let created = embedder(&self.config, Share::Whole)?;
        Ok(self.embedder.get_or_init(|| created))
    }
}

#[async_trait]
impl Embedder for LazyEmbedder {
    fn model(&self) -> &ModelId {
        &self.model
    }

    async fn embed(&self, input_type: InputType, texts: &[&str]) -> Result<Vec<DenseVector>, EmbedderError> {
        let unusable = |error: anyhow::Error| {
            EmbedderError::new(ErrorKind::Invalid, "embed", self.model.name.clone()).because(error)
        };
        self.prepare().map_err(unusable)?.embed(input_type, texts).await
    }
}

/// The similarity of words, from the table that is part of the program.
pub fn word_table() -> anyhow::Result<Arc<WordTable>> {
    Ok(Arc::new(WordTable::shipped()?))
}

/// Creates the embedder. `share` is the part of the provider's quota that this process may use.
pub fn embedder(config: &EmbeddingConfig, share: Share) -> anyhow::Result<Arc<dyn Embedder>> {
    Ok(match config {
        EmbeddingConfig::Local => Arc::new(LocalEmbedder::shipped()?),
        EmbeddingConfig::Http { provider, .. } => over_http(provider, share)?,
    })
}

pub(crate) fn over_http(provider: &EmbeddingHttpConfig, share: Share) -> anyhow::Result<Arc<HttpEmbedder>> {
    let embedder = Arc::new(HttpEmbedder::new(provider.clone(), share)?);
    export_counters(&embedder);
    Ok(embedder)
}

/// The metrics of the embedder, in the order of the values that `export_counters` reads.
const READINGS: [Reading; 16] = [
    ("cairn_provider_calls_total", "Calls to the provider of embeddings, including retries.", Kind::Counter),
    ("cairn_provider_texts_total", "Texts sent to the provider.", Kind::Counter),
    ("cairn_provider_tokens_total", "Tokens that the provider counted.", Kind::Counter),
    ("cairn_provider_throttled_total", "Answers with status 429.", Kind::Counter),
    ("cairn_provider_retries_total", "Calls that were retries.", Kind::Counter),
    ("cairn_provider_failed_total", "Calls that failed.", Kind::Counter),
    ("cairn_provider_invalid_total", "Answers with invalid content.", Kind::Counter),
    ("cairn_provider_refused_total", "Answers that refused the key, the model or the address.", Kind::Counter),
    ("cairn_provider_split_total", "Batches that the provider rejected as too large.", Kind::Counter),
    ("cairn_provider_truncated_total", "Texts truncated because they were too long.", Kind::Counter),
    ("cairn_provider_breaker_opened_total", "Times that the breaker opened.", Kind::Counter),
    ("cairn_provider_waited_milliseconds_total", "Total time that calls waited for the quota.", Kind::Counter),
    ("cairn_provider_calls_under_way", "Calls in progress.", Kind::Gauge),
    ("cairn_provider_concurrency_limit", "The maximum number of calls in progress.", Kind::Gauge),
    ("cairn_provider_is_broken", "1 while the breaker is open.", Kind::Gauge),
    ("cairn_provider_throttled_for_milliseconds", "Time until the provider accepts calls again.", Kind::Gauge),
];

/// Exports the counters of the embedder as metrics of this process.
fn export_counters(embedder: &Arc<HttpEmbedder>) {
    let milliseconds = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let embedder = Arc::clone(embedder);
    export(&READINGS, move || {
        let counters = embedder.counters();
        vec![
            counters.num_calls,
            counters.num_texts,
            counters.num_tokens,
            counters.num_throttled,
            counters.num_retries,
            counters.num_failed,
            counters.num_invalid,
            counters.num_refused,
            counters.num_split,
            counters.num_truncated,
            counters.num_breaker_opened,
            milliseconds(counters.waited),
            counters.num_in_progress,
            counters.concurrency_limit,
            counters.is_broken.into(),
            milliseconds(counters.throttled_for),
        ]
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(key: &str) -> EmbeddingConfig {
        let text = format!(
            "kind = 'http'\n[provider]\nprovider = 'openai'\nurl = 'https://embeddings.example.org/v1/embeddings'\n\
             model = 'm'\ndimensions = 8\napi_key = {{ env = '{key}' }}\n"
        );
        toml::from_str(&text).expect("settings")
    }

    #[tokio::test]
    async fn missing_key_is_an_error_only_when_a_text_is_embedded() {
        let config = config("CAIRN_TEST_VARIABLE_THAT_IS_NOT_SET");
        let embedder = local_embedder(&config).expect("no key is needed");
        assert_eq!(*embedder.model(), config.model_id().expect("a model"));
        let error = embedder.embed(InputType::Query, &["text"]).await.expect_err("the key is missing");
        let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        assert!(cause.contains("CAIRN_TEST_VARIABLE_THAT_IS_NOT_SET"), "{cause}");
        assert!(embedder.prepare().is_err());
    }

    #[tokio::test]
    async fn shipped_model_needs_no_preparation() {
        let embedder = local_embedder(&EmbeddingConfig::Local).expect("an embedder");
        let vectors = embedder.embed(InputType::Query, &["parse a date"]).await.expect("a vector");
        assert_eq!(vectors.len(), 1);
        assert_eq!(*embedder.model(), EmbeddingConfig::Local.model_id().expect("a model"));
    }
}
