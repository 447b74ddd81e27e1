//! Checks that several hundred seeds show no violation, and that every planted bug is revealed.

use cairn_sim::{Mutant, first_violation, run};

#[test]
fn no_seed_shows_a_violation() {
    if let Some((seed, violation)) = first_violation(0..200, None) {
        panic!("seed {seed}: {violation}\nreplay: cargo run -p cairn-sim -- --seed {seed} --trace");
    }
}

#[test]
fn equal_seeds_give_equal_runs() {
    let (one, other) = (run(7, None, true), run(7, None, true));
    assert!(one.num_published > 0 && !one.trace.is_empty(), "{}", one.num_published);
    assert_eq!(one, other);
}

#[test]
fn every_planted_bug_is_caught() {
    let missed: Vec<_> =
        Mutant::ALL.iter().filter(|mutant| first_violation(0..1000, Some(**mutant)).is_none()).collect();
    assert!(missed.is_empty(), "no seed catches {missed:?}");
}
