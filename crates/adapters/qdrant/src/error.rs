//! Converts errors of Qdrant and of the transport to error kinds of the ports.

use std::error::Error;
use std::io;
use std::time::Duration;

use cairn_ports::{Cause, ErrorKind, MaintenanceError, VectorCacheError, VectorStoreError, plain_cause};
use tonic::{Code, Status};

/// Metadata key that marks a refusal because of too little disk space or memory. Such a refusal has the same
/// status code as a rate limit, but waiting does not help.
const NO_SPACE: &str = "qdrant-insufficient-storage";

/// Parts of the messages that Qdrant sends when a shard has no leader or too few available nodes. These
/// messages have the status code of internal errors.
const NO_REPLICA: [&str; 4] = ["active replica", "`Active` replica", "no leader", "leader is not established"];

/// The failure of a request.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) kind: ErrorKind,
    pub(crate) cause: Cause,
}

impl Fault {
    pub(crate) fn new(kind: ErrorKind, cause: impl Into<Cause>) -> Self {
        Self { kind, cause: cause.into() }
    }

    pub(crate) fn invalid(cause: impl Into<Cause>) -> Self {
        Self::new(ErrorKind::Invalid, cause)
    }

    /// A stored point differs from the point that was written.
    pub(crate) fn damaged(point: &str, what: &str) -> Self {
        let advice = "run `cairn index --rebuild` for its repository to write it again";
        Self::new(ErrorKind::Corrupt, format!("point {point} is damaged: {what}; {advice}"))
    }

    pub(crate) fn of_store(self, operation: &'static str, key: &str) -> VectorStoreError {
        VectorStoreError::new(self.kind, operation, key).because(self.cause)
    }

    pub(crate) fn of_maintenance(self, operation: &'static str, key: &str) -> MaintenanceError {
        MaintenanceError::new(self.kind, operation, key).because(self.cause)
    }

    pub(crate) fn of_cache(self, operation: &'static str, key: &str) -> VectorCacheError {
        VectorCacheError::new(self.kind, operation, key).because(self.cause)
    }
}

impl From<Status> for Fault {
    fn from(status: Status) -> Self {
        let kind = kind(&status);
        match status.code() {
            Code::NotFound => {
                let advice = "if a collection is missing, run `cairn topology apply` to create it; cached vectors are then restored automatically";
                Self::new(kind, format!("{}; {advice}", status.message()))
            }
            _ => Self::new(kind, reason(&status)),
        }
    }
}

/// The reason for the failure, which is shown to users: the last cause of a transport failure, or the message
/// of the server.
fn reason(status: &Status) -> String {
    match (status.source(), status.message()) {
        (Some(cause), _) => plain_cause(cause),
        (None, "") => status.code().description().to_owned(),
        (None, message) => message.to_owned(),
    }
}

/// Returns the error kind of a status. A status that was created in this process has a source. A status that
/// the server sent has no source.
fn kind(status: &Status) -> ErrorKind {
    if let Some(cause) = status.source() {
        return kind_of_transport(status.code(), cause);
    }
    match status.code() {
        // The only names in requests are those of collections, so a missing object is a fault of the
        // installation, not of the current part. A failed precondition always concerns the state of the
        // server: it is locked, or a shard is moving to another node.
        Code::Unavailable | Code::NotFound | Code::FailedPrecondition => ErrorKind::Unavailable,
        Code::ResourceExhausted if status.metadata().contains_key(NO_SPACE) => ErrorKind::Io,
        Code::ResourceExhausted => ErrorKind::Throttled { retry_after: retry_after(status) },
        Code::DeadlineExceeded | Code::Cancelled => ErrorKind::Timeout,
        Code::InvalidArgument | Code::OutOfRange | Code::Unimplemented => ErrorKind::Invalid,
        Code::AlreadyExists => ErrorKind::AlreadyExists,
        Code::PermissionDenied | Code::Unauthenticated => ErrorKind::Forbidden,
        Code::Aborted => ErrorKind::TransactionConflict,
        Code::DataLoss => ErrorKind::Corrupt,
        // A node has failed, and the shard has no new leader yet.
        Code::Internal if NO_REPLICA.iter().any(|text| status.message().contains(text)) => ErrorKind::Unavailable,
        // Qdrant uses this code when its disk or memory fails. Another attempt may help, but the kind is not
        // `Unavailable`, because the consumer would then pause without a limit.
        Code::Internal => ErrorKind::Io,
        Code::Unknown | Code::Ok => ErrorKind::ConnectionLost,
    }
}

/// Returns the error kind of a transport failure. A server that cannot be reached is unavailable; a
/// connection that breaks during a request is lost.
fn kind_of_transport(code: Code, cause: &(dyn Error + 'static)) -> ErrorKind {
    if matches!(code, Code::DeadlineExceeded | Code::Cancelled) {
        return ErrorKind::Timeout;
    }
    let mut link = Some(cause);
    while let Some(error) = link {
        let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
        match kind {
            Some(
                io::ErrorKind::ConnectionRefused | io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable,
            ) => {
                return ErrorKind::Unavailable;
            }
            _ => link = error.source(),
        }
    }
    ErrorKind::ConnectionLost
}

/// Reads how long to wait. Qdrant's rate limiter sends this time in seconds.
fn retry_after(status: &Status) -> Option<Duration> {
    let seconds = status.metadata().get("retry-after")?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use cairn_ports::plain;

    use super::*;

    fn check(status: Status, expect: ErrorKind) {
        assert_eq!(Fault::from(status).kind, expect);
    }

    #[test]
    fn codes_have_their_kinds() {
        check(Status::unavailable("x"), ErrorKind::Unavailable);
        check(Status::resource_exhausted("x"), ErrorKind::Throttled { retry_after: None });
        check(Status::deadline_exceeded("x"), ErrorKind::Timeout);
        check(Status::cancelled("x"), ErrorKind::Timeout);
        check(Status::invalid_argument("x"), ErrorKind::Invalid);
        check(Status::not_found("x"), ErrorKind::Unavailable);
        check(Status::failed_precondition("No target shard 1 found for update"), ErrorKind::Unavailable);
        check(Status::already_exists("x"), ErrorKind::AlreadyExists);
        check(Status::unauthenticated("x"), ErrorKind::Forbidden);
        check(Status::internal("x"), ErrorKind::Io);
        check(
            Status::internal("Service internal error: The replica set has no active replica"),
            ErrorKind::Unavailable,
        );
        check(Status::unknown("x"), ErrorKind::ConnectionLost);
    }

    #[test]
    fn failures_are_shown_as_one_sentence() {
        let shown = |status: Status| plain(&Fault::from(status).of_store("search", "chunks"));
        let mut status = Status::unavailable("dns error");
        status.set_source(std::sync::Arc::new(io::Error::other(io::Error::other("no such host"))));
        let expect = "vector store: search of `chunks` failed: connection_lost: no such host";
        assert_eq!(shown(status), expect);
        let expect = "vector store: search of `chunks` failed: invalid: wrong dimension";
        assert_eq!(shown(Status::invalid_argument("wrong dimension")), expect);
    }

    #[test]
    fn throttling_returns_the_waiting_time() {
        let mut status = Status::resource_exhausted("slow down");
        status.metadata_mut().insert("retry-after", "7".parse().expect("a value"));
        check(status, ErrorKind::Throttled { retry_after: Some(Duration::from_secs(7)) });
    }

    #[test]
    fn full_disk_is_not_throttling() {
        let mut status = Status::resource_exhausted("the quota of this node is used up");
        status.metadata_mut().insert(NO_SPACE, "1".parse().expect("a value"));
        check(status, ErrorKind::Io);
    }

    #[test]
    fn broken_connections_differ_from_unreachable_servers() {
        let from = |code, kind: io::ErrorKind| {
            let mut status = Status::new(code, "transport error");
            status.set_source(std::sync::Arc::new(io::Error::from(kind)));
            status
        };
        check(from(Code::Unavailable, io::ErrorKind::ConnectionRefused), ErrorKind::Unavailable);
        check(from(Code::Unavailable, io::ErrorKind::ConnectionReset), ErrorKind::ConnectionLost);
        check(from(Code::Internal, io::ErrorKind::BrokenPipe), ErrorKind::ConnectionLost);
        check(from(Code::Cancelled, io::ErrorKind::TimedOut), ErrorKind::Timeout);
    }
}
