//! The adapter from outside: shapes as the services' documentation gives them, served by a local server; all pages, errors, limits,
//! and services that lie.

mod conformance;
mod faults;
mod limits;
mod server;
mod shapes;
mod support;
