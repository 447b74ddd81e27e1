//! The runner over the broker of one process.

mod leaving;
mod measures;
mod suspects;
mod worker;
