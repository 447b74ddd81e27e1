//! Artifacts in a real S3 server, behind a network that breaks, and in servers that answer what MinIO cannot be made to.

mod bucket;
mod conformance;
mod network;
mod renewal;
mod self_test;
mod stand_in;
mod statuses;
mod writers;
