//! Questions and their answers as JSON: one form for the command line, `cairn --server` and HTTP.
//!
//! A question is plain data that can be sent; `answer` takes it to the JSON that every front end shows or prints. So what a
//! server answers and what the same verb answers locally cannot drift apart.

mod answer;
mod inventory;
mod page;
mod types;

pub use answer::answer;
pub use types::*;
