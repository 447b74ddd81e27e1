//! The suite of the test server. It uses only Qdrant's protocol, so it runs against a real Qdrant too.

mod collections;
mod filters;
mod index;
mod own;
mod payloads;
mod points;
mod queries;
mod server;
