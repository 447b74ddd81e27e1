//! Bugs that are planted in the production sources, each of which a test must catch.
//!
//! A bug is a file in `bugs/`: texts that are found in a source and replaced, the test that must turn red, and what its
//! failure must say, so that neither a mutant that does not compile nor a test that is red for another reason counts as
//! caught. `make mutants` works in a copy of the tree and never edits the checkout. The tests of this crate hold every
//! bug to the sources of today, in `make test`.
//!
//! `tests/sim` plants bugs of its own, in wrappers around the production code, and looks for a seed that shows them; its
//! list is `tests/sim/src/mutants.rs`, and each is named there where it is planted. Those of the same name here are the
//! same bugs in the code itself. Adapters are held by the suites of `crates/support/conformance`, which plant faults
//! around each adapter.

mod bug;
mod judge;
mod tree;

pub use bug::{Bug, Edit, Test};
pub use judge::{Answer, Judge};
pub use tree::Tree;
