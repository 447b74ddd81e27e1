//! The adapter against a local server: replies in the form of the services' documentation, pages, errors,
//! limits, and false data.

mod conformance;
mod faults;
mod limits;
mod server;
mod shapes;
mod support;
