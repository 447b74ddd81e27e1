//! The Model Context Protocol: tools, prompts and resources over the official SDK.
//!
//! `tools` is the table that clients see and that arguments are checked against. `call` routes a call to its
//! tool. The tools ask the questions of `crate::questions`, write the answers as compact text (`text`,
//! `report`), and return the typed answer beside it (`structured`). Errors of a call are results that suggest
//! the next call; only a call that cannot be routed is an error of the protocol.

mod arguments;
mod ask;
mod call;
mod indexing;
mod inventory;
mod labels;
mod prompts;
mod reply;
mod report;
mod resources;
mod server;
mod structured;
mod suggestion;
#[cfg(test)]
mod tests;
mod text;
mod tools;
mod untrusted;

pub(crate) use server::Server;
pub use server::{ServeError, serve, serve_stdio};
