//! Tests of the name index: over a blob store in memory, on stored layers of every version, and the contract
//! of the port.

mod conformance;
mod golden;
mod index;
mod memory;
