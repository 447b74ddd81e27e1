//! Plants bugs in a copy of the production sources, and checks that a test catches each bug.
//!
//! Each file in `bugs/` describes one bug: the texts to replace in the sources, the test that must fail, and
//! a text that the failure must contain. A bug does not count as caught if the mutant does not compile, or if
//! the test fails for another reason. `make mutants` works in a copy of the tree and never edits the
//! checkout. The tests of this crate check, in `make test`, that every bug still applies to the sources.
//!
//! `tests/sim` also plants bugs, in wrappers around the production code, and searches for a seed that reveals
//! them; `tests/sim/src/mutants.rs` lists them. Bugs with the same name in both crates are the same bug; in
//! this crate, the bug is in the production code. The suites of `crates/support/conformance` plant faults
//! around each adapter.

mod bug;
mod judge;
mod tree;

pub use bug::{Bug, Edit, Test};
pub use judge::{Judge, Verdict};
pub use tree::Tree;
