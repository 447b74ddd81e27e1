//! The transports HTTP and MCP, and the questions and answers that they share. No other code serves HTTP or
//! MCP requests.

mod agent;
pub mod answers;
pub mod auth;
mod guide;
pub mod http;
mod index_call;
mod indexing;
pub mod mcp;
pub mod questions;
mod registration;
#[cfg(test)]
mod schema_check;
pub mod time;

pub use agent::{Agent, Caps};
pub use index_call::{IndexCall, IndexStatus, IndexTicket};
pub use indexing::{Indexing, LedgerIndexing, Locate};
