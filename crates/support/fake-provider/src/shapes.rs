//! The shapes of requests and replies. The provider checks requests as strictly as real providers do.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};

/// The API that the provider imitates.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum Shape {
    Voyage,
    Openai,
    Tei,
}

/// A parsed request.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Wanted {
    pub texts: Vec<String>,
    pub model: Option<String>,
    pub dimensions: Option<usize>,
    /// Whether texts that are too long are truncated.
    pub truncates: bool,
    pub is_question: bool,
    pub as_base64: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VoyageBody {
    input: Vec<String>,
    model: String,
    input_type: Option<String>,
    #[serde(default = "yes")]
    truncation: bool,
    output_dimension: Option<usize>,
    encoding_format: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OpenAiBody {
    input: Vec<String>,
    model: String,
    dimensions: Option<usize>,
    encoding_format: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TeiBody {
    inputs: Vec<String>,
    #[serde(default)]
    truncate: bool,
    #[serde(default = "yes")]
    #[expect(dead_code, reason = "accepted and ignored: vectors always have length 1")]
    normalize: bool,
}

fn yes() -> bool {
    true
}

impl Shape {
    pub(crate) fn path(self) -> &'static str {
        match self {
            Shape::Voyage | Shape::Openai => "/v1/embeddings",
            Shape::Tei => "/embed",
        }
    }

    pub(crate) fn parse(self, body: &[u8]) -> Result<Wanted, serde_json::Error> {
        let is_base64 = |format: Option<String>| format.as_deref() == Some("base64");
        Ok(match self {
            Shape::Voyage => {
                let body: VoyageBody = serde_json::from_slice(body)?;
                Wanted {
                    texts: body.input,
                    model: Some(body.model),
                    dimensions: body.output_dimension,
                    truncates: body.truncation,
                    is_question: body.input_type.as_deref() == Some("query"),
                    as_base64: is_base64(body.encoding_format),
                }
            }
            Shape::Openai => {
                let body: OpenAiBody = serde_json::from_slice(body)?;
                let is_question = body.input.iter().any(|text| text.starts_with("query: "));
                Wanted {
                    texts: body.input,
                    model: Some(body.model),
                    dimensions: body.dimensions,
                    truncates: false,
                    is_question,
                    as_base64: is_base64(body.encoding_format),
                }
            }
            Shape::Tei => {
                let body: TeiBody = serde_json::from_slice(body)?;
                let is_question = body.inputs.iter().any(|text| text.starts_with("query: "));
                Wanted {
                    texts: body.inputs,
                    model: None,
                    dimensions: None,
                    truncates: body.truncate,
                    is_question,
                    as_base64: false,
                }
            }
        })
    }

    pub(crate) fn too_large(self, message: &str) -> (u16, Value) {
        match self {
            Shape::Voyage | Shape::Openai => (400, self.error(message)),
            Shape::Tei => (413, json!({ "error": message, "error_type": "Validation" })),
        }
    }

    pub(crate) fn error(self, message: &str) -> Value {
        match self {
            Shape::Voyage => json!({ "detail": message }),
            Shape::Openai => {
                json!({ "error": { "message": message, "type": "invalid_request_error", "param": null, "code": null } })
            }
            Shape::Tei => json!({ "error": message, "error_type": "Backend" }),
        }
    }

    /// The body of the reply. Each element of `vectors` is a pair of index and vector.
    pub(crate) fn body(self, vectors: &[(usize, Vec<f32>)], wanted: &Wanted, tokens: u64) -> String {
        let elements = |vector: &[f32]| {
            let all: Vec<String> = vector.iter().map(|value| value.to_string()).collect();
            format!("[{}]", all.join(","))
        };
        if self == Shape::Tei {
            let all: Vec<String> = vectors.iter().map(|(_, vector)| elements(vector)).collect();
            return format!("[{}]", all.join(","));
        }
        let entry = |(index, vector): &(usize, Vec<f32>)| {
            let bytes: Vec<u8> = vector.iter().flat_map(|value| value.to_le_bytes()).collect();
            let embedding = if wanted.as_base64 { format!("\"{}\"", STANDARD.encode(bytes)) } else { elements(vector) };
            format!("{{\"object\":\"embedding\",\"embedding\":{embedding},\"index\":{index}}}")
        };
        let data: Vec<String> = vectors.iter().map(entry).collect();
        let usage = match self {
            Shape::Openai => json!({ "prompt_tokens": tokens, "total_tokens": tokens }),
            _ => json!({ "total_tokens": tokens }),
        };
        let model = json!(wanted.model);
        format!("{{\"object\":\"list\",\"data\":[{}],\"model\":{model},\"usage\":{usage}}}", data.join(","))
    }
}
