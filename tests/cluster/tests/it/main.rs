//! Tests the services with real servers, in the way that an operator runs them.

mod end_to_end;
mod equality;
mod fixtures;
mod isolation;
mod operations;
mod questions;
mod registering;
mod scale;
mod vectors;
