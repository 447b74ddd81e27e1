//! What became of a call, and what that means for those who wait for it.

use std::time::{Duration, SystemTime};

use cairn_domain::DenseVector;
use cairn_ports::ErrorKind;

use super::answer::{Expected, InvalidAnswer, read_answer};
use super::wait::wait_of;
use crate::config::EmbeddingHttpConfig;
use crate::control::End;
use crate::transport::{HttpAnswer, TransportError};

#[derive(Debug)]
pub(crate) enum Outcome {
    Answered {
        vectors: Vec<DenseVector>,
        tokens: Option<u64>,
    },
    /// Too many texts or tokens: smaller parts may pass.
    TooLarge,
    Throttled {
        retry_after: Option<Duration>,
    },
    /// May pass when tried again.
    Failed {
        error: CallError,
        retry_after: Option<Duration>,
    },
    /// The provider does not accept these texts.
    Rejected {
        error: CallError,
    },
    /// The provider does not accept us: nothing will pass until somebody changes something.
    Refused {
        error: CallError,
    },
}

/// Why a call gave nothing. Holds neither texts nor keys, nor what the provider wrote about them.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    #[error("the provider answered with status {0}")]
    Status(u16),
    #[error("the provider refuses the key, the model or the address (status {0}): check `api_key`, `model` and `url`")]
    Refused(u16),
    #[error("the provider's answer cannot be right")]
    Invalid(#[from] InvalidAnswer),
    #[error("the provider gave no answer")]
    NoAnswer(#[from] TransportError),
    #[error("the provider did not answer within {} s", .0.as_secs_f64())]
    Deadline(Duration),
}

impl CallError {
    pub(crate) fn kind(&self) -> ErrorKind {
        match self {
            CallError::Deadline(_) | CallError::NoAnswer(TransportError::Timeout) => ErrorKind::Timeout,
            CallError::Status(408 | 504) => ErrorKind::Timeout,
            CallError::Status(502 | 503) | CallError::Refused(_) => ErrorKind::Unavailable,
            CallError::NoAnswer(TransportError::NoConnection(_)) => ErrorKind::Unavailable,
            CallError::Status(status) if is_retried(*status) => ErrorKind::ConnectionLost,
            CallError::NoAnswer(TransportError::Lost(_)) => ErrorKind::ConnectionLost,
            CallError::Status(_) | CallError::Invalid(_) => ErrorKind::Invalid,
            CallError::NoAnswer(TransportError::TooLong { .. }) => ErrorKind::Invalid,
        }
    }
}

impl Outcome {
    pub(crate) fn end(&self) -> End {
        match self {
            Outcome::Answered { tokens, .. } => End::Answered { tokens: *tokens },
            Outcome::TooLarge | Outcome::Rejected { .. } => End::Rejected,
            Outcome::Throttled { retry_after } => End::Throttled { retry_after: *retry_after },
            Outcome::Failed { retry_after, .. } => End::Failed { retry_after: *retry_after },
            Outcome::Refused { .. } => End::Refused,
        }
    }
}

/// 424 is TEI's word for a model that failed.
fn is_retried(status: u16) -> bool {
    matches!(status, 408 | 409 | 424 | 425 | 500..=599)
}

pub(crate) fn outcome_of(
    config: &EmbeddingHttpConfig,
    num_texts: usize,
    answer: Result<HttpAnswer, CallError>,
) -> Outcome {
    let answer = match answer {
        Ok(answer) => answer,
        Err(error) => return Outcome::Failed { error, retry_after: None },
    };
    let retry_after = || wait_of(&answer, SystemTime::now());
    let status = answer.status;
    match status {
        200 => read(config, num_texts, &answer),
        429 => Outcome::Throttled { retry_after: retry_after() },
        413 => Outcome::TooLarge,
        400 | 422 if speaks_of_size(&answer.body) => Outcome::TooLarge,
        300..=399 | 401..=404 | 407 => Outcome::Refused { error: CallError::Refused(status) },
        _ if is_retried(status) => Outcome::Failed { error: CallError::Status(status), retry_after: retry_after() },
        _ => Outcome::Rejected { error: CallError::Status(status) },
    }
}

fn read(config: &EmbeddingHttpConfig, num_texts: usize, answer: &HttpAnswer) -> Outcome {
    let is_json = answer.header("content-type").is_some_and(|value| value.to_ascii_lowercase().contains("json"));
    let dimensions = usize::from(config.dimensions);
    let expected = Expected { num_texts, dimensions, scale: config.scale() };
    let read =
        if is_json { read_answer(config.provider, &answer.body, expected) } else { Err(InvalidAnswer::ContentType) };
    match read {
        Ok(read) => {
            let counted = answer.header("x-compute-tokens").and_then(|value| value.parse().ok());
            Outcome::Answered { vectors: read.vectors, tokens: read.tokens.or(counted) }
        }
        Err(error) => Outcome::Failed { error: error.into(), retry_after: None },
    }
}

/// Providers have no code of their own for batches and texts that are too large, only words.
fn speaks_of_size(body: &[u8]) -> bool {
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

    fn outcome(status: u16, content_type: &str, body: &str) -> Outcome {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        outcome_of(&config(), 1, Ok(HttpAnswer { status, headers, body: body.as_bytes().to_vec() }))
    }

    #[test]
    fn every_status_has_its_class() {
        let check = |status: u16, body: &str, expect: &str| {
            let found = outcome(status, "application/json", body);
            let class = match &found {
                Outcome::Failed { error, .. } => format!("failed {}", error.kind()),
                Outcome::Rejected { error } => format!("rejected {}", error.kind()),
                Outcome::Refused { error } => format!("refused {}", error.kind()),
                Outcome::Answered { .. } => "answered".to_owned(),
                Outcome::TooLarge => "too large".to_owned(),
                Outcome::Throttled { .. } => "throttled".to_owned(),
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
    fn pages_that_are_no_json_are_refused_whatever_they_say() {
        let found = outcome(200, "text/html", "{\"data\":[{\"embedding\":[1,0],\"index\":0}]}");
        assert!(matches!(
            found,
            Outcome::Failed { error: CallError::Invalid(InvalidAnswer::ContentType), retry_after: None }
        ));
    }
}
