//! The messages between a child process and its parent. Each message is one line of JSON.

use std::error::Error;
use std::time::Duration;

use cairn_domain::{DenseVector, ModelId};
use cairn_pipeline::StageError;
use cairn_ports::{EmbedderError, ErrorClass, ErrorKind, FailureCode, plain};
use cairn_wire::FailureName;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ToChild {
    /// A job to run. The child runs one job at a time.
    Job { lane: String, job: String },
    /// The reply to the request with this number.
    Embedded { request: u64, result: Result<Vec<Vec<i8>>, EmbedFailure> },
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ToParent {
    /// The child has connected to the stores. `model` is the model of the vectors that the child expects from
    /// its parent. `None` if the child computes its vectors itself.
    Ready { model: Option<Model> },
    /// A request to embed these passages.
    Embed { request: u64, texts: Vec<String> },
    /// The job has ended.
    Ended { failure: Option<Failure> },
}

/// The identity of an embedding model.
#[derive(PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Model {
    name: String,
    dimensions: u16,
}

impl From<&ModelId> for Model {
    fn from(id: &ModelId) -> Self {
        Self { name: id.name.clone(), dimensions: id.dimensions }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct Failure {
    code: FailureName,
    class: Class,
    message: String,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Class {
    Transient,
    Pause { retry_after_ms: Option<u64> },
    Busy,
    Permanent,
    Decide,
    Cancelled,
}

#[derive(Serialize, Deserialize)]
pub(super) struct EmbedFailure {
    code: FailureName,
    retry_after_ms: Option<u64>,
    cause: Option<String>,
}

impl From<ErrorClass> for Class {
    fn from(class: ErrorClass) -> Self {
        match class {
            ErrorClass::Transient => Self::Transient,
            ErrorClass::Pause { retry_after } => Self::Pause { retry_after_ms: retry_after.map(milliseconds) },
            ErrorClass::Busy => Self::Busy,
            ErrorClass::Permanent => Self::Permanent,
            ErrorClass::Decide => Self::Decide,
            ErrorClass::Cancelled => Self::Cancelled,
        }
    }
}

impl From<Class> for ErrorClass {
    fn from(class: Class) -> Self {
        match class {
            Class::Transient => Self::Transient,
            Class::Pause { retry_after_ms } => Self::Pause { retry_after: retry_after_ms.map(Duration::from_millis) },
            Class::Busy => Self::Busy,
            Class::Permanent => Self::Permanent,
            Class::Decide => Self::Decide,
            Class::Cancelled => Self::Cancelled,
        }
    }
}

impl From<StageError> for Failure {
    fn from(error: StageError) -> Self {
        Self { code: error.code.into(), class: error.class.into(), message: error.chain() }
    }
}

impl From<Failure> for StageError {
    fn from(failure: Failure) -> Self {
        StageError::new(failure.code.into(), failure.class.into(), failure.message)
    }
}

impl ToChild {
    /// The reply to a request of the child.
    pub(super) fn embedded(request: u64, result: Result<Vec<DenseVector>, EmbedderError>) -> Self {
        let vectors = |vectors: Vec<DenseVector>| vectors.into_iter().map(|vector| vector.0).collect();
        Self::Embedded { request, result: result.map(vectors).map_err(EmbedFailure::from) }
    }
}

impl From<EmbedderError> for EmbedFailure {
    fn from(error: EmbedderError) -> Self {
        let retry_after = if let ErrorKind::Throttled { retry_after } = error.kind { retry_after } else { None };
        Self {
            code: error.kind.code().into(),
            retry_after_ms: retry_after.map(milliseconds),
            cause: error.source().map(plain),
        }
    }
}

impl EmbedFailure {
    fn kind(&self) -> ErrorKind {
        let retry_after = self.retry_after_ms.map(Duration::from_millis);
        match FailureCode::from(self.code) {
            FailureCode::Throttled => ErrorKind::Throttled { retry_after },
            code => KINDS.into_iter().find(|kind| kind.code() == code).unwrap_or(ErrorKind::Unavailable),
        }
    }

    /// The error with this failure's kind and cause.
    pub(super) fn error(self, operation: &'static str, key: String) -> EmbedderError {
        let error = EmbedderError::new(self.kind(), operation, key);
        match self.cause {
            Some(cause) => error.because(cause),
            None => error,
        }
    }
}

/// All kinds of errors that contain no further data.
const KINDS: [ErrorKind; 13] = [
    ErrorKind::Timeout,
    ErrorKind::ConnectionLost,
    ErrorKind::TransactionConflict,
    ErrorKind::Unavailable,
    ErrorKind::NotFound,
    ErrorKind::Forbidden,
    ErrorKind::Invalid,
    ErrorKind::Corrupt,
    ErrorKind::TooLarge,
    ErrorKind::Conflict,
    ErrorKind::AlreadyExists,
    ErrorKind::Cancelled,
    ErrorKind::Io,
];

fn milliseconds(duration: Duration) -> u64 {
    duration.as_millis() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATER: Option<Duration> = Some(Duration::from_millis(5));

    #[test]
    fn failed_jobs_reach_the_parent_unchanged() {
        let classes = [
            ErrorClass::Transient,
            ErrorClass::Pause { retry_after: LATER },
            ErrorClass::Pause { retry_after: None },
            ErrorClass::Busy,
            ErrorClass::Permanent,
            ErrorClass::Decide,
            ErrorClass::Cancelled,
        ];
        for class in classes {
            let failure = Failure::from(StageError::new(FailureCode::Corrupt, class, "m"));
            let text = serde_json::to_string(&failure).expect("JSON");
            let error = StageError::from(serde_json::from_str::<Failure>(&text).expect("a failure"));
            assert_eq!((error.code, error.class), (FailureCode::Corrupt, class));
        }
    }

    #[test]
    fn failed_embeddings_reach_the_child_unchanged() {
        let throttled = [LATER, None].map(|retry_after| ErrorKind::Throttled { retry_after });
        for kind in KINDS.into_iter().chain(throttled) {
            let new = || EmbedderError::new(kind, "embed", "model (2 texts)");
            for error in [new(), new().because("the cause")] {
                let expect = plain(&error);
                let text = serde_json::to_string(&EmbedFailure::from(error)).expect("JSON");
                let failure: EmbedFailure = serde_json::from_str(&text).expect("a failure");
                let error = failure.error("embed", "model (2 texts)".to_owned());
                assert_eq!((error.kind, plain(&error)), (kind, expect));
            }
        }
    }
}
