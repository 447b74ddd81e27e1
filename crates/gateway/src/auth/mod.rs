//! Callers: API keys and their limits.

mod authenticator;
mod key;
mod limits;

pub use authenticator::{Authenticator, Refused};
pub use key::{KeyRequest, NewKey, hash_of, id_of, issue};
pub use limits::{Admission, Limits, LimitsConfig};
