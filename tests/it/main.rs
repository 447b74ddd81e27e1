//! The program as a user runs it: real repositories made with `git`, the real binary, an index directory
//! each.
//!
//! `CAIRN_SOAK=1` runs the long forms. Every random test prints its seed; `CAIRN_SEED` repeats one.

mod answers;
mod budget;
mod coverage;
mod equality;
#[cfg(feature = "failpoints")]
mod faults;
mod harness;
mod hostile;
mod messages;
mod operate;
mod organisation;
mod readers;
mod remote;
mod remote_index;
mod runs;
mod secrets;
mod since;
mod usage;
mod watch;
