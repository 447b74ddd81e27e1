//! The transports HTTP and MCP, and the questions and answers that they share. No other code serves HTTP or
//! MCP requests.

mod advice;
mod agent;
pub mod answers;
pub mod auth;
#[cfg(test)]
mod broken_starts;
mod guide;
pub mod http;
mod index_call;
mod indexing;
pub mod mcp;
pub mod questions;
mod registration;
#[cfg(test)]
mod schema_check;
mod tags;
pub mod time;

pub use advice::{after_empty, after_error, question_of_request, report_of, report_of_command, suggested_call};
pub use agent::{Agent, Caps, Notice};
pub use index_call::{IndexCall, IndexStatus, IndexTicket, WatchIndexing};
pub use indexing::{Indexing, LedgerIndexing, Locate};
pub use registration::{check_settings, file_size, settings_after_call};
