//! A whole cluster on this machine: real servers, and the services as processes of their own.
//!
//! `cairn-cluster up` leaves one running for people; tests start theirs in a space of its own on the servers that they are
//! given, and kill, freeze and restart its services as they like.

mod cluster;
mod inside;
mod local;
mod programs;
mod settings;

pub use cluster::{LocalCluster, STANDARD};
pub use inside::Inside;
pub use local::LocalMode;
pub use programs::program;
pub use settings::{Servers, Space};
