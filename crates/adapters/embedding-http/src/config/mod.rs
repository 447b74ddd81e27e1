//! Settings of a provider.

mod checks;
mod quota;

use cairn_config::SecretReference;
use cairn_domain::ModelId;
use serde::Deserialize;
use url::Url;

use crate::batches::BatchLimits;

pub use checks::InvalidConfig;
pub use quota::{QuotaConfig, Share};

/// The API of the provider.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProviderKind {
    Voyage,
    Openai,
    Tei,
}

/// The requested format of vectors. Replies in both formats are accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Encoding {
    Float,
    Base64,
}

/// Settings for one model of one provider, with one key.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmbeddingHttpConfig {
    pub provider: ProviderKind,
    /// The full address for requests. Voyage and OpenAI have a default.
    pub url: Option<String>,
    pub model: String,
    pub dimensions: u16,
    /// A part of the model's id. Change it, for example, when new weights are published under the same name.
    #[serde(default)]
    pub revision: String,
    pub api_key: Option<SecretReference>,
    /// Allows sending texts and the key over a connection without TLS.
    #[serde(default)]
    pub allow_http: bool,
    /// A vector of length 1 is multiplied by this number before rounding. Default: 25 times the square root
    /// of the dimensions.
    pub scale: Option<u32>,
    /// Prefixes for texts, for models that were trained with prefixes. Voyage receives the input type
    /// instead.
    #[serde(default)]
    pub passage_prefix: String,
    #[serde(default)]
    pub query_prefix: String,
    pub encoding: Option<Encoding>,
    /// Sends the dimensions to OpenAI-compatible providers; some models do not accept them. Voyage always
    /// receives the dimensions.
    #[serde(default)]
    pub send_dimensions: bool,
    /// Limits of one call. Default: the limits of the provider.
    pub max_texts: Option<usize>,
    pub max_tokens: Option<u64>,
    /// Limit of one text; longer texts are cut.
    pub max_text_tokens: Option<u64>,
    #[serde(default)]
    pub quota: QuotaConfig,
    /// Maximum number of concurrent calls. Default: adaptive for TEI, 8 for other providers.
    pub concurrency: Option<usize>,
    #[serde(default = "timeout::call")]
    pub call_timeout_ms: u64,
    #[serde(default = "timeout::connect")]
    pub connect_timeout_ms: u64,
    #[serde(default = "timeout::read")]
    pub read_timeout_ms: u64,
    /// When the provider requests a wait, the client sleeps at most this long. A longer wait is returned as
    /// `Throttled`.
    #[serde(default = "timeout::wait")]
    pub max_wait_ms: u64,
    /// The limit on requested waits for questions. Questions have a separate limit, because callers wait for
    /// the result of a question.
    #[serde(default = "timeout::question_wait")]
    pub max_question_wait_ms: u64,
    /// A longer `Retry-After` of the provider is reduced to this time.
    #[serde(default = "timeout::retry_after")]
    pub max_retry_after_ms: u64,
}

mod timeout {
    pub(super) fn call() -> u64 {
        60_000
    }

    pub(super) fn connect() -> u64 {
        5_000
    }

    pub(super) fn read() -> u64 {
        30_000
    }

    pub(super) fn wait() -> u64 {
        5_000
    }

    pub(super) fn question_wait() -> u64 {
        2_000
    }

    pub(super) fn retry_after() -> u64 {
        600_000
    }
}

/// A text is cut to this many bytes per allowed token. If a text has fewer bytes per token, the provider may
/// still refuse it.
const BYTES_PER_TOKEN: u64 = 3;

impl EmbeddingHttpConfig {
    /// Returns an id that depends on the model and on all settings that change its vectors.
    pub fn model_id(&self) -> ModelId {
        let keep = |character: char| {
            if character.is_ascii_alphanumeric() || "._-".contains(character) { character } else { '-' }
        };
        let model: String = self.model.chars().map(keep).collect();
        let mut digest = blake3::Hasher::new();
        let max_bytes = self.max_text_bytes().to_string();
        for part in [&self.model, &self.revision, &self.passage_prefix, &self.query_prefix, &max_bytes] {
            digest.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
        }
        let digest = &digest.finalize().to_hex()[..8];
        ModelId { name: format!("{model}-s{}-{digest}", self.scale()), dimensions: self.dimensions }
    }

    pub(crate) fn url(&self) -> Option<Url> {
        Url::parse(self.url_text()?).ok()
    }

    fn url_text(&self) -> Option<&str> {
        let usual = match self.provider {
            ProviderKind::Voyage => Some("https://api.voyageai.com/v1/embeddings"),
            ProviderKind::Openai => Some("https://api.openai.com/v1/embeddings"),
            ProviderKind::Tei => None,
        };
        self.url.as_deref().or(usual)
    }

    pub(crate) fn scale(&self) -> u32 {
        self.scale.unwrap_or((25.0 * f64::from(self.dimensions).sqrt()).round() as u32)
    }

    pub(crate) fn encoding(&self) -> Encoding {
        self.encoding.unwrap_or(Encoding::Base64)
    }

    fn max_texts(&self) -> usize {
        let usual = match self.provider {
            ProviderKind::Voyage => 128,
            ProviderKind::Openai => 2_048,
            ProviderKind::Tei => 32,
        };
        self.max_texts.unwrap_or(usual)
    }

    fn max_tokens(&self) -> u64 {
        let usual = match self.provider {
            ProviderKind::Voyage => 100_000,
            ProviderKind::Openai => 250_000,
            ProviderKind::Tei => 16_384,
        };
        self.max_tokens.unwrap_or(usual)
    }

    pub(crate) fn max_text_tokens(&self) -> u64 {
        let usual = match self.provider {
            ProviderKind::Voyage => 16_000,
            ProviderKind::Openai | ProviderKind::Tei => 8_000,
        };
        self.max_text_tokens.unwrap_or(usual)
    }

    /// Longer texts are cut to this length before they are sent, so that a text is always cut at the same
    /// position.
    pub(crate) fn max_text_bytes(&self) -> usize {
        usize::try_from(self.max_text_tokens() * BYTES_PER_TOKEN).unwrap_or(usize::MAX)
    }

    pub(crate) fn batch_limits(&self) -> BatchLimits {
        BatchLimits { texts: self.max_texts(), tokens: self.max_tokens() }
    }

    pub(crate) fn prefix(&self, input_type: cairn_domain::InputType) -> &str {
        match input_type {
            cairn_domain::InputType::Query => &self.query_prefix,
            cairn_domain::InputType::Passage => &self.passage_prefix,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<EmbeddingHttpConfig, toml::de::Error> {
        toml::from_str(text)
    }

    const VOYAGE: &str = "provider = 'voyage'\nmodel = 'voyage-code-3'\ndimensions = 1024\n\
        api_key = { env = 'VOYAGE_API_KEY' }\n[quota]\nrequests_per_minute = 2000\ntokens_per_minute = 3000000\n";

    #[test]
    fn few_settings_are_required() {
        let config = parse(VOYAGE).expect("settings");
        config.validate(Share::Whole).expect("valid");
        assert_eq!((config.scale(), config.batch_limits().texts), (800, 128));
        assert_eq!(config.model_id().name.split_at(19).0, "voyage-code-3-s800-");
        assert_eq!(config.model_id().dimensions, 1024);
        let tei = "provider = 'tei'\nmodel = 'BAAI/bge-m3'\ndimensions = 1024\nurl = 'http://tei:80/embed'\nallow_http = true";
        let other_route = parse(&tei.replace("/embed", "/v1/embeddings/")).expect("settings");
        let faults = other_route.validate(Share::Whole).expect_err("the route of another API").faults;
        assert!(faults.len() == 1 && faults[0].contains("/embed"), "{faults:?}");
        let tei = parse(tei).expect("settings");
        tei.validate(Share::Whole).expect("valid");
        assert_eq!(tei.control(Share::Whole).concurrency, None);
        assert!(tei.model_id().name.starts_with("BAAI-bge-m3-s800-"), "{:?}", tei.model_id());
    }

    #[test]
    fn every_fault_is_reported_at_once() {
        let text = "provider = 'tei'\nmodel = ' '\ndimensions = 0\nscale = 0\nmax_texts = 0\nmax_text_tokens = 20000\nconcurrency = 0\n\
            read_timeout_ms = 0\nurl = 'http://user:pass@tei/embed?key=1'\n[quota]\nwindow_ms = 1\nheadroom_percent = 99\n\
            questions_percent = 99\nrequests_per_minute = 0\n";
        let faults = parse(text).expect("settings").validate(Share::Whole).expect_err("faults").faults;
        assert_eq!(faults.len(), 14, "{faults:#?}");
        assert!(!faults.join(" ").contains("pass"), "{faults:?}");
        for text in [VOYAGE.replace("tokens_per_minute = 3000000", ""), VOYAGE.replace("api_key", "#")] {
            assert!(parse(&text).expect("settings").validate(Share::Whole).is_err(), "{text}");
        }
        let tiny = parse(&VOYAGE.replace("2000", "10")).expect("settings");
        tiny.validate(Share::Passages).expect("nine requests a minute are enough");
        tiny.validate(Share::Questions { processes: 2 }).expect_err("half a request a minute is too little");
    }

    #[test]
    fn unknown_settings_and_inline_keys_are_refused() {
        for wrong in ["modle = 'x'\n", "api_key = 'sk-123'\n", "api_key = { value = 'sk-123' }\n"] {
            let text = format!("{wrong}{}", VOYAGE.replace("api_key", "#"));
            assert!(parse(&text).is_err(), "{text}");
        }
    }

    #[test]
    fn shares_of_a_key_add_up_to_its_quota() {
        let config = parse(VOYAGE).expect("settings");
        let limits = |share| (config.quota(share).requests, config.quota(share).tokens);
        assert_eq!(limits(Share::Whole), (Some(2000), Some(3_000_000)));
        assert_eq!(limits(Share::Passages), (Some(1800), Some(2_700_000)));
        assert_eq!(limits(Share::Questions { processes: 3 }), (Some(66), Some(100_000)));
    }

    #[test]
    fn settings_that_change_vectors_change_the_model_id() {
        let base = parse(VOYAGE).expect("settings");
        for other in ["revision = '2'", "query_prefix = 'q: '", "scale = 700", "max_text_tokens = 100"] {
            let other = parse(&format!("{other}\n{VOYAGE}")).expect("settings");
            assert_ne!(other.model_id(), base.model_id());
        }
        let same = parse(&format!("max_texts = 7\n{VOYAGE}")).expect("settings");
        assert_eq!(same.model_id(), base.model_id());
    }
}
