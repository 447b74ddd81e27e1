//! Tests of the name index: with a blob store in memory, with stored layers of every version, and of the
//! port's contract.

mod conformance;
mod golden;
mod index;
mod memory;
