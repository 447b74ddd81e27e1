//! The result of a call, and how each result affects the callers that wait.

use std::time::{Duration, SystemTime};

use cairn_domain::DenseVector;
use cairn_ports::ErrorKind;

use super::reply::{Expected, InvalidReply, read_reply};
use super::wait::wait_of;
use crate::config::EmbeddingHttpConfig;
use crate::control::End;
use crate::transport::{HttpReply, TransportError};

#[derive(Debug)]
pub(crate) enum CallResult {
    Answered {
        vectors: Vec<DenseVector>,
        tokens: Option<u64>,
    },
    /// The call has too many texts or tokens. Smaller batches may succeed.
    TooLarge,
    Throttled {
        retry_after: Option<Duration>,
    },
    /// The call failed, and a retry may succeed.
    Failed {
        error: CallError,
        retry_after: Option<Duration>,
    },
    /// The provider does not accept these texts.
    Rejected {
        error: CallError,
    },
    /// The provider refuses the key, the model or the address. No call can succeed until the operator changes
    /// the configuration.
    Refused {
        error: CallError,
    },
}

/// The reason why a call returned no vectors. The error contains no text, no key, and no message of the
/// provider that may quote a text or a key.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    #[error("the provider returned status {0}")]
    Status(u16),
    #[error("the provider refuses the key, the model or the address (status {0}): check `api_key`, `model` and `url`")]
    Refused(u16),
    #[error("the reply of the provider is invalid")]
    Invalid(#[from] InvalidReply),
    #[error("the provider sent no reply")]
    NoReply(#[from] TransportError),
    #[error("the provider did not reply within {} s", .0.as_secs_f64())]
    Deadline(Duration),
}

impl CallError {
    pub(crate) fn kind(&self) -> ErrorKind {
        match self {
            CallError::Deadline(_) | CallError::NoReply(TransportError::Timeout) => ErrorKind::Timeout,
            CallError::Status(408 | 504) => ErrorKind::Timeout,
            CallError::Status(502 | 503) | CallError::Refused(_) => ErrorKind::Unavailable,
            CallError::NoReply(TransportError::NoConnection(_)) => ErrorKind::Unavailable,
            CallError::Status(status) if is_retried(*status) => ErrorKind::ConnectionLost,
            CallError::NoReply(TransportError::Lost(_)) => ErrorKind::ConnectionLost,
            CallError::Status(_) | CallError::Invalid(_) => ErrorKind::Invalid,
            CallError::NoReply(TransportError::TooLong { .. }) => ErrorKind::Invalid,
        }
    }
}

impl CallResult {
    pub(crate) fn end(&self) -> End {
        match self {
            CallResult::Answered { tokens, .. } => End::Answered { tokens: *tokens },
            CallResult::TooLarge | CallResult::Rejected { .. } => End::Rejected,
            CallResult::Throttled { retry_after } => End::Throttled { retry_after: *retry_after },
            CallResult::Failed { retry_after, .. } => End::Failed { retry_after: *retry_after },
            CallResult::Refused { .. } => End::Refused,
        }
    }
}

/// Returns whether a retry may succeed. TEI returns 424 if the model failed.
fn is_retried(status: u16) -> bool {
    matches!(status, 408 | 409 | 424 | 425 | 500..=599)
}

pub(crate) fn call_result(
    config: &EmbeddingHttpConfig,
    num_texts: usize,
    reply: Result<HttpReply, CallError>,
) -> CallResult {
    let reply = match reply {
        Ok(reply) => reply,
        Err(error) => return CallResult::Failed { error, retry_after: None },
    };
    let retry_after = || wait_of(&reply, SystemTime::now());
    let status = reply.status;
    match status {
        200 => read(config, num_texts, &reply),
        429 => CallResult::Throttled { retry_after: retry_after() },
        413 => CallResult::TooLarge,
        400 | 422 if mentions_size(&reply.body) => CallResult::TooLarge,
        300..=399 | 401..=404 | 407 => CallResult::Refused { error: CallError::Refused(status) },
        _ if is_retried(status) => CallResult::Failed { error: CallError::Status(status), retry_after: retry_after() },
        _ => CallResult::Rejected { error: CallError::Status(status) },
    }
}

fn read(config: &EmbeddingHttpConfig, num_texts: usize, reply: &HttpReply) -> CallResult {
    let is_json = reply.header("content-type").is_some_and(|value| value.to_ascii_lowercase().contains("json"));
    let dimensions = usize::from(config.dimensions);
    let expected = Expected { num_texts, dimensions, scale: config.scale() };
    let read =
        if is_json { read_reply(config.provider, &reply.body, expected) } else { Err(InvalidReply::ContentType) };
    match read {
        Ok(read) => {
            let counted = reply.header("x-compute-tokens").and_then(|value| value.parse().ok());
            CallResult::Answered { vectors: read.vectors, tokens: read.tokens.or(counted) }
        }
        Err(error) => CallResult::Failed { error: error.into(), retry_after: None },
    }
}

/// Returns whether the error message says that a batch or a text is too large. Providers have no error code
/// for texts that are too large, so only the message shows the cause.
fn mentions_size(body: &[u8]) -> bool {
    const WORDS: [&str; 9] = [
        "too many tokens",
        "tokens per request",
        "too large",
        "too long",
        "maximum context length",
        "maximum allowed",
        "max allowed tokens",
        "batch size",
        "maximum length",
    ];
    let text = String::from_utf8_lossy(&body[..body.len().min(4096)]).to_lowercase();
    WORDS.iter().any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> EmbeddingHttpConfig {
        toml::from_str("provider = 'openai'\nmodel = 'm'\ndimensions = 2\n").expect("settings")
    }

    fn result(status: u16, content_type: &str, body: &str) -> CallResult {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        call_result(&config(), 1, Ok(HttpReply { status, headers, body: body.as_bytes().to_vec() }))
    }

    #[test]
    fn every_status_has_its_class() {
        let check = |status: u16, body: &str, expect: &str| {
            let found = result(status, "application/json", body);
            let class = match &found {
                CallResult::Failed { error, .. } => format!("failed {}", error.kind()),
                CallResult::Rejected { error } => format!("rejected {}", error.kind()),
                CallResult::Refused { error } => format!("refused {}", error.kind()),
                CallResult::Answered { .. } => "answered".to_owned(),
                CallResult::TooLarge => "too large".to_owned(),
                CallResult::Throttled { .. } => "throttled".to_owned(),
            };
            assert_eq!(class, expect, "{status} {body}");
        };
        check(200, "{\"data\":[{\"embedding\":[1,0],\"index\":0}]}", "answered");
        check(200, "{\"data\":[]}", "failed invalid");
        check(200, "{\"data\"", "failed invalid");
        check(204, "", "rejected invalid");
        check(301, "", "refused unavailable");
        check(400, "", "rejected invalid");
        check(400, "{\"error\":{\"message\":\"This model's maximum context length is 8192 tokens\"}}", "too large");
        check(400, "Requested 300001 tokens, max 300000 tokens per request", "too large");
        check(400, "{\"detail\":\"The batch size limit is 128. Your batch size is 129.\"}", "too large");
        check(422, "Invalid 'input': array too long. Expected an array with maximum length 2048", "too large");
        check(401, "too large", "refused unavailable");
        check(403, "", "refused unavailable");
        check(404, "", "refused unavailable");
        check(408, "", "failed timeout");
        check(409, "", "failed connection_lost");
        check(413, "", "too large");
        check(422, "", "rejected invalid");
        check(424, "", "failed connection_lost");
        check(425, "", "failed connection_lost");
        check(429, "", "throttled");
        check(500, "", "failed connection_lost");
        check(503, "", "failed unavailable");
        check(504, "", "failed timeout");
    }

    #[test]
    fn replies_without_json_are_invalid() {
        let found = result(200, "text/html", "{\"data\":[{\"embedding\":[1,0],\"index\":0}]}");
        assert!(matches!(
            found,
            CallResult::Failed { error: CallError::Invalid(InvalidReply::ContentType), retry_after: None }
        ));
    }
}
