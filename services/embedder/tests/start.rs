//! Starts the program without settings.

use std::process::Command;

#[test]
fn missing_settings_are_named() {
    let mut program = Command::new(env!("CARGO_BIN_EXE_cairn-embedder"));
    program.env_remove("CAIRN_CLUSTER_CONFIG");
    let output = program.output().expect("the program starts");
    let reported = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && reported.contains("[s3]"), "{reported}");
}
