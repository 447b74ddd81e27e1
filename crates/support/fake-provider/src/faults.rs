//! The faults that a script can contain.

use serde::{Deserialize, Serialize};

/// How the provider treats one call. A script is a list of faults, and each call uses the next fault.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// The call is treated normally.
    None,
    /// Status 429 with exactly this `Retry-After`, which may be seconds or a date. `None` means that the
    /// reply does not contain this header.
    Throttle {
        retry_after: Option<String>,
    },
    Status(u16),
    /// The reply is correct but late.
    Slow {
        ms: u64,
    },
    /// Every vector has one element too many.
    WrongDimension,
    /// One element of a vector is NaN.
    NotANumber,
    /// The last vector is missing.
    WrongCount,
    /// The vectors are in reverse order. If the API returns an index with each vector, the indexes are
    /// correct.
    SwappedOrder,
    /// Two vectors have the same index.
    RepeatedIndex,
    ZeroVector,
    /// The reply ends in the middle of the body.
    TruncatedJson,
    /// The reply is an HTML page with status 200.
    WrongContentType,
    /// The call is rejected as too large, regardless of its size.
    TooLarge,
    /// The connection ends without a reply.
    HangUp,
    /// This call, and all later calls within this time, end without a reply.
    Outage {
        ms: u64,
    },
}
