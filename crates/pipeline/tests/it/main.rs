//! The runner over the broker of one process.

mod begun;
mod coordinator;
mod giving_up;
mod handing_over;
mod leaving;
mod measures;
mod postponed;
mod suspects;
mod worker;
