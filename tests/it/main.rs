//! Tests the program as a user runs it, with the real binary and real repositories made with `git`. Each test
//! has its own index directory.
//!
//! `CAIRN_SOAK=1` runs the long forms of the tests. Every random test prints its seed. `CAIRN_SEED` sets the
//! seed, to repeat a test.

mod answers;
mod budget;
mod contracts;
mod coverage;
mod embedding;
mod equality;
mod exact;
#[cfg(feature = "failpoints")]
mod faults;
mod files;
mod first_use;
mod harness;
mod hostile;
mod mcp;
mod messages;
mod navigation;
mod operate;
mod organisation;
mod quoted_names;
mod readers;
mod refusals;
mod relations;
mod remote;
mod remote_index;
mod runs;
mod secrets;
mod settings_names;
mod since;
mod source_questions;
mod stubborn;
mod symbols;
mod usage;
mod watch;
