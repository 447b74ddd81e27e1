//! The questions that the command line, `cairn --server`, HTTP and MCP share.
//!
//! A question is plain data that can be sent to a server. `answer` returns a typed answer, which every front
//! end serialises or prints. Therefore a server, local mode and the MCP tools return the same answers.

mod answer;
mod filter;
mod inventory;
mod page;
mod question_schema;
mod routes;
mod types;

pub use answer::{answer, answer_here};
pub(crate) use answer::{graph, grep, index_watched, read, read_here, search};
pub(crate) use inventory::{cancel, coverage, modules, repositories, runs};
#[cfg(test)]
pub(crate) use question_schema::ALIASES;
pub use routes::{Answer, Question, RouteSchemas};
pub use types::*;
