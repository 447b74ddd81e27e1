//! Against a real server, whose address `CAIRN_NEO4J_URL` says.

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
