//! The services as an operator runs them, over real servers.

mod end_to_end;
mod equality;
mod fixtures;
mod isolation;
mod operations;
mod questions;
mod registering;
mod scale;
mod vectors;
