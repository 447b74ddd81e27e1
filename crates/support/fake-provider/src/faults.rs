//! Scripted faults.

use serde::{Deserialize, Serialize};

/// The result of one call. A script is a list of faults; each call uses one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// No fault.
    None,
    /// 429 with exactly this `Retry-After`, seconds or a date; without the header if `None`.
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
    /// One element is not a number.
    NotANumber,
    /// The last vector is missing.
    WrongCount,
    /// The vectors are in reverse order, with correct indexes if the shape has indexes.
    SwappedOrder,
    /// Two vectors have one index.
    RepeatedIndex,
    ZeroVector,
    /// The reply ends in the middle.
    TruncatedJson,
    /// A page of HTML with status 200.
    WrongContentType,
    /// Always rejected as too large.
    TooLarge,
    /// The connection ends without a reply.
    HangUp,
    /// This call and all calls within this time end without a reply.
    Outage {
        ms: u64,
    },
}
