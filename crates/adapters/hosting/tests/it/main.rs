//! Tests the adapter against a local server. The tests cover replies in the form that the documentation of
//! each service describes, pages, errors, limits, and false data.

mod conformance;
mod faults;
mod limits;
mod server;
mod shapes;
mod support;
