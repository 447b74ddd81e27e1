//! What providers are told and what they answer.

mod answer;
mod outcome;
mod request;
mod vector;
mod wait;

pub(crate) use outcome::{CallError, Outcome, outcome_of};
pub(crate) use request::{max_answer_bytes, request_body};
