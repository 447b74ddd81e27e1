//! A whole cluster on this machine: real servers, with the services as separate processes.
//!
//! `cairn-cluster up` starts a cluster for users. A test starts its own cluster in a separate space on the
//! given servers, and can kill, freeze and restart the services.

mod checker;
mod cluster;
mod environment;
mod inside;
mod local;
mod objects;
mod probe;
mod programs;
mod raw;
mod resources;
mod settings;
mod workload;

pub use checker::{Checker, Traces, Verdict};
pub use cluster::{LocalCluster, STANDARD, Wanted};
pub use environment::Environment;
pub use inside::Inside;
pub use local::LocalMode;
pub use probe::Probe;
pub use programs::program;
pub use raw::{Consumer, Queue, QueueName, Raw};
pub use settings::{Servers, Space, is_long};
pub use workload::Workload;
