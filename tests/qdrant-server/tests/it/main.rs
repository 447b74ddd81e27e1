//! The test suite of the server. The suite uses only Qdrant's protocol, so it can also run against a real
//! Qdrant.

mod collections;
mod filters;
mod index;
mod own;
mod payloads;
mod points;
mod queries;
mod server;
