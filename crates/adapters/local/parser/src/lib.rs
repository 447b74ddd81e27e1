//! Parses files in child processes that can be killed.
//!
//! A grammar is C code that processes untrusted bytes, and some loops of its error recovery do not check the
//! deadline. So the grammar runs in a child process with a limited address space. The parent kills a child
//! that takes too long, and replaces a child that died. Texts and facts are sent through pipes in the formats
//! of `wire`. The parent never parses.

mod cpu;
mod frame;
mod pool;
mod worker;

pub use pool::ChildParser;
pub use worker::serve;
