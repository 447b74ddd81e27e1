//! Faults that a cluster survives: each case injects a fault under load, removes it, and checks all
//! invariants.
//!
//! A short set runs by default; `CAIRN_FAULTS=all` (`make faults`) runs every case, and the long forms of the
//! short ones.

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
