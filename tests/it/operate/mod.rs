//! The operator's commands, against real servers: each test has its own vhost, bucket, namespace and
//! collections.

mod cluster;
mod dead_letters;
mod keys;
mod queue;
mod servers;
