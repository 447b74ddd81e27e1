//! Builds the bodies of requests.

use std::borrow::Cow;

use cairn_domain::InputType;
use serde::Serialize;

use crate::config::{EmbeddingHttpConfig, Encoding, ProviderKind};

#[derive(Serialize)]
struct VoyageBody<'a> {
    input: &'a [Cow<'a, str>],
    model: &'a str,
    input_type: &'static str,
    truncation: bool,
    output_dimension: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding_format: Option<&'static str>,
}

#[derive(Serialize)]
struct OpenAiBody<'a> {
    input: &'a [Cow<'a, str>],
    model: &'a str,
    encoding_format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<u16>,
}

#[derive(Serialize)]
struct TeiBody<'a> {
    inputs: &'a [Cow<'a, str>],
    truncate: bool,
    normalize: bool,
}

pub(crate) fn request_body(config: &EmbeddingHttpConfig, input_type: InputType, texts: &[Cow<'_, str>]) -> Vec<u8> {
    let model = config.model.as_str();
    let is_base64 = config.encoding() == Encoding::Base64;
    let body = match config.provider {
        ProviderKind::Voyage => serde_json::to_vec(&VoyageBody {
            input: texts,
            model,
            input_type: match input_type {
                InputType::Query => "query",
                InputType::Passage => "document",
            },
            // With this setting the provider refuses a text that is too long. The client then cuts the text
            // and counts the cut.
            truncation: false,
            output_dimension: config.dimensions,
            encoding_format: is_base64.then_some("base64"),
        }),
        ProviderKind::Openai => serde_json::to_vec(&OpenAiBody {
            input: texts,
            model,
            encoding_format: if is_base64 { "base64" } else { "float" },
            dimensions: config.send_dimensions.then_some(config.dimensions),
        }),
        // Models of TEI often accept only 512 tokens. Refusals would cost many calls, so TEI cuts the texts.
        // The client does not count these cuts.
        ProviderKind::Tei => serde_json::to_vec(&TeiBody { inputs: texts, truncate: true, normalize: true }),
    };
    // The default is never used, because serialising strings and numbers cannot fail.
    body.unwrap_or_default()
}

/// Returns an upper bound on the number of bytes in a valid reply. A decimal number has at most `PER_NUMBER`
/// bytes.
pub(crate) fn max_reply_bytes(config: &EmbeddingHttpConfig, num_texts: usize) -> usize {
    const PER_NUMBER: usize = 32;
    const AROUND: usize = 64 * 1024;
    num_texts * (usize::from(config.dimensions) * PER_NUMBER + 256) + AROUND
}
