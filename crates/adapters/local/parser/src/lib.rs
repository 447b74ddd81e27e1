//! Parsing in child processes that can be killed.
//!
//! A grammar is C code that runs on untrusted bytes, and some loops of its error recovery do not check the
//! deadline. So it runs in a child process with limited address space. The parent kills a child that takes
//! too long and replaces a child that died. Texts and facts go over pipes in the formats of `wire`. The
//! parent never parses.

mod cpu;
mod frame;
mod pool;
mod worker;

pub use pool::ChildParser;
pub use worker::serve;
