//! The commands of whoever runs a cluster, against real servers: each test has a vhost, a bucket, a namespace and
//! collections of its own.

mod cluster;
mod dead_letters;
mod keys;
mod queue;
mod servers;
