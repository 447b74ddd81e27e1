//! Tests of the operator's commands with real servers. Each test has its own vhost, bucket, namespace and
//! collections.

mod cluster;
mod dead_letters;
mod keys;
mod queue;
mod servers;
