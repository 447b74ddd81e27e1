//! The tools as data: names, descriptions, parameters and output schemas. Clients see this table, arguments
//! are checked against it, and suggested calls are built from it. The table is constant and never contains
//! indexed text.

mod schema;
mod spec;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use spec::{Kind, Parameter, ToolSpec};
pub(crate) use table::{MOST_TOKENS, RELATIONS, TOOLS};
