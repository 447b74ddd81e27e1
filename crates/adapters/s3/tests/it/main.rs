//! Tests artifacts in a real S3 server, also behind a faulty network. Fake servers send responses that MinIO
//! cannot produce.

mod bucket;
mod conformance;
mod fake_server;
mod network;
mod renewal;
mod self_test;
mod statuses;
mod writers;
