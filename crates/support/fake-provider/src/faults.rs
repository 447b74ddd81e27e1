//! What can go wrong, by script.

use serde::{Deserialize, Serialize};

/// What becomes of one call. A script is a list of these, used up call by call.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// Nothing goes wrong.
    None,
    /// 429 with this `Retry-After`, as it stands: seconds or a date; none without.
    Throttle {
        retry_after: Option<String>,
    },
    Status(u16),
    /// The answer is right and comes late.
    Slow {
        ms: u64,
    },
    /// Every vector has one element too many.
    WrongDimension,
    /// One element is no number.
    NotANumber,
    /// The last vector is missing.
    WrongCount,
    /// The vectors come backwards, with the right indexes where the shape has them.
    SwappedOrder,
    /// Two vectors have one index.
    RepeatedIndex,
    ZeroVector,
    /// The answer ends in the middle.
    TruncatedJson,
    /// A page of HTML with status 200.
    WrongContentType,
    /// Called too large, whatever its size.
    TooLarge,
    /// The connection ends without an answer.
    HangUp,
    /// This call and all for so long end without an answer.
    Outage {
        ms: u64,
    },
}
