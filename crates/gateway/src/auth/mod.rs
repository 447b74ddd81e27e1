//! Identifies callers by their API keys, and limits their requests.

mod authenticator;
mod key;
mod limits;

pub use authenticator::{Authenticator, Refused};
pub use key::{KeyRequest, NewKey, hash_of, id_of, issue};
pub use limits::{Admission, Limits, LimitsConfig};
