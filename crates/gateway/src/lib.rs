//! Transports: the only code that knows MCP, and the JSON form of answers that every transport shares.

mod agent;
pub mod json;
pub mod mcp;
pub mod time;

pub use agent::{Agent, IndexCall, IndexStatus};
