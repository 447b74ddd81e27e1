//! Tests of the runner and the coordinator with a broker in the same process.

mod begun;
mod coordinator;
mod giving_up;
mod handing_over;
mod leaving;
mod measures;
mod postponed;
mod suspects;
mod worker;
