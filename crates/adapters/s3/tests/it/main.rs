//! Tests artifacts in a real S3 server, with a good network and with a faulty network. Fake servers send
//! responses that MinIO cannot produce.

mod bucket;
mod conformance;
mod fake_server;
mod network;
mod renewal;
mod self_test;
mod statuses;
mod writers;
