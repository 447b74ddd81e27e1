//! The Model Context Protocol: tools, prompts and resources over the official SDK.
//!
//! `tools` is the table that everything else follows: what clients see, what arguments are checked against. `call` takes
//! a call to its answer, `text` writes answers as compact text, and `crate::json` as structured content beside it. Faults
//! of a call are results that say what to do next; only what cannot be routed is an error of the protocol.

mod answer;
mod arguments;
mod ask;
mod call;
pub(crate) mod guide;
mod inventory;
mod prompts;
mod resources;
mod server;
#[cfg(test)]
mod tests;
mod text;
mod tools;

pub(crate) use server::Server;
pub use server::{ServeError, serve, serve_stdio};
