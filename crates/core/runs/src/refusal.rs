//! Why a change is refused.

use std::fmt;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// What the change is about is not there.
    NotFound,
    /// Somebody else was first, or the state has moved on.
    Conflict(&'static str),
    /// No state would allow it.
    Invalid(&'static str),
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NotFound => formatter.write_str("there is no such record"),
            Refusal::Conflict(reason) | Refusal::Invalid(reason) => formatter.write_str(reason),
        }
    }
}

impl std::error::Error for Refusal {}
