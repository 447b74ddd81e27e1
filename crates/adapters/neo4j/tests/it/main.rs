//! Tests against a real server, whose address is `CAIRN_NEO4J_URL`.

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
