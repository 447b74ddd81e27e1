//! Runs the tools of registries.

use std::path::Path;
use std::process::Command;

use anyhow::Context;

/// Runs a program in a folder and returns its output. An error contains the messages of the program.
pub(super) fn run(folder: &Path, program: &str, arguments: &[&str]) -> anyhow::Result<String> {
    let output = Command::new(program).args(arguments).current_dir(folder).output();
    let output = output.with_context(|| format!("cannot start `{program}`; is it installed?"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    let (printed, message) = (text(&output.stdout), text(&output.stderr));
    anyhow::ensure!(output.status.success(), "`{program} {}` failed: {message} {printed}", arguments.join(" "));
    Ok(printed)
}
