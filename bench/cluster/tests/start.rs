//! The program starts, and prints its measurements.

use std::process::Command;

#[test]
fn it_says_what_it_measures() {
    let output = Command::new(env!("CARGO_BIN_EXE_cairn-cluster-bench")).arg("--help").output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    for bench in ["equal", "throughput", "fairness"] {
        assert!(said.contains(bench), "{said}");
    }
}
