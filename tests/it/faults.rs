//! Killed at any write, failing at any write: after the next run the index equals a build from scratch.

use std::os::unix::process::ExitStatusExt;

use rand::prelude::*;
use rand::rngs::StdRng;

use crate::harness::{Index, fresh_fingerprint, is_soak, seed};
use crate::mutation::Mutation;

/// Every point at which something is written, with the stage that passes it first.
const POINTS: &[&str] = &[
    "blobs::write",
    "blobs::sync",
    "blobs::link",
    "blobs::linked",
    "segments::create",
    "segments::write",
    "segments::sync",
    "segments::rename",
    "segments::sync_directory",
    "store::commit::begin",
    "store::committed::begin",
    "store::commit::end_part",
    "store::committed::end_part",
    "store::commit::stage_graph",
    "store::committed::stage_graph",
    "store::commit::put_vectors",
    "store::committed::put_vectors",
    "store::commit::publish",
    "store::committed::publish",
    "store::commit::register",
    "store::commit::lease",
];

const SIGKILL: i32 = 9;

/// Runs `cairn index` with a fault armed; tells whether the process was killed by it.
fn index_with(index: &Index, mutation: &Mutation, variable: &str, point: &str, count: u64) -> bool {
    let root = mutation.root().to_string_lossy();
    let mut command = index.command(&["index", &root, "--name", "r", "--json"]);
    let output = command.env(variable, format!("{point}:{count}")).output().expect("the program starts");
    output.status.signal() == Some(SIGKILL)
}

#[test]
fn a_run_killed_at_any_write_is_finished_by_the_next() {
    let seed = seed();
    let mut rng = StdRng::seed_from_u64(seed);
    let mut mutation = Mutation::new(seed, if is_soak() { 200 } else { 30 });
    let index = Index::new();
    let rounds = if is_soak() { 11 } else { 1 };
    let mut num_killed = 0;
    for _ in 0..rounds {
        for point in POINTS {
            mutation.step();
            let count = rng.random_range(0..4);
            let killed = index_with(&index, &mutation, "CAIRN_KILL_AT", point, count)
                || index_with(&index, &mutation, "CAIRN_KILL_AT", point, 0);
            num_killed += usize::from(killed);
            if killed && rng.random_bool(0.5) {
                mutation.step();
            }
            index.index(mutation.root());
            // A run that was left behind may have been finished for the older state; then this one is for the newer.
            index.index(mutation.root());
            if num_killed % 5 == 0 {
                let (ours, fresh) = (index.fingerprint(), fresh_fingerprint(mutation.root()));
                assert_eq!(ours, fresh, "killed at {point}:{count}; {:#?}", mutation.log);
            }
        }
    }
    println!("killed {num_killed} times");
    assert!(num_killed * 2 > POINTS.len() * rounds, "only {num_killed} kills");
    assert_eq!(index.fingerprint(), fresh_fingerprint(mutation.root()), "{:#?}", mutation.log);
}

#[test]
fn a_failing_write_loses_nothing() {
    let seed = seed();
    let mut mutation = Mutation::new(seed, if is_soak() { 200 } else { 30 });
    let index = Index::new();
    for point in POINTS {
        mutation.step();
        index_with(&index, &mutation, "CAIRN_FAIL_AT", point, 0);
        index.index(mutation.root());
    }
    assert_eq!(index.fingerprint(), fresh_fingerprint(mutation.root()), "{:#?}", mutation.log);
}
