//! Servers and proxies, used like in tests.

mod cluster;
mod command;
mod fault_proxy;
mod single;
mod waiting;
