//! Builds requests to providers and parses their replies.

mod call_result;
mod reply;
mod request;
mod vector;
mod wait;

pub(crate) use call_result::{CallError, CallResult, call_result};
pub(crate) use request::{max_reply_bytes, request_body};
