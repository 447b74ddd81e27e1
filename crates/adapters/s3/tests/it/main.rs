//! Artifacts in a real S3 server, behind a faulty network, and in fake servers with responses that MinIO
//! cannot produce.

mod bucket;
mod conformance;
mod fake_server;
mod network;
mod renewal;
mod self_test;
mod statuses;
mod writers;
