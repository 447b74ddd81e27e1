//! Parsing in child processes that can be killed.
//!
//! A grammar is C code that runs on bytes of strangers, and its own deadline is not reached in every loop of its error
//! recovery. So it runs in a child: bounded in address space, killed when a file takes too long, replaced when it
//! dies. Texts and facts go over pipes in the formats of `wire`; the parent never parses.

mod cpu;
mod frame;
mod pool;
mod worker;

pub use pool::ChildParser;
pub use worker::serve;
