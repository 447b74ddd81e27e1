//! Tests the adapter against a local server. The tests cover pages, errors, limits, false data, and replies
//! in the form that the documentation of each service describes.

mod conformance;
mod faults;
mod limits;
mod server;
mod shapes;
mod support;
