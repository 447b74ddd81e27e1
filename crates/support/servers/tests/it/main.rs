//! Servers and the proxy as tests use them.

mod cluster;
mod command;
mod fault_proxy;
mod single;
mod waiting;
