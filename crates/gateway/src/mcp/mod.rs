//! The Model Context Protocol: tools, prompts and resources, served with the official SDK.
//!
//! `tools` is the table that clients receive and that arguments are checked against. `call` routes a call to
//! its tool. The tools use the questions of `crate::questions` and write the answers as compact text (`text`,
//! `report`). The tools also return the typed answer (`structured`). If a call fails, its result contains the
//! error and suggests the next call. Only a call that cannot be routed is a protocol error.

mod arguments;
mod ask;
mod call;
mod forms;
mod grep;
mod indexing;
mod inventory;
mod labels;
mod progress;
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

pub(crate) use arguments::nearest_word;
pub(crate) use call::{SuggestedQuestion, questions_in, suggested_questions};
pub(crate) use forms::field_of;
pub use forms::question_of_call;
pub(crate) use server::Server;
pub use server::{ServeError, serve, serve_stdio};
