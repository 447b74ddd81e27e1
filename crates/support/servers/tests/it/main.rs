//! Tests the servers and proxies in the way that other tests use them.

mod cluster;
mod command;
mod fault_proxy;
mod single;
mod waiting;
