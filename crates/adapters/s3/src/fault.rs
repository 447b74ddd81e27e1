//! Converts the errors of one request to the error kinds of the port.

use std::error::Error;
use std::time::Duration;

use aws_sdk_s3::config::http::HttpResponse;
use aws_sdk_s3::error::{DisplayErrorContext, ProvideErrorMetadata, SdkError};
use cairn_ports::{BlobStoreError, ErrorKind, plain_cause};

/// The error of one attempt.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub(crate) struct Fault {
    pub kind: ErrorKind,
    text: String,
}

impl Fault {
    pub fn new(kind: ErrorKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }

    /// The connection or the body was interrupted, or the server was not reached.
    pub fn of_transport(error: &(dyn Error + 'static)) -> Self {
        let context = DisplayErrorContext(error).to_string();
        Self { kind: kind_of_transport(&context), text: plain_cause(error) }
    }

    pub fn into_error(self, operation: &'static str, key: &str) -> BlobStoreError {
        BlobStoreError::new(self.kind, operation, key).because(self)
    }
}

impl<E> From<SdkError<E, HttpResponse>> for Fault
where
    E: ProvideErrorMetadata + Error + 'static,
{
    fn from(error: SdkError<E, HttpResponse>) -> Self {
        match &error {
            SdkError::ServiceError(response) => {
                let meta = response.err().meta();
                let (code, message) = (meta.code().unwrap_or_default(), meta.message().unwrap_or_default());
                let status = response.raw().status().as_u16();
                let retry_after = response.raw().headers().get("retry-after").and_then(seconds);
                Self::new(kind_of_response(status, code, retry_after), format!("{status} {code} {message}"))
            }
            SdkError::ConstructionFailure(_) => Self { kind: ErrorKind::Invalid, ..Self::of_transport(&error) },
            _ => Self::of_transport(&error),
        }
    }
}

/// Parses `Retry-After` as seconds. The header may also contain a date, but no S3 server sends one.
fn seconds(header: &str) -> Option<Duration> {
    header.trim().parse().ok().map(Duration::from_secs)
}

/// Uses the error code if it is more precise than the status. A missing bucket and expired credentials are
/// faults of the installation, not of the current part. The consumer therefore waits until the operator has
/// corrected the fault.
fn kind_of_response(status: u16, code: &str, retry_after: Option<Duration>) -> ErrorKind {
    match code {
        "SlowDown"
        | "SlowDownRead"
        | "SlowDownWrite"
        | "Throttling"
        | "ThrottlingException"
        | "RequestLimitExceeded"
        | "TooManyRequests" => return ErrorKind::Throttled { retry_after },
        "NoSuchBucket" | "ExpiredToken" | "TokenRefreshRequired" | "RequestTimeTooSkewed" => {
            return ErrorKind::Unavailable;
        }
        // The body arrived incomplete or changed.
        "BadDigest" | "IncompleteBody" | "XAmzContentChecksumMismatch" => return ErrorKind::ConnectionLost,
        "RequestTimeout" => return ErrorKind::Timeout,
        "EntityTooLarge" => return ErrorKind::TooLarge,
        _ => {}
    }
    match status {
        401 | 403 => ErrorKind::Forbidden,
        404 => ErrorKind::NotFound,
        408 => ErrorKind::Timeout,
        409 => ErrorKind::TransactionConflict,
        412 => ErrorKind::AlreadyExists,
        413 => ErrorKind::TooLarge,
        429 => ErrorKind::Throttled { retry_after },
        501 => ErrorKind::Invalid,
        500..=599 => ErrorKind::Unavailable,
        _ => ErrorKind::Invalid,
    }
}

/// Derives the kind of an error from its text, because the SDK hides the types of its transport. Tests with
/// real sockets check the texts that are used here.
fn kind_of_transport(text: &str) -> ErrorKind {
    let contains = |sign: &str| text.contains(sign);
    if contains("(Connect)") || contains("dns error") {
        ErrorKind::Unavailable
    } else if contains("checksum") {
        ErrorKind::Corrupt
    } else if contains("timeout") || contains("minimum throughput") {
        ErrorKind::Timeout
    } else {
        ErrorKind::ConnectionLost
    }
}

#[cfg(test)]
mod tests {
    use cairn_ports::ErrorClass;

    use super::*;

    #[test]
    fn responses_have_their_kinds() {
        let after = Some(Duration::from_secs(3));
        let check = |status: u16, code: &str, expect: ErrorKind| {
            assert_eq!(kind_of_response(status, code, after), expect, "{status} {code}");
        };
        check(503, "SlowDown", ErrorKind::Throttled { retry_after: after });
        check(429, "", ErrorKind::Throttled { retry_after: after });
        check(503, "ServiceUnavailable", ErrorKind::Unavailable);
        check(500, "InternalError", ErrorKind::Unavailable);
        check(507, "XMinioStorageFull", ErrorKind::Unavailable);
        check(404, "NoSuchKey", ErrorKind::NotFound);
        check(404, "", ErrorKind::NotFound);
        check(404, "NoSuchBucket", ErrorKind::Unavailable);
        check(403, "AccessDenied", ErrorKind::Forbidden);
        check(403, "RequestTimeTooSkewed", ErrorKind::Unavailable);
        check(400, "ExpiredToken", ErrorKind::Unavailable);
        check(400, "EntityTooLarge", ErrorKind::TooLarge);
        check(400, "BadDigest", ErrorKind::ConnectionLost);
        check(400, "InvalidArgument", ErrorKind::Invalid);
        check(409, "ConditionalRequestConflict", ErrorKind::TransactionConflict);
        check(412, "PreconditionFailed", ErrorKind::AlreadyExists);
        check(416, "InvalidRange", ErrorKind::Invalid);
        check(501, "NotImplemented", ErrorKind::Invalid);
    }

    #[test]
    fn installation_faults_pause_the_consumer() {
        for (status, code) in [(404, "NoSuchBucket"), (400, "ExpiredToken"), (503, ""), (500, "InternalError")] {
            let class = kind_of_response(status, code, None).class();
            assert_eq!(class, ErrorClass::Pause { retry_after: None }, "{status} {code}");
        }
    }
}
