//! Checks that the program starts and that its help lists the measurements.

use std::process::Command;

#[test]
fn help_lists_the_benches() {
    let output = Command::new(env!("CARGO_BIN_EXE_cairn-cluster-bench")).arg("--help").output().expect("it starts");
    let reported = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{reported}");
    for bench in ["equal", "throughput", "fairness"] {
        assert!(reported.contains(bench), "{reported}");
    }
}
