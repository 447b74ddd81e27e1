//! Questions. The command line, `cairn --server`, HTTP and MCP use the same types.
//!
//! A question is plain data that can be sent. `answer` returns the typed answer that every front end
//! serialises or prints. So the answers of a server, of local mode and of the MCP tools cannot differ.

mod answer;
mod filter;
mod inventory;
mod page;
mod routes;
mod types;

pub use answer::answer;
pub(crate) use answer::{graph, grep, index_watched, read, search};
pub(crate) use inventory::{cancel, coverage, modules, repositories, runs};
pub use routes::{Answer, Question, RouteSchemas};
pub use types::*;
