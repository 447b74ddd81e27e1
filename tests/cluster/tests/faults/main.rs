//! Tests that a cluster survives faults. Each case injects a fault under load, removes the fault, and checks
//! all invariants.
//!
//! By default, a small set of cases runs in a short form. `CAIRN_FAULTS=all` (`make faults`) runs all cases
//! in their long form.

mod bench;
mod broker;
mod broker_state;
mod flood;
mod generations;
mod hangs;
mod interrupted;
mod kills;
mod leaders;
mod poison;
mod provider;
mod quota;
mod servers;
mod stores;
mod storm;
mod zombies;
