//! Bugs that are planted in the production sources. A test must catch each of them.
//!
//! A bug is a file in `bugs/`: texts that are found in a source and replaced, the test that must fail, and a
//! text that its failure must contain. So neither a mutant that does not compile nor a test that fails for
//! another reason counts as caught. `make mutants` works in a copy of the tree and never edits the checkout.
//! The tests of this crate check, in `make test`, that every bug still applies to the sources.
//!
//! `tests/sim` plants bugs of its own, in wrappers around the production code, and searches for a seed that
//! shows them; `tests/sim/src/mutants.rs` lists them. Bugs with the same name here are the same bugs in the
//! production code. The suites of `crates/support/conformance` plant faults around each adapter.

mod bug;
mod judge;
mod tree;

pub use bug::{Bug, Edit, Test};
pub use judge::{Judge, Verdict};
pub use tree::Tree;
