//! Tests against a real server. `CAIRN_NEO4J_URL` is the address of the server.

mod bolt_proxy;
mod clock;
mod conformance;
mod connection;
mod fixture;
mod keys;
mod model;
mod runs;
mod server;
mod staging;
mod storm;
