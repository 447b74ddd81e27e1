//! Transports: the only code that knows MCP, and the JSON form of answers that every transport shares.

mod agent;
pub mod auth;
pub mod http;
mod indexing;
pub mod json;
pub mod mcp;
pub mod questions;
mod registration;
mod syncs;
pub mod time;

pub use agent::{Agent, Caps, IndexCall, IndexStatus};
pub use indexing::{AskedFor, Indexing, LedgerIndexing, Locate};
pub use syncs::news as sync_news;
