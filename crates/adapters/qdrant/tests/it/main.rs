//! Tests the adapter against a real server. `CAIRN_QDRANT_URL` is the address of the server.

mod cache;
mod conformance;
mod equality;
mod marks;
mod pages;
mod prepare;
mod requests;
mod space;
mod transport;
