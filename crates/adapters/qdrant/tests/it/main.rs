//! The adapter against a real server, at `CAIRN_QDRANT_URL`.

mod cache;
mod conformance;
mod equality;
mod marks;
mod pages;
mod prepare;
mod space;
mod transport;
